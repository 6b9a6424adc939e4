//! Indices of masks.

use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind, Result, Scalar, rule};

use super::indices::{refuse, same_device, same_dtype};
use super::update::put;
use crate::call::backend::backend;
use crate::call::{Arg, contiguous, pointwise};
use crate::job::{MaskJob, Update};
use crate::raw::Raw;

/// Returns the indices of the nonzero elements: a row for each, with a number for each dim.
///
/// # Errors
/// If memory is missing.
pub fn nonzero(op: Op, x: &Raw) -> Result<Raw> {
    let mask = match x.dtype() {
        DType::Bool => x.clone(),
        _ => pointwise(Op::Ne, &[Arg::Tensor(x), Arg::Scalar(Scalar::Int(0))])?,
    };
    let mask = contiguous(&mask)?;
    let job = MaskJob {
        op: op.name(),
        mask: mask.as_ptr().cast(),
        shape: x.shape(),
    };
    let mut out = Raw::empty(op.name(), &[0, x.rank()], DType::I64, x.device())?;
    let mut room = |rows: usize| {
        out = Raw::empty(op.name(), &[rows, x.rank()], DType::I64, x.device())?;
        Ok(out.fresh_ptr().cast())
    };
    if x.numel() > 0 {
        // SAFETY: a contiguous mask, and a fresh result with as many rows as requested.
        unsafe { backend(op.name(), x.device())?.nonzero(&job, &mut room)? };
    }
    Ok(out)
}

/// Writes the values of `src` in row-major order where `mask`, which broadcasts to self, holds.
///
/// # Errors
/// If the mask is not bool or does not broadcast, or values have another dtype or are too few. Nothing is written then.
pub fn masked_scatter(own: &mut Raw, mask: &Raw, src: &Raw) -> Result<()> {
    let op = Op::MaskedScatter;
    let shapes = [own.shape(), mask.shape(), src.shape()];
    same_device(op, own.device(), mask)?;
    same_device(op, own.device(), src)?;
    if mask.dtype() != DType::Bool {
        let what = format!("a mask is bool, not {}", mask.dtype());
        return Err(
            refuse(ErrorKind::DType, op, &shapes, what).hint("compare, or convert it with `to`")
        );
    }
    same_dtype(op, (own.shape(), own.dtype()), src)?;
    let mask = mask.expand(own.shape()).map_err(|error| {
        let refused = rule::broadcast_into(op.name(), own.shape(), mask.shape()).err();
        refused.unwrap_or(error).on_operands(shapes)
    })?;
    let taken = nonzero(op, &contiguous(&mask)?.reshape(&[mask.numel()])?)?;
    let wanted = taken.shape()[0];
    if src.numel() < wanted {
        let what = format!("{} values, but the mask selects {wanted}", src.numel());
        return Err(refuse(ErrorKind::Shape, op, &shapes, what).hint("give more values"));
    }
    let values = src.reshape(&[src.numel()])?.narrow(0, 0, wanted)?;
    put(op, own, &taken, &values, Update::Set)
}
