use nomina::prelude::*;

dims! { C }

fn scores<D: Dims>(x: &Tensor<D>) -> Tensor<D> {
    x.softmax(C)
}

fn main() {}

// fix 5: fn scores<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<D> {
