use nomina::prelude::*;

dims! { N }
dims! { Rgb = 3 }

fn main() {
    let x: Tensor<(N, Rgb)> = Tensor::from_array([[1.0, 2.0]]);
}

// fix: let x: Tensor<(N, Rgb)> = Tensor::from_array([[1.0, 2.0, 3.0]]);
