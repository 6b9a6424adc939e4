//! The model `digits.onnx`, written by `cargo nomina import`. The text is yours: rename dims, and change what you like.
//!
//! 10 operators, 10 names of dims; the weights are in `weights.safetensors`.

use nomina::prelude::*;
use nomina_io::safetensors::SafeTensors;

dims! {
    pub Batch,
    /// Size 1.
    pub Channel,
    /// Size 4.
    pub Conv,
    /// Size 10.
    pub Digit,
    /// Size 64.
    pub Feature,
    /// Sizes 4, 8.
    pub H,
    /// Size 16.
    pub Hidden,
    /// Size 3.
    pub KH,
    /// Size 3.
    pub KW,
    /// Sizes 4, 8.
    pub W,
}

/// The outputs of the model.
#[derive(Clone, Debug)]
pub struct Output {
    /// Output `scores`.
    pub scores: Tensor<(Batch, Digit)>,
}

/// The parameters of the model.
#[derive(Clone, Debug)]
pub struct Model {
    /// The parameters below `conv`.
    pub conv: ConvPart,
    /// The parameters below `digit`.
    pub digit: DigitPart,
    /// The parameters below `hidden`.
    pub hidden: HiddenPart,
}

impl Model {
    /// Opens the weights.
    ///
    /// # Errors
    /// If the file cannot be read, or a tensor is missing or has other dims or another dtype.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        Self::read(&SafeTensors::open(path)?, "")
    }
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            conv: ConvPart::read(file, &format!("{at}conv."))?,
            digit: DigitPart::read(file, &format!("{at}digit."))?,
            hidden: HiddenPart::read(file, &format!("{at}hidden."))?,
        })
    }
}

/// The parameters of `conv`.
#[derive(Clone, Debug)]
pub struct ConvPart {
    /// `conv.bias`: 4.
    pub bias: Tensor<(Conv,)>,
    /// `conv.weight`: 4 × 1 × 3 × 3.
    pub weight: Tensor<(Conv, Channel, KH, KW)>,
}

impl ConvPart {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            bias: file.refine(&format!("{at}bias"))?,
            weight: file.refine(&format!("{at}weight"))?,
        })
    }
}

/// The parameters of `digit`.
#[derive(Clone, Debug)]
pub struct DigitPart {
    /// `digit.bias`: 10.
    pub bias: Tensor<(Digit,)>,
    /// `digit.weight`: 16 × 10.
    pub weight: Tensor<(Hidden, Digit)>,
}

impl DigitPart {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            bias: file.refine(&format!("{at}bias"))?,
            weight: file.refine(&format!("{at}weight"))?,
        })
    }
}

/// The parameters of `hidden`.
#[derive(Clone, Debug)]
pub struct HiddenPart {
    /// `hidden.bias`: 16.
    pub bias: Tensor<(Hidden,)>,
    /// `hidden.weight`: 64 × 16.
    pub weight: Tensor<(Feature, Hidden)>,
}

impl HiddenPart {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            bias: file.refine(&format!("{at}bias"))?,
            weight: file.refine(&format!("{at}weight"))?,
        })
    }
}

impl Model {
    /// Computes the outputs.
    ///
    /// # Errors
    /// If an input has a size that is not the model's.
    ///
    /// # Panics
    /// If sizes that the model leaves free do not fit each other.
    pub fn forward(&self, image: &Tensor<(Batch, Channel, H, W)>) -> Result<Output> {
        require_sizes("image", image.shape(), &[None, Some(1), Some(8), Some(8)])?;
        let convolved: Tensor<(Batch, Conv, H, W)> = image
            .conv2d_with(
                Channel,
                (H, W),
                &self.conv.weight,
                Some(&self.conv.bias),
                ConvOptions {
                    padding: Padding::Zeros([1, 1]),
                    ..default()
                },
            );
        let edges: Tensor<(Batch, Conv, H, W)> = convolved.relu();
        let pooled: Tensor<(Batch, Conv, H, W)> = edges
            .max_pool2d_with(
                (H, W),
                [2, 2],
                MaxPoolOptions {
                    stride: Some([2, 2]),
                    ..default()
                },
            );
        let features: Tensor<(Batch, Feature)> = pooled.flatten((Conv, H, W), Feature);
        let mixed: Tensor<(Batch, Hidden)> = features
            .matmul_on(Feature, &self.hidden.weight);
        let shifted: Tensor<(Batch, Hidden)> = &mixed + &self.hidden.bias;
        let state: Tensor<(Batch, Hidden)> = shifted.tanh();
        let logits: Tensor<(Batch, Digit)> = state.matmul_on(Hidden, &self.digit.weight);
        let sum: Tensor<(Batch, Digit)> = &logits + &self.digit.bias;
        let scores: Tensor<(Batch, Digit)> = sum.softmax(Digit);
        Ok(Output { scores })
    }
}

/// Refuses an input whose sizes are not those of the model.
fn require_sizes(input: &str, sizes: &[usize], wanted: &[Option<usize>]) -> Result<()> {
    let differs = sizes
        .iter()
        .zip(wanted)
        .any(|(size, wanted)| wanted.is_some_and(|wanted| wanted != *size));
    if differs {
        let what = format!(
            "input `{input}` has sizes {sizes:?}, and the model needs {wanted:?}"
        );
        return Err(Error::new(ErrorKind::Shape, "forward", what));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
