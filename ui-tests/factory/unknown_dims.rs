use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::zeros([2, 3]);
}

// fix: let x = Tensor::<(N, C)>::zeros([2, 3]);
