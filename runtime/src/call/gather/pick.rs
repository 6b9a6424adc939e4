//! Gathers: reading at indices.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::indices::{
    DIMS, JobOperand, along, bounds, checked, flat, from_start, refuse, repeated, same_device,
    same_rank, spliced,
};
use super::update::scatter_checked;
use crate::call::backend::backend;
use crate::call::{Arg, contiguous, full, pointwise, to_dtype};
use crate::job::{Counted, Place, Unchecked, Update};
use crate::raw::Raw;
use crate::shape::Shape;
use crate::tape::{Addressing, DimIndex, record_gather};

/// Returns the slices of `x` at the indices of a dim; the index's dims replace the dim.
///
/// # Errors
/// If an index is out of range or no i32 or i64, or memory is missing.
pub fn index_select(op: Op, x: &Raw, dim: usize, index: &Raw) -> Result<Raw> {
    same_device(op, x.device(), index)?;
    let whole = (dim, index);
    let (index, unchecked) = checked(op, x.shape(), dim, index, false)?;
    let shape: Shape = spliced(x.shape(), dim, index.shape());
    let mut out = Raw::empty(op.name(), &shape, x.dtype(), x.device())?;
    let picked = |out| record_gather(op, Addressing::Slices, out, x, whole.0, whole.1);
    if out.numel() == 0 {
        return picked(out);
    }
    let merged: Shape = spliced(x.shape(), dim, &[index.numel()]);
    let index = repeated(op, &flat(&index)?, &merged, dim)?;
    let to = Place {
        ptr: out.fresh_ptr(),
        dtype: out.dtype(),
    };
    let strides = crate::shape::row_major(&merged);
    let other = JobOperand {
        place: to,
        strides: &strides,
    };
    let (dim, index) = ((dim, x.shape()[dim]), (&index, unchecked));
    let job = along(op, &merged, dim, &JobOperand::read(x), &other, index);
    // SAFETY: a whole operand, a fresh result, and indices that were checked or will be.
    unsafe { backend(op.name(), x.device())?.pick(&job)? };
    picked(out)
}

/// Returns for each element of the index the element of `x` at the same position, except in `dim`, where the index
/// gives the position. Both have the same number of dims, at least one.
///
/// # Errors
/// If an index is out of range, no i32 or i64, of another rank, or larger than `x` in another dim, or memory is
/// missing.
pub fn gather(op: Op, x: &Raw, dim: usize, index: &Raw) -> Result<Raw> {
    same_device(op, x.device(), index)?;
    same_rank(op, x.shape(), index)?;
    let larger = |(at, (&index, &own)): (usize, (&usize, &usize))| at != dim && index > own;
    let sizes = index.shape().iter().zip(x.shape()).enumerate();
    if let Some((at, _)) = sizes.clone().find(|&dim| larger(dim)) {
        return Err(
            Error::sizes(op.name(), [x.shape(), index.shape()], [(0, at), (1, at)])
                .hint("narrow the index: it may be larger only in the gathered dim"),
        );
    }
    let whole = (dim, index);
    let (index, unchecked) = checked(op, x.shape(), dim, index, false)?;
    let mut out = Raw::empty(op.name(), index.shape(), x.dtype(), x.device())?;
    let picked = |out| record_gather(op, Addressing::Elements, out, x, whole.0, whole.1);
    if out.numel() == 0 {
        return picked(out);
    }
    let to = Place {
        ptr: out.fresh_ptr(),
        dtype: out.dtype(),
    };
    let other = JobOperand {
        place: to,
        strides: out.strides(),
    };
    let (shape, dim) = (index.shape(), (dim, x.shape()[dim]));
    let job = along(
        op,
        shape,
        dim,
        &JobOperand::read(x),
        &other,
        (&index, unchecked),
    );
    // SAFETY: as in `index_select`; the index stays within the other dims.
    unsafe { backend(op.name(), x.device())?.pick(&job)? };
    picked(out)
}

impl DimIndex {
    /// Returns the elements of `x` at the index.
    ///
    /// # Errors
    /// The errors of [`gather`] and [`index_select`].
    pub(crate) fn pick(&self, x: &Raw) -> Result<Raw> {
        match self.addressing {
            Addressing::Elements => gather(self.op, x, self.dim, &self.index),
            Addressing::Slices => index_select(self.op, x, self.dim, &self.index),
        }
    }
}

