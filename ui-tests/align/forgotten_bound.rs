use nomina::prelude::*;

dims! { N, C }

fn turned<D: Dims>(x: &Tensor<D>) -> Tensor<(C, N)> {
    x.align_to((C, N))
}

fn main() {}

// fix 5: fn turned<D: Dims>(x: &Tensor<D>) -> Tensor<(C, N)> where (C, N): Order<D> {
