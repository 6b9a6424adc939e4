use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x: Tensor<(N, C)> = Tensor::from_array([1.0, 2.0]);
}

// fix: let x: Tensor<(N, C)> = Tensor::from_array([[1.0, 2.0]]);
