use nomina::prelude::*;

dims! { C }

fn total<D: Dims>(x: &Tensor<D>) {
    let y = x.sum(C);
}

fn main() {}

// fix 5: fn total<D: Dims + Has<C>>(x: &Tensor<D>) {
