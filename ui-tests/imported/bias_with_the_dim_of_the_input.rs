//! A bias that has the dim of the features.
use nomina::prelude::*;

dims! { Feature, Hidden }

#[derive(Clone, Debug)]
struct HiddenPart {
    bias: Tensor<(Hidden,)>,
    weight: Tensor<(Feature, Hidden)>,
}

fn main() {
    let bias: Tensor<(Feature,)> = Tensor::zeros([64]);
    let mut hidden = HiddenPart { bias: Tensor::zeros([16]), weight: Tensor::zeros([64, 16]) };
    hidden.bias = bias;
}

// fix 15: hidden.bias = Tensor::zeros([16]);
