use nomina::prelude::*;

fn add<D: Dims, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) {
    let z = x + y;
}

fn main() {}
