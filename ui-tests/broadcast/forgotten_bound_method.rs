use nomina::prelude::*;

fn below<D: Dims, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) {
    let z = x.lt(y);
}

fn main() {}

// fix 3: fn below<D: Dims + Broadcast<E>, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) {
