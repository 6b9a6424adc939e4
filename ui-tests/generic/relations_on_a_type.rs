use nomina::prelude::*;

#[relations]
struct Layer<D: Dims> {
    weight: Tensor<D>,
}

fn main() {}

// fix 3:
