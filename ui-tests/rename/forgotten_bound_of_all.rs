use nomina::prelude::*;

dims! { C, H }

fn renamed<D: Dims>(x: &Tensor<D>) {
    let y = x.rename(.., (C, H));
}

fn main() {}

// fix 1: use std::ops::RangeFull; use nomina::prelude::*;
// fix 5: fn renamed<D: Dims>(x: &Tensor<D>) where RangeFull: Rename<D, (C, H)> {
