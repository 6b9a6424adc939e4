//! The output, annotated with its dims swapped.
use nomina::prelude::*;

dims! { Batch, Channel, Hidden, Digit, H, W }

struct Output {
    scores: Tensor<(Batch, Digit)>,
}

struct Model {
    weight: Tensor<(Channel, H, W, Digit)>,
}

impl Model {
    fn forward(&self, image: &Tensor<(Batch, Channel, H, W)>) -> Result<Output> {
        let scores: Tensor<(Batch, Digit)> = image.contract(&self.weight, (Channel, H, W));
        Ok(Output { scores })
    }
}

fn main() {
    let model = Model { weight: Tensor::zeros([1, 8, 8, 10]) };
    let image: Tensor<(Batch, Channel, H, W)> = Tensor::zeros([2, 1, 8, 8]);
    let scores: Tensor<(Digit, Batch)> = model.forward(&image).unwrap().scores;
}

// fix 24: let scores: Tensor<(Batch, Digit)> = model.forward(&image).unwrap().scores;
