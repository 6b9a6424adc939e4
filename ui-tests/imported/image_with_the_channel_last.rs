//! Images in the order of NHWC.
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
    let image: Tensor<(Batch, H, W, Channel)> = Tensor::zeros([2, 8, 8, 1]);
    let output = model.forward(&image);
}

// fix 24: let output = model.forward(&image.align_to((Batch, Channel, H, W)));
