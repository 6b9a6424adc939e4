use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros((N, C));
}

// fix: let x = Tensor::zeros((N.of(2), C.of(3)));
