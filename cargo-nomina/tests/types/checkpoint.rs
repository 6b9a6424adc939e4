//! The tensors of `checkpoint.pt`, written by `cargo nomina types`.

use nomina::prelude::*;
use nomina_io::pth::Pth;

dims! {
    /// Size 3.
    pub Model0In,
    /// Size 4.
    pub Model0Out,
    /// Size 4.
    pub Model1Feature,
    /// Size 4.
    pub Model2In,
    /// Size 2.
    pub Model2Out,
    /// Size 4.
    pub OptimizerState0ExpAvgDim0,
    /// Size 3.
    pub OptimizerState0ExpAvgDim1,
    /// Size 4.
    pub OptimizerState1ExpAvgDim0,
}

/// The tensors of `checkpoint.pt`.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The tensors below `model`.
    pub model: Model,
    /// The tensors below `optimizer`.
    pub optimizer: Optimizer,
}

impl Checkpoint {
    /// Opens a file with these tensors.
    ///
    /// # Errors
    /// If it cannot be read, or a tensor is missing or has other dims or another dtype.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        Self::read(&Pth::open(path)?, "")
    }

    fn read(file: &Pth, at: &str) -> Result<Self> {
        Ok(Self {
            model: Model::read(file, &format!("{at}model."))?,
            optimizer: Optimizer::read(file, &format!("{at}optimizer."))?,
        })
    }
}

/// A part of the file: the tensors below `model`.
#[derive(Clone, Debug)]
pub struct Model {
    /// The tensors below `0`.
    pub layer_0: Model0,
    /// The tensors below `1`.
    pub layer_1: Model1,
    /// The tensors below `2`.
    pub layer_2: Model2,
}

impl Model {
    fn read(file: &Pth, at: &str) -> Result<Self> {
        Ok(Self {
            layer_0: Model0::read(file, &format!("{at}0."))?,
            layer_1: Model1::read(file, &format!("{at}1."))?,
            layer_2: Model2::read(file, &format!("{at}2."))?,
        })
    }
}

/// A part of the file: the tensors below `model.0`.
#[derive(Clone, Debug)]
pub struct Model0 {
    /// `bias`: 4.
    pub bias: Tensor<(Model0Out,)>,
    /// `weight`: 4 × 3.
    pub weight: Tensor<(Model0Out, Model0In)>,
}

impl Model0 {
    fn read(file: &Pth, at: &str) -> Result<Self> {
        Ok(Self {
            bias: file.refine(&format!("{at}bias"))?,
            weight: file.refine(&format!("{at}weight"))?,
        })
    }
}

/// A part of the file: the tensors below `model.1`.
#[derive(Clone, Debug)]
pub struct Model1 {
    /// `bias`: 4.
    pub bias: Tensor<(Model1Feature,)>,
    /// `num_batches_tracked`: a number.
    pub num_batches_tracked: Tensor<(), i64>,
    /// `running_mean`: 4.
    pub running_mean: Tensor<(Model1Feature,)>,
    /// `running_var`: 4.
    pub running_var: Tensor<(Model1Feature,)>,
    /// `weight`: 4.
    pub weight: Tensor<(Model1Feature,)>,
}

impl Model1 {
    fn read(file: &Pth, at: &str) -> Result<Self> {
        Ok(Self {
            bias: file.refine(&format!("{at}bias"))?,
            num_batches_tracked: file.refine(&format!("{at}num_batches_tracked"))?,
            running_mean: file.refine(&format!("{at}running_mean"))?,
            running_var: file.refine(&format!("{at}running_var"))?,
            weight: file.refine(&format!("{at}weight"))?,
        })
    }
}

/// A part of the file: the tensors below `model.2`.
#[derive(Clone, Debug)]
pub struct Model2 {
    /// `bias`: 2.
    pub bias: Tensor<(Model2Out,)>,
    /// `weight`: 2 × 4.
    pub weight: Tensor<(Model2Out, Model2In)>,
}

impl Model2 {
    fn read(file: &Pth, at: &str) -> Result<Self> {
        Ok(Self {
            bias: file.refine(&format!("{at}bias"))?,
            weight: file.refine(&format!("{at}weight"))?,
        })
    }
}

/// A part of the file: the tensors below `optimizer`.
#[derive(Clone, Debug)]
pub struct Optimizer {
    /// The tensors below `state`.
    pub state: OptimizerState,
}

impl Optimizer {
    fn read(file: &Pth, at: &str) -> Result<Self> {
        Ok(Self {
            state: OptimizerState::read(file, &format!("{at}state."))?,
        })
    }
}

/// A part of the file: the tensors below `optimizer.state`.
#[derive(Clone, Debug)]
pub struct OptimizerState {
    /// The tensors below `0`.
    pub layer_0: OptimizerState0,
    /// The tensors below `1`.
    pub layer_1: OptimizerState1,
}

impl OptimizerState {
    fn read(file: &Pth, at: &str) -> Result<Self> {
        Ok(Self {
            layer_0: OptimizerState0::read(file, &format!("{at}0."))?,
            layer_1: OptimizerState1::read(file, &format!("{at}1."))?,
        })
    }
}

/// A part of the file: the tensors below `optimizer.state.0`.
#[derive(Clone, Debug)]
pub struct OptimizerState0 {
    /// `exp_avg`: 4 × 3.
    pub exp_avg: Tensor<(OptimizerState0ExpAvgDim0, OptimizerState0ExpAvgDim1)>,
    /// `step`: a number.
    pub step: Tensor<()>,
}

impl OptimizerState0 {
    fn read(file: &Pth, at: &str) -> Result<Self> {
        Ok(Self {
            exp_avg: file.refine(&format!("{at}exp_avg"))?,
            step: file.refine(&format!("{at}step"))?,
        })
    }
}

/// A part of the file: the tensors below `optimizer.state.1`.
#[derive(Clone, Debug)]
pub struct OptimizerState1 {
    /// `exp_avg`: 4.
    pub exp_avg: Tensor<(OptimizerState1ExpAvgDim0,)>,
    /// `step`: a number.
    pub step: Tensor<()>,
}

impl OptimizerState1 {
    fn read(file: &Pth, at: &str) -> Result<Self> {
        Ok(Self {
            exp_avg: file.refine(&format!("{at}exp_avg"))?,
            step: file.refine(&format!("{at}step"))?,
        })
    }
}
