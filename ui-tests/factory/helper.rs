use nomina::prelude::*;

dims! { N, C }

fn zeros<D: Dims + Distinct, S: ShapeFor<D>>(shape: S) -> Tensor<D> {
    Tensor::zeros(shape)
}

fn main() {
    let x: Tensor<(N, C)> = zeros([2]);
}

// fix: let x: Tensor<(N, C)> = zeros([2, 3]);
