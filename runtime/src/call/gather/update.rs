//! Scatters: writing at indices.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result};

use super::indices::{
    JobOperand, along, checked, flat, refuse, repeated, same_device, same_dtype, same_rank, spliced,
};
use crate::call::assign::assign;
use crate::call::backend::backend;
use crate::call::check;
use crate::call::{contiguous, copy_into, to_dtype};
use crate::cpu::gather::takes;
use crate::dispatch::accumulator;
use crate::job::{IndexJob, Place, Unchecked, Update};
use crate::raw::graph::is_wanted;
use crate::raw::{Raw, RawMut};
use crate::shape::Shape;
use crate::tape::{Addressing, DimIndex, record_scatter};

/// The number of values for each position above which a device adds in any order.
const MANY: usize = 64;

/// Checks that values can be combined like this: complex numbers have no order.
fn check_update(op: Op, dest: &RawMut<'_>, how: Update) -> Result<()> {
    if takes(how, dest.dtype()) {
        return Ok(());
    }
    let what = format!("{} has no order", dest.dtype());
    Err(refuse(ErrorKind::DType, op, &[dest.shape()], what).hint("use `abs` first"))
}

pub(super) fn write(op: Op, dest: &RawMut<'_>, job: &IndexJob, how: Update) -> Result<()> {
    // SAFETY: the target is exclusive, so that the values cannot share its buffer; all positions of the job were
    // checked.
    unsafe { backend(op.name(), dest.device())?.update(job, how) }
}

/// Writes the values of `src` to `dest` at the index along `dim`. All three have the same number of dims, at least one;
/// only the part of `src` that the index covers is read.
///
/// # Errors
/// If an index is out of range, no i32 or i64, or larger than a tensor in another dim, or values have another dtype.
/// Nothing is written then.
pub fn scatter(
    op: Op,
    dest: RawMut<'_>,
    dim: usize,
    index: &Raw,
    src: &Raw,
    how: Update,
) -> Result<()> {
    if dest.records([src]) {
        let index = index.clone();
        let addressing = Addressing::Elements;
        return assign(op.name(), dest, |x| {
            DimIndex {
                op,
                addressing,
                dim,
                index,
            }
            .update(x.clone(), src, how)
        });
    }
    same_device(op, dest.device(), index)?;
    same_device(op, dest.device(), src)?;
    same_dtype(op, (dest.shape(), dest.dtype()), src)?;
    check_update(op, &dest, how)?;
    same_rank(op, dest.shape(), index)?;
    same_rank(op, src.shape(), index)?;
    let sizes = |of: &[usize]| -> Option<usize> {
        let each = index.shape().iter().zip(of).enumerate();
        each.map(|(at, (&index, &size))| (at, index > size))
            .find_map(|(at, larger)| larger.then_some(at))
    };
    let shapes = [dest.shape(), index.shape(), src.shape()];
    if let Some(at) = sizes(src.shape()) {
        return Err(Error::sizes(op.name(), shapes, [(1, at), (2, at)])
            .hint("narrow the index, or give more values"));
    }
    let mut own = Shape::from_slice(dest.shape());
    // The check of the index also checks that this dim exists.
    own.iter_mut()
        .skip(dim)
        .take(1)
        .for_each(|size| *size = usize::MAX);
    if let Some(at) = sizes(&own) {
        return Err(Error::sizes(op.name(), shapes, [(0, at), (1, at)])
            .hint("narrow the index: it may be larger only in the scattered dim"));
    }
    let (index, unchecked) = checked(op, dest.shape(), dim, index, false)?;
    scatter_checked(op, dest, dim, (&index, unchecked), src, how)
}

/// Writes the slices of `src` to the indices of a dim. The index's dims replace `dim` in `src`, which broadcasts to
/// that if `spread` is set. An index without dims counts as a dim of size 1.
///
/// # Errors
/// If an index is out of range or no i32 or i64, or sizes or the dtype do not match. Nothing is written then.
pub fn index_update(
    op: Op,
    dest: RawMut<'_>,
    dim: usize,
    index: &Raw,
    src: &Raw,
    how: Update,
    spread: bool,
) -> Result<()> {
    let index = if index.rank() == 0 {
        index.unsqueeze(0)?
    } else {
        index.clone()
    };
    if dest.records([src]) {
        check::dim(op.name(), dest.shape(), dim)?;
        let wanted: Shape = spliced(dest.shape(), dim, index.shape());
        let src = if spread {
            src.broadcast_to(op.name(), &wanted)?
        } else {
            src.clone()
        };
        let addressing = Addressing::Slices;
        return assign(op.name(), dest, |x| {
            DimIndex {
                op,
                addressing,
                dim,
                index,
            }
            .update(x.clone(), &src, how)
        });
    }
    same_device(op, dest.device(), &index)?;
    let (checked, unchecked) = checked(op, dest.shape(), dim, &index, false)?;
    let wanted: Shape = spliced(dest.shape(), dim, index.shape());
    let merged: Shape = spliced(dest.shape(), dim, &[index.numel()]);
    let src = if spread {
        src.broadcast_to(op.name(), &wanted)?
    } else if src.shape() == &wanted[..] {
        src.clone()
    } else {
        let shapes = [dest.shape(), index.shape(), src.shape()];
        let mut both = wanted.iter().zip(src.shape());
        let apart = both.position(|(wanted, own)| wanted != own);
        let error = match apart.filter(|_| wanted.len() == src.rank()) {
            Some(i) => {
                let from = match i.checked_sub(dim) {
                    None => (0, i),
                    Some(at) if at < index.rank() => (1, at),
                    Some(_) => (0, i + 1 - index.rank()),
                };
                Error::sizes(op.name(), shapes, [from, (2, i)])
            }
            None => {
                let what = format!("values of sizes {:?}, expected {wanted:?}", src.shape());
                refuse(ErrorKind::Shape, op, &shapes, what)
            }
        };
        return Err(error.hint("the values need the index's sizes in place of the dim's"));
    };
    let src = if index.rank() == 1 {
        src
    } else {
        src.reshape(&merged)?
    };
    let index = repeated(op, &flat(&checked)?, &merged, dim)?;
    scatter_checked(op, dest, dim, (&index, unchecked), &src, how)
}

