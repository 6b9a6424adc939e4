use nomina::prelude::*;

dims! { C }

fn channels_last<D: Dims + Has<C>>(x: &Tensor<D>) {
    let y = x.align_to((.., C));
}

fn main() {}

// fix 1: use std::ops::RangeFull; use nomina::prelude::*;
// fix 5: fn channels_last<D: Dims + Has<C>>(x: &Tensor<D>) where (RangeFull, C): Order<D> {
