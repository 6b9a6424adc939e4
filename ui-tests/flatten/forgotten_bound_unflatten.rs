use nomina::prelude::*;

dims! { C = 2, H = 3, Features }

fn unflat<D: Dims + Has<Features>>(x: &Tensor<D>) {
    let y = x.unflatten(Features, (C, H));
}

fn main() {}

// fix 5: fn unflat<D: Dims>(x: &Tensor<D>) where Features: Unflatten<D, (C, H)> {
