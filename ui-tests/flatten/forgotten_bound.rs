use nomina::prelude::*;

dims! { C, H, Features }

fn flat<D: Dims>(x: &Tensor<D>) {
    let y = x.flatten((C, H), Features);
}

fn main() {}

// fix 5: fn flat<D: Dims>(x: &Tensor<D>) where (C, H): Flatten<D, Features> {