/// Returns the elements at row-major positions.
///
/// # Errors
/// Like [`index_select`].
pub fn take(x: &Raw, index: &Raw) -> Result<Raw> {
    let all = x.reshape(&[x.numel()])?;
    index_select(Op::Take, &all, 0, index)
}

/// Returns rows of zeros with a one at the index, along a new last dim of size `classes`.
///
/// # Errors
/// If an index is out of range or no integer, or memory is missing.
pub fn one_hot(index: &Raw, classes: usize) -> Result<Raw> {
    let op = Op::OneHot;
    if !index.dtype().is_integral() || index.dtype() == DType::Bool {
        let what = format!("an index of {}", index.dtype());
        return Err(refuse(ErrorKind::DType, op, &[index.shape()], what)
            .hint("indices are integers: convert it with `to`"));
    }
    let mut at = contiguous(&to_dtype(index, DType::I64)?)?.unsqueeze(index.rank())?;
    let unchecked = Unchecked {
        op,
        counted: Counted::Classes,
        size: classes,
        shapes: [index.shape().into(), index.shape().into()],
    };
    let unchecked = if at.device().is_cpu() {
        if let Some((low, high)) = bounds(&at)?
            && (low < 0 || high >= i64::try_from(classes).unwrap_or(i64::MAX))
        {
            return Err(unchecked.error(if low < 0 { low } else { high }));
        }
        None
    } else if at.rank() > DIMS {
        at = from_start(&at, &unchecked)?;
        None
    } else {
        Some(unchecked)
    };
    let mut shape = Shape::from_slice(index.shape());
    shape.push(classes);
    let mut out = Raw::zeros(op.name(), &shape, DType::I64, index.device())?;
    if out.numel() == 0 {
        return Ok(out);
    }
    let one = full(&[], Scalar::Int(1), DType::I64, index.device())?.expand(at.shape())?;
    let at = (&at, unchecked);
    scatter_checked(op, out.as_mut()?, index.rank(), at, &one, Update::Set)?;
    Ok(out)
}

/// Returns the greatest class of an index plus one.
///
/// # Errors
/// [`ErrorKind::Argument`] if the index is empty.
pub fn classes(index: &Raw) -> Result<usize> {
    let none = || {
        Error::new(
            ErrorKind::Argument,
            "one_hot",
            "the number of classes is unknown",
        )
        .hint("give `num_classes`")
    };
    let index = to_dtype(index, DType::I64)?;
    let (_, high) = bounds(&index)?.ok_or_else(none)?;
    Ok(usize::try_from(high.saturating_add(1)).unwrap_or(0))
}

/// Converts row-major positions in a shape to one index for each of its dims.
///
/// # Errors
/// If a position is out of range or no integer, or memory is missing.
pub fn unravel(index: &Raw, shape: &[usize]) -> Result<Vec<Raw>> {
    let op = Op::UnravelIndex;
    let count = crate::shape::numel(op.name(), shape)?;
    if !index.dtype().is_integral() || index.dtype() == DType::Bool {
        let what = format!("positions of {}", index.dtype());
        return Err(refuse(ErrorKind::DType, op, &[index.shape()], what)
            .hint("positions are integers: convert them with `to`"));
    }
    let index = contiguous(&to_dtype(index, DType::I64)?)?;
    let unchecked = Unchecked {
        op,
        counted: Counted::Elements,
        size: count,
        shapes: [shape.into(), index.shape().into()],
    };
    let limit = count as i64;
    if index.device().is_cpu()
        && let Some((low, high)) = bounds(&index)?
        && (low < -limit || high >= limit)
    {
        return Err(unchecked.error(if high >= limit { high } else { low }));
    }
    let mut left = from_start(&index, &unchecked)?;
    let mut found = Vec::with_capacity(shape.len());
    for &size in shape.iter().rev() {
        let size = Arg::Scalar(Scalar::Int(size.max(1) as i64));
        found.push(pointwise(Op::Remainder, &[Arg::Tensor(&left), size])?);
        left = pointwise(Op::FloorDivide, &[Arg::Tensor(&left), size])?;
    }
    found.reverse();
    Ok(found)
}
