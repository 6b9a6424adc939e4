use nomina::prelude::*;

dims! { N }

fn main() {
    let x: Tensor<(N,)> = Tensor::full([2], 1);
}

// fix: let x: Tensor<(N,)> = Tensor::full([2], 1.0);
