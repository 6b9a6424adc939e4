use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x: Tensor<(N, C)> = Tensor::zeros((C.of(2), N.of(3)));
}
