use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x: Tensor<(N, C)> = Tensor::zeros((C.of(2), N.of(3)));
}

// fix: let x: Tensor<(N, C)> = Tensor::zeros((N.of(3), C.of(2)));
