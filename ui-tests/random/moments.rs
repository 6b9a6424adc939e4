//! Two numbers, where normal numbers take their dims from a tensor.

use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x: Tensor<(N, C)> = Tensor::normal(0.0, 1.0);
    let _ = x;
}

// fix: let x: Tensor<(N, C)> = Tensor::options().normal(0.0, 1.0, [2, 3]);
