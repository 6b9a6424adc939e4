//! How gradients go back through the entries that compute: a rule beside each, with what it saves.
//!
//! An entry that other entries are made of records itself; what is made of them is recorded with its parts.

#[cfg(feature = "linalg")]
mod adjugate;
mod arithmetic;
mod attention;
mod by;
mod columns;
mod complex;
mod conv;
mod convert;
#[cfg(feature = "linalg")]
mod decomposition;
mod deferred;
mod distance;
mod entropy;
#[cfg(feature = "fft")]
mod fft;
mod fused;
mod generated;
mod in_place;
mod join;
#[cfg(feature = "linalg")]
mod linalg;
mod lined;
mod lines;
#[cfg(feature = "linalg")]
mod matrix_scale;
mod never;
mod normalize;
mod over;
mod pad;
mod pick;
mod pool;
mod product;
mod program;
mod quantile;
mod read;
mod resample;
mod rows;
mod view;

use nomina_core::op::Op;
use nomina_core::{DType, Result};

pub(super) use attention::attended;
pub(super) use by::{Back, by, by_result};
pub(super) use columns::{columns, folded};
pub(super) use complex::{conjugate, joined_parts, parts};
pub(super) use conv::convolved;
pub(super) use convert::Converted;
pub(super) use distance::distances;
pub(super) use entropy::entropies;
#[cfg(feature = "fft")]
pub(super) use fft::{halved, made_whole, transformed};
pub(super) use fused::chained;
pub(super) use in_place::{assign, assign_number, assign_unrecorded, out_of_recorded, overwrite};
pub(super) use join::{joined, triangle};
#[cfg(feature = "linalg")]
pub(super) use linalg::decomposed;
pub(super) use lined::{elementwise, over_dims};
pub(crate) use never::never;
pub(super) use never::{unrecorded, unrecorded_beside_sparse};
pub(super) use normalize::normalized;
pub(super) use over::{evenly, norm, prod, scanned};
pub(super) use pad::spread;
pub(super) use pick::{Addressing, At, Picked};
pub(super) use pool::{greatest, means, unpooled};
pub(super) use product::multiplied;
pub(super) use quantile::quantiles;
pub(super) use resample::{Weights, linear_along};
pub(crate) use view::add_part;

use super::{ReduceOptions, real, reduce as reduced, to_device, to_dtype};
use crate::raw::Raw;
use crate::raw::graph::{OperandGrads, Rule, is_wanted, record};
use crate::shape::Shape;
use crate::{Device, SmallVec};

/// A result, with a rule where it has a gradient and one of its operands asks for one.
pub(super) fn recorded<const N: usize, R: Rule + 'static>(
    result: Raw,
    operands: [&Raw; N],
    rule: impl FnOnce(&Raw) -> Result<R>,
) -> Result<Raw> {
    if !is_wanted(operands) || !has_gradient(result.dtype()) {
        return Ok(result);
    }
    let rule = rule(&result)?;
    record(result, operands.map(Some), rule)
}

/// What an operand was: its gradient has its sizes and its dtype, and lies on its device.
#[derive(Debug)]
pub(super) struct Target {
    shape: Shape,
    dtype: DType,
    device: Device,
}

impl Target {
    pub(super) fn of(operand: &Raw) -> Self {
        Self {
            shape: Shape::from_slice(operand.shape()),
            dtype: operand.dtype(),
            device: operand.device(),
        }
    }

    /// Brings a gradient to the operand: sums over what was repeated, takes the real part of complex numbers where the
    /// operand has none, converts, and moves.
    pub(super) fn take(&self, grad: Raw) -> Result<Raw> {
        let grad = summed_to(grad, &self.shape)?;
        let grad = match grad.dtype().is_complex() && !self.dtype.is_complex() {
            true => real(&grad)?,
            false => grad,
        };
        to_device(&to_dtype(&grad, self.dtype)?, self.device)
    }
}

/// A gradient of so many sizes, each dim of which was one of `grad`'s or was repeated to it.
fn summed_to(grad: Raw, shape: &[usize]) -> Result<Raw> {
    if grad.shape() == shape {
        return Ok(grad);
    }
    let before = grad.rank() - shape.len();
    let repeated = |dim: usize| dim < before || shape[dim - before] != grad.shape()[dim];
    let dims: SmallVec<[usize; 8]> = (0..grad.rank()).filter(|&dim| repeated(dim)).collect();
    let sum = reduced(Op::Sum, &grad, &dims, false, ReduceOptions::default())?;
    sum.reshape(shape)
}

/// The gradients of one operand.
fn one(grad: Raw) -> OperandGrads {
    let mut found = OperandGrads::new();
    found.push(Some(grad));
    found
}

/// Whether there are gradients of this dtype.
pub(crate) fn has_gradient(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}
