use nomina::prelude::*;

dims! { N, C }

fn main() {
    let row = [1.0_f32, 2.0];
    let x: Tensor<(N,)> = Tensor::from_array([row, row]);
}

// fix: let x: Tensor<(N, C)> = Tensor::from_array([row, row]);
