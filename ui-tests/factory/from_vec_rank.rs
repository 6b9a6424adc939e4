use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x: Tensor<(N, C)> = Tensor::from_vec(vec![1.0, 2.0], [2]).unwrap();
}

// fix: let x: Tensor<(N, C)> = Tensor::from_vec(vec![1.0, 2.0], [2, 1]).unwrap();
