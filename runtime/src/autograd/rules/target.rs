//! Gradients brought to the sizes, dtype and device of their operands.

use nomina_core::Result;
use nomina_core::op::Op;

use crate::SmallVec;
use crate::call::{ReduceOptions, real, reduce, to_device, to_dtype};
use crate::raw::Raw;
use crate::raw::graph::OperandGrads;
use crate::tape::GradTarget;

impl GradTarget {
    /// Brings a gradient to the form of the operand: sums over repeated dims, takes the real part for a real operand, converts the
    /// dtype and moves it to the operand's device.
    pub(super) fn fit(&self, grad: Raw) -> Result<Raw> {
        let grad = sum_to(grad, &self.shape)?;
        let grad = if grad.dtype().is_complex() && !self.dtype.is_complex() {
            real(&grad)?
        } else {
            grad
        };
        to_device(&to_dtype(&grad, self.dtype)?, self.device)
    }
}

/// Sums a gradient to `shape`, each dim of which was equal to one of `grad` or repeated to it.
fn sum_to(grad: Raw, shape: &[usize]) -> Result<Raw> {
    if grad.shape() == shape {
        return Ok(grad);
    }
    let before = grad.rank() - shape.len();
    let is_repeated = |dim: usize| dim < before || shape[dim - before] != grad.shape()[dim];
    let dims: SmallVec<[usize; 8]> = (0..grad.rank()).filter(|&dim| is_repeated(dim)).collect();
    let sum = reduce(Op::Sum, &grad, &dims, false, ReduceOptions::default())?;
    sum.reshape(shape)
}

/// Returns the gradients of an operator's only operand.
pub(super) fn only_operand(grad: Raw) -> OperandGrads {
    let mut found = OperandGrads::new();
    found.push(Some(grad));
    found
}
