use nomina::prelude::*;

dims! { N }

fn first<D: Dims>(x: &Tensor<D>) {
    let y = x.at((N.i(0),));
}

fn main() {}

// fix 5: fn first<D: Dims + Has<N>>(x: &Tensor<D>) {
