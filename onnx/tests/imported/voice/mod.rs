//! The model `voice.onnx`, written by `cargo nomina import`. The text is yours: rename dims, and change what you like.
//!
//! 6 operators, 9 names of dims; the weights are in `weights.safetensors`.

use nomina::prelude::*;
use nomina_io::safetensors::SafeTensors;

dims! {
    pub Batch,
    /// Size 2.
    pub Direction,
    /// Size 1.
    pub GRUDirection,
    /// Size 3.
    pub GRUHidden,
    pub Gates,
    /// Size 4.
    pub H,
    /// Size 3.
    pub Hidden,
    pub Step,
    pub Take,
}

/// The outputs of the model.
#[derive(Clone, Debug)]
pub struct Output {
    /// Output `scores`.
    pub scores: Tensor<(Direction, Batch, Hidden)>,
    /// Output `steps`.
    pub steps: Tensor<(Step, GRUDirection, Batch, GRUHidden)>,
}

/// The parameters of the model.
#[derive(Clone, Debug)]
pub struct Model {
    /// The parameters below `gru`.
    pub gru: Gru,
    /// The parameters below `lstm`.
    pub lstm: Lstm,
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
            gru: Gru::read(file, &format!("{at}gru."))?,
            lstm: Lstm::read(file, &format!("{at}lstm."))?,
        })
    }
}

/// The parameters of `gru`.
#[derive(Clone, Debug)]
pub struct Gru {
    /// `gru.recurrent_layer`: 9 × 3.
    pub recurrent_layer: Tensor<(Gates, GRUHidden)>,
    /// `gru.weight_layer`: 9 × 4.
    pub weight_layer: Tensor<(Gates, H)>,
}

impl Gru {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            recurrent_layer: file.refine(&format!("{at}recurrent_layer"))?,
            weight_layer: file.refine(&format!("{at}weight_layer"))?,
        })
    }
}

/// The parameters of `lstm`.
#[derive(Clone, Debug)]
pub struct Lstm {
    /// `lstm.bias_forward_hidden`: 12.
    pub bias_forward_hidden: Tensor<(Gates,)>,
    /// `lstm.bias_forward_input`: 12.
    pub bias_forward_input: Tensor<(Gates,)>,
    /// `lstm.bias_reverse_hidden`: 12.
    pub bias_reverse_hidden: Tensor<(Gates,)>,
    /// `lstm.bias_reverse_input`: 12.
    pub bias_reverse_input: Tensor<(Gates,)>,
    /// `lstm.recurrent_forward`: 12 × 3.
    pub recurrent_forward: Tensor<(Gates, Hidden)>,
    /// `lstm.recurrent_reverse`: 12 × 3.
    pub recurrent_reverse: Tensor<(Gates, Hidden)>,
    /// `lstm.weight_forward`: 12 × 4.
    pub weight_forward: Tensor<(Gates, H)>,
    /// `lstm.weight_reverse`: 12 × 4.
    pub weight_reverse: Tensor<(Gates, H)>,
}

