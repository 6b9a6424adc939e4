use nomina::prelude::*;

dims! { B }

fn batch<D: Dims>(x: &Tensor<D>) {
    let y = stack(&[x, x], B);
}

fn main() {}

// fix 5: fn batch<D: Dims>(x: &Tensor<D>) where B: Insert<D> {
