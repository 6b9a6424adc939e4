use nomina::prelude::*;

dims! { N }

fn first<D: Dims>(x: &Tensor<D>) {
    let y = x.select(N, 0);
}

fn main() {}

// fix 5: fn first<D: Dims + Has<N>>(x: &Tensor<D>) {
