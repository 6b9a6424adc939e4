//! Reductions of pairs of elements in one pass over both operands.

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use crate::SmallVec;
use crate::call::backend::backend;
use crate::call::{contiguous, to_dtype};
use crate::job::{PairJob, Pairing};
use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::shape::Shape;

/// Reduces the pairs of elements of two real tensors over dims, in `f64`. The sizes of `y` are those of `x`, or 1. Returns
/// `None` if there is no kernel, or if a gradient is recorded: that is of composed operators.
///
/// # Errors
/// If memory is missing.
pub(super) fn in_one_pass(
    op: Op,
    by: Pairing,
    [x, y]: [&Raw; 2],
    (dims, keepdim): (&[usize], bool),
) -> Result<Option<Raw>> {
    let is_host = x.device().is_cpu() && y.device().is_cpu();
    if !is_host || x.numel() == 0 || x.dtype().is_complex() || is_wanted([x, y]) {
        return Ok(None);
    }
    let mut reduced: SmallVec<[bool; 8]> = SmallVec::from_elem(false, x.rank());
    for &dim in dims {
        match reduced.get_mut(dim) {
            Some(mark @ false) => *mark = true,
            _ => return Ok(None),
        }
    }
    let dtype = match x.dtype() {
        DType::F64 => DType::F64,
        _ => DType::F32,
    };
    let x = contiguous(&to_dtype(x, dtype)?)?;
    let y = to_dtype(y, dtype)?.expand(x.shape())?;
    let mut shape = Shape::new();
    for (&size, &gone) in x.shape().iter().zip(&reduced) {
        if !gone {
            shape.push(size);
        } else if keepdim {
            shape.push(1);
        }
    }
    let mut out = Raw::empty(op.name(), &shape, DType::F64, x.device())?;
    let job = PairJob {
        op,
        by,
        skips_nan: matches!(op, Op::Nancorr | Op::Nancovar | Op::WeightedNanmean),
        dtype,
        shape: x.shape(),
        x: x.as_ptr(),
        y: y.as_ptr(),
        y_strides: y.strides(),
        reduced: &reduced,
        out: out.fresh_ptr().cast(),
    };
    // SAFETY: the job describes whole operands of one dtype and shape, and a fresh result.
    let done = unsafe { backend(op.name(), x.device())?.reduce_pairs(&job)? };
    Ok(done.then_some(out))
}
