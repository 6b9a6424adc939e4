use nomina::prelude::*;

dims! { C }

fn total<D: Dims>(x: &Tensor<D>) {
    let y = x.sum(C);
}

fn main() {}
