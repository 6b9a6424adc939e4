use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.select(C, 0..2);
}

// fix: let y = x.narrow(C, 0..2);
