//! The weights of recurrent layers.

use nomina::dims::{Axes, Dim, Distinct, Joined, Prime};
use nomina::{Element, Inexact, Result};

use super::Gate;
use super::steps::LayerWeights;
use crate::Module;
use crate::call::uniform;
use crate::param::Param;

/// The weights of one recurrent layer in one direction, with PyTorch's names. `P` is the dim of the outputs: `H`,
/// unless there is a projection.
#[derive(Module)]
#[module(crate = crate)]
pub struct RecurrentWeights<I: Axes, H: Dim, P: Dim = H, T: Element = f32> {
    /// The weight from inputs to gates.
    pub weight_ih: Param<Joined<(Gate, H), I::List>, T>,
    /// The weight from the hidden state to gates.
    pub weight_hh: Param<(Gate, H, Prime<P>), T>,
    /// The bias of the inputs' part.
    pub bias_ih: Option<Param<(Gate, H), T>>,
    /// The bias of the hidden state's part.
    pub bias_hh: Option<Param<(Gate, H), T>>,
    /// The projection of the state to the outputs.
    pub weight_hr: Option<Param<(Prime<P>, H), T>>,
}

impl<I: Axes, H: Dim, P: Dim, T: Element> Clone for RecurrentWeights<I, H, P, T> {
    fn clone(&self) -> Self {
        Self {
            weight_ih: self.weight_ih.clone(),
            weight_hh: self.weight_hh.clone(),
            bias_ih: self.bias_ih.clone(),
            bias_hh: self.bias_hh.clone(),
            weight_hr: self.weight_hr.clone(),
        }
    }
}

impl<I: Axes, H: Dim, P: Dim> RecurrentWeights<I, H, P>
where
    Joined<(Gate, H), I::List>: Distinct,
    (Gate, H, Prime<P>): Distinct,
    (Gate, H): Distinct,
    (Prime<P>, H): Distinct,
{
    /// Draws weights within the inverse square root of the state's size.
    pub(super) fn create(
        gates: usize,
        inputs: &[usize],
        states: usize,
        outputs: Option<usize>,
        has_bias: bool,
    ) -> Result<Self> {
        let bound = 1.0 / (states as f64).max(1.0).sqrt();
        let width = outputs.unwrap_or(states);
        let bias = || -> Result<_> { Ok(Param::new(uniform(&[gates, states], -bound, bound)?)) };
        Ok(Self {
            weight_ih: Param::new(uniform(
                &[&[gates, states], inputs].concat(),
                -bound,
                bound,
            )?),
            weight_hh: Param::new(uniform(&[gates, states, width], -bound, bound)?),
            bias_ih: has_bias.then(bias).transpose()?,
            bias_hh: has_bias.then(bias).transpose()?,
            weight_hr: match outputs {
                Some(_) => Some(Param::new(uniform(&[width, states], -bound, bound)?)),
                None => None,
            },
        })
    }
}

impl<I: Axes, H: Dim, P: Dim, T: Inexact> RecurrentWeights<I, H, P, T> {
    pub(super) fn to_dyn(&self) -> LayerWeights {
        LayerWeights {
            input: self.weight_ih.to_dyn(),
            hidden: self.weight_hh.to_dyn(),
            input_bias: self.bias_ih.as_ref().map(|bias| bias.to_dyn()),
            hidden_bias: self.bias_hh.as_ref().map(|bias| bias.to_dyn()),
            projection: self.weight_hr.as_ref().map(|weight| weight.to_dyn()),
        }
    }
}
