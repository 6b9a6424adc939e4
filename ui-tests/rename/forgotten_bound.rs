use nomina::prelude::*;

dims! { C, H }

fn renamed<D: Dims>(x: &Tensor<D>) {
    let y = x.rename(C, H);
}

fn main() {}

// fix 5: fn renamed<D: Dims>(x: &Tensor<D>) where C: Rename<D, H> {
