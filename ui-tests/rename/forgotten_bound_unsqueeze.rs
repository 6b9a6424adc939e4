use nomina::prelude::*;

dims! { B }

fn batch<D: Dims>(x: &Tensor<D>) {
    let y = x.unsqueeze(B);
}

fn main() {}

// fix 5: fn batch<D: Dims>(x: &Tensor<D>) where B: Insert<D> {