impl Lstm {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            bias_forward_hidden: file.refine(&format!("{at}bias_forward_hidden"))?,
            bias_forward_input: file.refine(&format!("{at}bias_forward_input"))?,
            bias_reverse_hidden: file.refine(&format!("{at}bias_reverse_hidden"))?,
            bias_reverse_input: file.refine(&format!("{at}bias_reverse_input"))?,
            recurrent_forward: file.refine(&format!("{at}recurrent_forward"))?,
            recurrent_reverse: file.refine(&format!("{at}recurrent_reverse"))?,
            weight_forward: file.refine(&format!("{at}weight_forward"))?,
            weight_reverse: file.refine(&format!("{at}weight_reverse"))?,
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
    pub fn forward(&self, sound: &Tensor<(Batch, Step, H, Take)>) -> Result<Output> {
        require_sizes("sound", sound.shape(), &[None, None, Some(4), None])?;
        let edges: Tensor<(Batch, Step, H, Take)> = sound
            .max_pool2d_with(
                (H, Take),
                [1, 2],
                MaxPoolOptions {
                    stride: Some([1, 2]),
                    ..default()
                },
            );
        assert_eq!(edges.size(Take), 1, "another branch of the model needs other sizes");
        let flat: Tensor<(Batch, Step, H)> = edges.squeeze(Take);
        let time: Tensor<(Step, Batch, H)> = flat.align_to((Step, Batch, H));
        let ends_hidden = {
            let x = &time;
            let inputs = x.contract(&self.lstm.weight_forward, H)
                + &self.lstm.bias_forward_input;
            let mut hidden = Tensor::<(Batch, Hidden)>::zeros([x.size(Batch), 3]);
            let mut cell = Tensor::<(Batch, Hidden)>::zeros([x.size(Batch), 3]);
            for at in 0..x.size(Step) {
                let (a, b) = (
                    inputs.select(Step, at),
                    hidden.contract(&self.lstm.recurrent_forward, Hidden)
                        + &self.lstm.bias_forward_hidden,
                );
                let input = (a.narrow(Gates, 0..3) + b.narrow(Gates, 0..3))
                    .sigmoid()
                    .rename(Gates, Hidden);
                let output = (a.narrow(Gates, 3..6) + b.narrow(Gates, 3..6))
                    .sigmoid()
                    .rename(Gates, Hidden);
                let forget = (a.narrow(Gates, 6..9) + b.narrow(Gates, 6..9))
                    .sigmoid()
                    .rename(Gates, Hidden);
                let update = (a.narrow(Gates, 9..12) + b.narrow(Gates, 9..12))
                    .tanh()
                    .rename(Gates, Hidden);
                cell = forget * &cell + input * update;
                hidden = output * cell.tanh();
            }
            hidden
        };
        let ends_hidden_reverse = {
            let x = &time;
            let inputs = x.contract(&self.lstm.weight_reverse, H)
                + &self.lstm.bias_reverse_input;
            let mut hidden = Tensor::<(Batch, Hidden)>::zeros([x.size(Batch), 3]);
            let mut cell = Tensor::<(Batch, Hidden)>::zeros([x.size(Batch), 3]);
            for at in (0..x.size(Step)).rev() {
                let (a, b) = (
                    inputs.select(Step, at),
                    hidden.contract(&self.lstm.recurrent_reverse, Hidden)
                        + &self.lstm.bias_reverse_hidden,
                );
                let input = (a.narrow(Gates, 0..3) + b.narrow(Gates, 0..3))
                    .sigmoid()
                    .rename(Gates, Hidden);
                let output = (a.narrow(Gates, 3..6) + b.narrow(Gates, 3..6))
                    .sigmoid()
                    .rename(Gates, Hidden);
                let forget = (a.narrow(Gates, 6..9) + b.narrow(Gates, 6..9))
                    .sigmoid()
                    .rename(Gates, Hidden);
                let update = (a.narrow(Gates, 9..12) + b.narrow(Gates, 9..12))
                    .tanh()
                    .rename(Gates, Hidden);
                cell = forget * &cell + input * update;
                hidden = output * cell.tanh();
            }
            hidden
        };
        let ends: Tensor<(Direction, Batch, Hidden)> = stack(
            &[&ends_hidden, &ends_hidden_reverse],
            Direction,
        );
        let steps2 = {
            let x = &time;
            let inputs = x.contract(&self.gru.weight_layer, H);
            let mut hidden = Tensor::<(Batch, GRUHidden)>::zeros([x.size(Batch), 3]);
            let mut steps = Vec::new();
            for at in 0..x.size(Step) {
                let (a, b) = (
                    inputs.select(Step, at),
                    hidden.contract(&self.gru.recurrent_layer, GRUHidden),
                );
                let update = (a.narrow(Gates, 0..3) + b.narrow(Gates, 0..3))
                    .sigmoid()
                    .rename(Gates, GRUHidden);
                let reset = (a.narrow(Gates, 3..6) + b.narrow(Gates, 3..6)).sigmoid();
                let new = (a.narrow(Gates, 6..9) + reset * b.narrow(Gates, 6..9))
                    .tanh()
                    .rename(Gates, GRUHidden);
                hidden = (1.0_f32 - &update) * new + update * &hidden;
                steps.push(hidden.clone());
            }
            stack(&steps, Step)
        };
        let steps3: Tensor<(Step, GRUDirection, Batch, GRUHidden)> = stack(
                &[&steps2],
                GRUDirection,
            )
            .align_to((Step, GRUDirection, Batch, GRUHidden));
        let scores: Tensor<(Direction, Batch, Hidden)> = &ends * 2.0;
        Ok(Output {
            scores: scores.clone(),
            steps: steps3.clone(),
        })
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
