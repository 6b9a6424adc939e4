use nomina::prelude::*;

fn turned<D: Dims>(x: &Tensor<D>) {
    let y = x.t();
}

fn main() {}

// fix 3: fn turned<D: Dims + Flat>(x: &Tensor<D>) {
