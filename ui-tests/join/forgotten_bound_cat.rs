use nomina::prelude::*;

dims! { N }

fn twice<D: Dims>(x: &Tensor<D>) {
    let y = cat(&[x, x], N);
}

fn main() {}

// fix 5: fn twice<D: Dims + Has<N>>(x: &Tensor<D>) {
