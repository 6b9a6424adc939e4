use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.repeat([2, 2, 2]);
}

// fix: let y = x.repeat([2, 2]);
