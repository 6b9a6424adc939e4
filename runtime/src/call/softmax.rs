//! Normalisation along a dim.

use nomina_core::op::{Op, class};
use nomina_core::{DType, Names, Result};

use super::check;
use crate::call::backend::backend;
use crate::job::SoftmaxJob;
use crate::raw::Raw;
use crate::tape::record_reduction;

/// Computes a normalisation of the table along a dim; elements are first converted to `dtype`.
///
/// # Errors
/// If the operator is another, the dim is out of range, the dtype is not a float, or memory is missing.
pub fn softmax(op: Op, x: &Raw, dim: usize, dtype: Option<DType>) -> Result<Raw> {
    let Some(by) = class::Softmax::from_op(op) else {
        return Err(check::wrong_entry(op, "softmax"));
    };
    let target = dtype.unwrap_or(x.dtype());
    op.row()
        .check_dtype(target)
        .map_err(|error| error.operand(&Names::default(), x.shape()))?;
    if x.rank() == 0 && dim == 0 {
        return softmax(op, &x.unsqueeze(0)?, 0, dtype)?.squeeze(0);
    }
    check::dim(op.name(), x.shape(), dim)?;
    let logarithm = match by {
        class::Softmax::Softmax => false,
        class::Softmax::LogSoftmax => true,
        class::Softmax::Softmin => {
            let negated = super::pointwise(Op::Neg, &[x.into()])?;
            return softmax(Op::Softmax, &negated, dim, dtype).map_err(|e| e.in_op(op.name()));
        }
    };
    let mut out = Raw::empty(op.name(), x.shape(), target, x.device())?;
    if x.numel() == 0 {
        return record_reduction(op, out, x, &[], &[dim]);
    }
    let to = out.fresh_ptr();
    let backend = backend(op.name(), x.device())?;
    // SAFETY: the job describes a whole operand, and a fresh result that nothing else shares.
    unsafe {
        backend.softmax(&SoftmaxJob {
            op,
            logarithm,
            compute: target,
            shape: x.shape(),
            strides: x.strides(),
            x: x.as_ptr(),
            dtype: x.dtype(),
            dim,
            out: to,
            out_strides: out.strides(),
            out_dtype: target,
        })?;
    }
    record_reduction(op, out, x, &[], &[dim])
}
