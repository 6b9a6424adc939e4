use nomina::prelude::*;

dims! { B, N }

fn widen<D: Dims>(x: &Tensor<D>) {
    let y = x.expand((B.of(2), N.of(3)));
}

fn main() {}

// fix 1: use nomina::{dims::ExpandInto, prelude::*};
// fix 5: fn widen<D: Dims + ExpandInto<(B, N)>>(x: &Tensor<D>) {
