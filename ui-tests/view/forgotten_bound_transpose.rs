use nomina::prelude::*;

dims! { N, C }

fn turned<D: Dims + Has<N>>(x: &Tensor<D>) {
    let y = x.transpose(N, C);
}

fn main() {}

// fix 5: fn turned<D: Dims + Has<N> + Has<C>>(x: &Tensor<D>) {
