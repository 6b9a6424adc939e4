use nomina::prelude::*;

fn add<D: Dims, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) {
    let z = x + y;
}

fn main() {}

// fix 3: fn add<D: Dims + Broadcast<E>, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) {
