//! Normalisation along a dim.

use nomina_core::op::{Op, class};
use nomina_core::{DType, Names, Result};

use super::check;
use super::grad::over_dims;
use super::reduce::address;
use crate::call::backend::backend;
use crate::job::SoftmaxJob;
use crate::raw::Raw;

/// A normalisation of the table along a dim; `dtype` is what elements are converted to first.
///
/// # Errors
/// Another operator, a dim out of range, a dtype that is no float, missing memory.
pub fn softmax(op: Op, x: &Raw, dim: usize, dtype: Option<DType>) -> Result<Raw> {
    let Some(by) = class::Softmax::of(op) else {
        return Err(check::another(op, "softmax"));
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
        return over_dims(op, out, x, &[], &[dim]);
    }
    let to = address(&mut out);
    let backend = backend(op.name(), x.device())?;
    // SAFETY: the job describes a whole operand, and a fresh result that no one else has.
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
    over_dims(op, out, x, &[], &[dim])
}
