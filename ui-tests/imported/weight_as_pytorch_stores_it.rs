//! A weight of PyTorch, `(out, in)`, as the weight of an imported layer.
use nomina::prelude::*;

dims! { Feature, Hidden }

#[derive(Clone, Debug)]
struct HiddenPart {
    bias: Tensor<(Hidden,)>,
    weight: Tensor<(Feature, Hidden)>,
}

fn main() {
    let bias = Tensor::zeros([16]);
    let weight: Tensor<(Hidden, Feature)> = Tensor::zeros([16, 64]);
    let hidden = HiddenPart { bias, weight };
}

// fix 15: let hidden = HiddenPart { bias, weight: weight.align_to((Feature, Hidden)) };
