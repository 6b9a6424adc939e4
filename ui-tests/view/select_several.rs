use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.select((N, C), 0);
}

// fix: let y = x.select(N, 0).select(C, 0);
