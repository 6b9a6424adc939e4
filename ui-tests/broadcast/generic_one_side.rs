use nomina::prelude::*;

dims! { N, C }

fn scale<D: Dims>(x: &Tensor<D>, s: &Tensor<(C,)>) {
    let y = x * s;
}

fn main() {}

// fix 5: fn scale<D: Dims + Broadcast<(C,)>>(x: &Tensor<D>, s: &Tensor<(C,)>) {
