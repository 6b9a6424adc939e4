//! The bias of the last layer where that of the first belongs.
use nomina::prelude::*;

dims! { Batch, Feature, Hidden, Digit }

struct HiddenPart {
    bias: Tensor<(Hidden,)>,
    weight: Tensor<(Feature, Hidden)>,
}

struct DigitPart {
    bias: Tensor<(Digit,)>,
    weight: Tensor<(Hidden, Digit)>,
}

struct Model {
    digit: DigitPart,
    hidden: HiddenPart,
}

impl Model {
    fn forward(&self, features: &Tensor<(Batch, Feature)>) -> Tensor<(Batch, Digit)> {
        let mixed: Tensor<(Batch, Hidden)> = features.matmul_on(Feature, &self.hidden.weight);
        let shifted: Tensor<(Batch, Hidden)> = &mixed + &self.digit.bias;
        let state: Tensor<(Batch, Hidden)> = shifted.tanh();
        let logits: Tensor<(Batch, Digit)> = state.matmul_on(Hidden, &self.digit.weight);
        let sum: Tensor<(Batch, Digit)> = &logits + &self.digit.bias;
        let scores: Tensor<(Batch, Digit)> = sum.softmax(Digit);
        scores
    }
}

fn main() {
    let digit = DigitPart { bias: Tensor::zeros([10]), weight: Tensor::zeros([16, 10]) };
    let hidden = HiddenPart { bias: Tensor::zeros([16]), weight: Tensor::zeros([64, 16]) };
    let scores = Model { digit, hidden }.forward(&Tensor::zeros([2, 64]));
    assert_eq!(scores.shape(), [2, 10]);
}

// fix 24: let shifted: Tensor<(Batch, Hidden)> = &mixed + &self.hidden.bias;
