//! Operators that copy elements to other positions, and the comparison of whole tensors.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, MemoryFormat, Names, Promoter, Result};

use super::check::{same_device, unequal_sizes};
use super::convert::write_elements;
use super::reduce::{ReduceOptions, reduce};
use super::{Arg, contiguous, gather, nonzero, pointwise};
use crate::call::backend::backend;
use crate::config::default_dtype;
use crate::cpu::index::same_elements;
use crate::dispatch::with_dtype;
use crate::job::MaskJob;
use crate::memory::try_list;
use crate::raw::graph::is_wanted;
use crate::raw::{Raw, strides_in};
use crate::shape::{Shape, broadcast};
use crate::tape::record_join;

#[cold]
fn refuse(kind: ErrorKind, op: Op, operands: &[&Raw], what: impl Into<String>) -> Error {
    operands
        .iter()
        .fold(Error::new(kind, op.name(), what), |error, x| {
            error.operand(&Names::default(), x.shape())
        })
}

/// Joins tensors along a dim. Dtypes promote; elements are converted while they are copied. Tensors of shape `[0]` are
/// ignored, as in PyTorch.
///
/// # Errors
/// If there are no tensors, one has no dims, ranks differ, a dim is out of range, sizes differ in another dim, or
/// memory is missing.
pub fn cat(xs: &[&Raw], dim: usize) -> Result<Raw> {
    let op = Op::Cat;
    let Some(first) = xs.first() else {
        return Err(
            refuse(ErrorKind::Argument, op, xs, "there are no tensors").hint("give at least one")
        );
    };
    same_device(op.name(), xs)?;
    if let Some(at) = xs.iter().position(|x| x.rank() == 0) {
        let what = format!("tensor {at} has no dims to join");
        return Err(refuse(ErrorKind::Rank, op, xs, what)
            .hint("give it one with `unsqueeze`, or use `stack`"));
    }
    let skipped = |x: &Raw| x.shape() == [0];
    let base = *xs.iter().find(|x| !skipped(x)).unwrap_or(first);
    if let Some(at) = xs
        .iter()
        .position(|x| !skipped(x) && x.rank() != base.rank())
    {
        let what = format!(
            "tensor {at} has {} dims, others {}",
            xs[at].rank(),
            base.rank()
        );
        return Err(
            refuse(ErrorKind::Rank, op, xs, what).hint("all tensors have the same number of dims")
        );
    }
    if dim >= base.rank() {
        let what = format!("dim {dim} is out of range for {} dims", base.rank());
        return Err(
            refuse(ErrorKind::Index, op, xs, what).hint("count dims from 0, outermost first")
        );
    }
    let mut shape = Shape::from_slice(base.shape());
    shape[dim] = 0;
    let mut promoter = Promoter::new(default_dtype());
    for (at, &x) in xs.iter().enumerate() {
        promoter.tensor(x.dtype(), x.rank());
        if skipped(x) && base.rank() != 1 {
            continue;
        }
        for (other, (&size, &want)) in x.shape().iter().zip(base.shape()).enumerate() {
            if other != dim && size != want {
                let base = xs.iter().position(|x| std::ptr::eq(*x, base));
                let dims = [(base.unwrap_or(0), other), (at, other)];
                return Err(unequal_sizes(op, xs, dims)
                    .hint("sizes match in every dim but the one the tensors are joined along"));
            }
        }
        shape[dim] = shape[dim].checked_add(x.shape()[dim]).ok_or_else(|| {
            refuse(
                ErrorKind::Shape,
                op,
                xs,
                "the sizes of the joined dim overflow",
            )
            .hint("join fewer tensors")
        })?;
    }
    let strides = strides_in(op.name(), &shape, common_format(xs))?;
    let (dtype, device) = (promoter.result(), first.device());
    let mut out = Raw::empty_strided(op.name(), &shape, strides, dtype, device)?;
    let mut start = 0;
    for &x in xs {
        if x.numel() == 0 {
            continue;
        }
        let len = x.shape()[dim];
        write_elements(out.as_mut()?.narrow(dim, start, len)?, x)?;
        start += len;
    }
    record_join(op, out, xs, dim)
}

/// Returns the memory format that all operands' strides suggest.
fn common_format(xs: &[&Raw]) -> MemoryFormat {
    let mut formats = xs.iter().map(|x| x.layout().suggested_format());
    let first = formats.next().unwrap_or_default();
    if formats.all(|format| format == first) {
        first
    } else {
        MemoryFormat::Contiguous
    }
}

