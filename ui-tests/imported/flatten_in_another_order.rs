//! Features in the order of NHWC.
use nomina::prelude::*;

dims! { Batch, Channel, Conv, Feature, H, W, KH, KW }

struct ConvPart {
    bias: Tensor<(Conv,)>,
    weight: Tensor<(Conv, Channel, KH, KW)>,
}

impl ConvPart {
    fn forward(&self, image: &Tensor<(Batch, Channel, H, W)>) -> Tensor<(Batch, Feature)> {
        let convolved: Tensor<(Batch, Conv, H, W)> = image.conv2d_with(
            Channel,
            (H, W),
            &self.weight,
            Some(&self.bias),
            ConvOptions { padding: Padding::Zeros([1, 1]), ..default() },
        );
        convolved.relu().flatten((H, W, Conv), Feature)
    }
}

fn main() {
    let conv = ConvPart { bias: Tensor::zeros([4]), weight: Tensor::zeros([4, 1, 3, 3]) };
    let features = conv.forward(&Tensor::zeros([2, 1, 8, 8]));
    assert_eq!(features.shape(), [2, 256]);
}

// fix 20: convolved.relu().flatten((Conv, H, W), Feature)