/// Like [`scatter`], with an index that was checked or that the device checks.
pub(super) fn scatter_checked(
    op: Op,
    mut dest: RawMut<'_>,
    dim: usize,
    (index, unchecked): (&Raw, Option<Unchecked>),
    src: &Raw,
    how: Update,
) -> Result<()> {
    same_device(op, dest.device(), src)?;
    same_dtype(op, (dest.shape(), dest.dtype()), src)?;
    check_update(op, &dest, how)?;
    if index.numel() == 0 {
        return Ok(());
    }
    let size = dest.shape()[dim];
    let wide = accumulator(dest.dtype());
    if is_atomic(&dest, index, dim, how) && wide != dest.dtype() {
        // A device adds many values at one position in any order, so that sums need a wider dtype.
        let mut sums = to_dtype(&dest.value()?, wide)?;
        let at = (index, unchecked);
        scatter_checked(op, sums.as_mut()?, dim, at, &to_dtype(src, wide)?, how)?;
        return copy_into(dest, &sums);
    }
    let strides = crate::shape::Strides::from_slice(dest.strides());
    let target = JobOperand {
        place: Place {
            ptr: dest.as_mut_ptr(),
            dtype: dest.dtype(),
        },
        strides: &strides,
    };
    let (shape, at) = (index.shape(), (index, unchecked));
    let job = along(op, shape, (dim, size), &target, &JobOperand::read(src), at);
    write(op, &dest, &job, how)
}

/// Whether a device adds values in no fixed order: if each element has an index, or positions get very many values.
fn is_atomic(dest: &RawMut<'_>, index: &Raw, dim: usize, how: Update) -> bool {
    let rows = (0..index.rank()).all(|at| at == dim || index.strides()[at] == 0);
    let (count, size) = (index.shape()[dim], dest.shape()[dim]);
    let long = count > MANY.saturating_mul(size);
    how == Update::Add && !dest.device().is_cpu() && count > 1 && (!rows || long)
}

impl DimIndex {
    /// Updates `x` with `src` at the index; the result is recorded if one of them requires a gradient.
    ///
    /// # Errors
    /// The errors of [`scatter`] and [`index_update`].
    pub(crate) fn update(&self, x: Raw, src: &Raw, how: Update) -> Result<Raw> {
        // The recorded operand is cloned, so that elements are written without its node.
        let recorded = is_wanted([&x, src]).then(|| x.clone());
        let mut out = x.detach();
        let plain = src.clone().detach();
        let (op, dim, index) = (self.op, self.dim, &self.index);
        let dest = out.as_mut()?;
        match self.addressing {
            Addressing::Elements => scatter(op, dest, dim, index, &plain, how)?,
            Addressing::Slices => index_update(op, dest, dim, index, &plain, how, false)?,
        }
        match &recorded {
            Some(x) => record_scatter(self, how, out, [x, src]),
            None => Ok(out),
        }
    }
}

/// Writes values to row-major positions. There are as many values as positions.
///
/// # Errors
/// Like [`scatter`].
pub fn put(op: Op, own: &mut Raw, index: &Raw, src: &Raw, how: Update) -> Result<()> {
    if index.numel() != src.numel() {
        let what = format!("{} values for {} positions", src.numel(), index.numel());
        let shapes = [own.shape(), index.shape(), src.shape()];
        return Err(
            refuse(ErrorKind::Shape, op, &shapes, what).hint("give one value for each position")
        );
    }
    let (index, src) = (flat(index)?, flat(src)?);
    let count = own.numel();
    if own.is_contiguous() {
        let dest = own.as_mut()?.view(&[count])?;
        return index_update(op, dest, 0, &index, &src, how, false);
    }
    let mut dense = contiguous(own)?;
    let dest = dense.as_mut()?.view(&[count])?;
    index_update(op, dest, 0, &index, &src, how, false)?;
    copy_into(own.as_mut()?, &dense)
}