/// Joins tensors of one shape along a new dim at position `dim`.
///
/// # Errors
/// Like [`cat`]; also if sizes differ.
pub fn stack(xs: &[&Raw], dim: usize) -> Result<Raw> {
    if let Some(at) = xs.iter().position(|x| x.shape() != xs[0].shape()) {
        let op = Op::Stack;
        let hint = "all sizes match in `stack`; `cat` joins along a dim";
        let mut both = xs[0].shape().iter().zip(xs[at].shape());
        return Err(match both.position(|(a, b)| a != b) {
            Some(dim) => unequal_sizes(op, xs, [(0, dim), (at, dim)]).hint(hint),
            None => {
                let what = format!("the ranks of tensor {at} and the first differ");
                refuse(ErrorKind::Rank, op, xs, what).hint(hint)
            }
        });
    }
    let in_op = |error: Error| error.in_op("stack");
    match xs.first() {
        // Joins along an existing dim, which is then split: this keeps the operands' dim order in memory.
        Some(first) if dim < first.rank() => {
            let mut shape = Shape::from_slice(first.shape());
            shape.insert(dim, xs.len());
            cat(xs, dim)
                .and_then(|joined| joined.reshape(&shape))
                .map_err(in_op)
        }
        _ => {
            let rows = try_list("stack", xs.iter().map(|x| x.unsqueeze(dim))).map_err(in_op)?;
            let rows = try_list("stack", rows.iter().map(Ok))?;
            cat(&rows, dim).map_err(in_op)
        }
    }
}

/// Returns the elements of `x` where `mask` holds, in row-major order of the broadcast shape.
///
/// # Errors
/// If the mask is not bool, sizes do not broadcast, or memory is missing.
pub fn masked_select(x: &Raw, mask: &Raw) -> Result<Raw> {
    let op = Op::MaskedSelect;
    let operands = [x, mask];
    same_device(op.name(), &operands)?;
    if mask.dtype() != DType::Bool {
        let what = format!("a mask is bool, not {}", mask.dtype());
        return Err(
            refuse(ErrorKind::DType, op, &operands, what).hint("compare, or convert it with `to`")
        );
    }
    let shape = broadcast(op.name(), &[x.shape(), mask.shape()])?;
    let x = x.broadcast_to(op.name(), &shape)?;
    let mask = contiguous(&mask.broadcast_to(op.name(), &shape)?)?;
    if is_wanted([&x]) {
        let places = nonzero(op, &mask.reshape(&[mask.numel()])?)?;
        return gather(op, &x.reshape(&[x.numel()])?, 0, &places.select(1, 0)?);
    }
    // The mask has one byte for each element; the tensor is read in place.
    let job = MaskJob {
        op: op.name(),
        mask: mask.as_ptr().cast(),
        shape: &shape,
    };
    let mut out = Raw::empty(op.name(), &[0], x.dtype(), x.device())?;
    let mut room = |count: usize| {
        out = Raw::empty(op.name(), &[count], x.dtype(), x.device())?;
        Ok(out.fresh_ptr())
    };
    if x.numel() > 0 {
        let (size, strides) = (x.dtype().size(), x.strides());
        let backend = backend(op.name(), x.device())?;
        // SAFETY: the tensor has the mask's shape; the result is fresh and has room for all.
        unsafe { backend.masked_select(&job, x.as_ptr(), size, strides, &mut room)? };
    }
    Ok(out)
}

/// Returns whether sizes and elements are equal; NaN equals nothing.
///
/// # Errors
/// If dtypes differ, or memory is missing.
pub fn equal(a: &Raw, b: &Raw) -> Result<bool> {
    let op = Op::Equal;
    let operands = [a, b];
    same_device(op.name(), &operands)?;
    if a.dtype() != b.dtype() {
        let what = format!("dtypes {} and {} differ", a.dtype(), b.dtype());
        return Err(refuse(ErrorKind::DType, op, &operands, what).hint("convert one with `to`"));
    }
    if a.shape() != b.shape() {
        return Ok(false);
    }
    let dense = with_dtype!(a.dtype(), T => match (a.as_slice::<T>(), b.as_slice::<T>()) {
        (Some(a), Some(b)) => Some(same_elements(a, b)),
        _ => None,
    });
    if let Some(equal) = dense {
        return Ok(equal);
    }
    let each =
        pointwise(Op::Eq, &[Arg::Tensor(a), Arg::Tensor(b)]).map_err(|e| e.in_op("equal"))?;
    let dims: crate::SmallVec<[usize; 8]> = (0..each.rank()).collect();
    Ok(
        reduce(Op::All, &each, &dims, false, ReduceOptions::default())?
            .item()?
            .to_bool(),
    )
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
