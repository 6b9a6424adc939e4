use nomina::prelude::*;

fn layer<D: Dims, E: Dims>(x: &Tensor<D>, w: &Tensor<E>) {
    let y = x.matmul(w);
}

fn main() {}

// fix 3: fn layer<D: Dims + MatMul<E>, E: Dims>(x: &Tensor<D>, w: &Tensor<E>) {
