use nomina::prelude::*;

dims! { C }

fn primed<D: Dims + Has<C>>(x: &Tensor<D>) {
    let y = x.prime(C);
}

fn main() {}

// fix 1: use nomina::{dims::Primable, prelude::*};
// fix 5: fn primed<D: Dims + Has<C>>(x: &Tensor<D>) where C: Primable<D> {
