use nomina::prelude::*;

dims! { N }

fn main() {
    let x: Tensor<(N,)> = Tensor::from_vec(vec![1, 2], [2]).unwrap();
}

// fix: let x: Tensor<(N,)> = Tensor::from_vec(vec![1.0, 2.0], [2]).unwrap();
