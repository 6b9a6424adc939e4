//! Elements moved, repeated and rearranged.

mod complex;
mod diagonal;
mod places;
mod range;
mod split;

#[cfg(test)]
mod tests;

use nomina_core::{Error, ErrorKind, Names, Result};

use super::{check, copy_into};
use crate::plan::result_strides;
use crate::raw::Raw;
use crate::shape::Shape;

pub use complex::{as_complex, as_real, imag, join_parts, real};
pub use diagonal::{diagonal_matrix, triangle, triangle_in_place, triangle_indices};
pub use places::repeated_places;
pub use range::{Window, frequencies, linspace, logspace, window};
pub use split::{Ranges, chunks, cuts, sections};

/// Reverses dims.
///
/// # Errors
/// If a dim is out of range, or memory is missing.
pub fn flip(x: &Raw, dims: &[usize]) -> Result<Raw> {
    let mut source = x.clone();
    for &dim in dims {
        source = source.flip(dim)?;
    }
    let strides = result_strides(x.shape(), &[x.strides()]);
    let mut out = Raw::empty_strided("flip", x.shape(), strides, x.dtype(), x.device())?;
    copy_into(out.as_mut()?, &source)?;
    Ok(out)
}

/// Rotates elements along a dim; towards the front if `shift` is negative.
///
/// # Errors
/// If the dim is out of range, or memory is missing.
pub fn roll(x: &Raw, shift: i64, dim: usize) -> Result<Raw> {
    check::dim("roll", x.shape(), dim)?;
    let size = x.shape()[dim];
    let mut out = Raw::empty("roll", x.shape(), x.dtype(), x.device())?;
    if x.numel() == 0 {
        return Ok(x.clone());
    }
    // Below the size, which fits an isize.
    let ahead = shift.rem_euclid(size as i64) as usize;
    copy_into(
        out.as_mut()?.narrow(dim, ahead, size - ahead)?,
        &x.narrow(dim, 0, size - ahead)?,
    )?;
    if ahead > 0 {
        copy_into(
            out.as_mut()?.narrow(dim, 0, ahead)?,
            &x.narrow(dim, size - ahead, ahead)?,
        )?;
    }
    Ok(out)
}

/// Repeats everything, `counts[i]` times along dim `i`; more counts than dims add new dims on the left.
///
/// # Errors
/// If there are fewer counts than dims, the sizes overflow, or memory is missing.
pub fn repeat(op: &'static str, x: &Raw, counts: &[usize]) -> Result<Raw> {
    let Some(new) = counts.len().checked_sub(x.rank()) else {
        let what = format!("{} counts for {} dims", counts.len(), x.rank());
        return Err(Error::new(ErrorKind::Rank, op, what)
            .operand(&Names::default(), x.shape())
            .hint("give a count per dim"));
    };
    let sizes = std::iter::repeat_n(1, new).chain(x.shape().iter().copied());
    let mut shape = Shape::new();
    // Each dim becomes two: the repetition and the position.
    let (mut cut, mut once) = (Shape::new(), x.clone());
    for (dim, (size, &count)) in sizes.zip(counts).enumerate() {
        shape.push(times(op, x, size, count)?);
        once = once.unsqueeze(cut.len())?;
        if dim < new {
            once = once.unsqueeze(cut.len() + 1)?;
        }
        cut.extend_from_slice(&[count, size]);
    }
    let mut out = Raw::empty(op, &shape, x.dtype(), x.device())?;
    copy_into(out.as_mut()?.view(&cut)?, &once)?;
    Ok(out)
}

/// Repeats each element of a dim `count` times.
///
/// # Errors
/// If the dim is out of range, the size overflows, or memory is missing.
pub fn interleave(op: &'static str, x: &Raw, dim: usize, count: usize) -> Result<Raw> {
    check::dim(op, x.shape(), dim)?;
    let source = x.unsqueeze(dim + 1)?;
    let mut shape = Shape::from_slice(x.shape());
    shape[dim] = times(op, x, shape[dim], count)?;
    let mut cut = Shape::from_slice(x.shape());
    cut.insert(dim + 1, count);
    let mut out = Raw::empty(op, &shape, x.dtype(), x.device())?;
    copy_into(out.as_mut()?.view(&cut)?, &source)?;
    Ok(out)
}

fn times(op: &'static str, x: &Raw, size: usize, count: usize) -> Result<usize> {
    size.checked_mul(count).ok_or_else(|| {
        let what = format!("size {size} repeated {count} times overflows");
        Error::new(ErrorKind::Shape, op, what)
            .operand(&Names::default(), x.shape())
            .hint("use smaller counts")
    })
}

/// Returns windows of `size` elements that start `step` apart along a dim, with the dim within a window last. A tensor
/// without dims has one window with its number.
///
/// # Errors
/// If a window is larger than the dim, or `step` is zero.
pub fn windows(x: &Raw, dim: Option<usize>, size: usize, step: usize) -> Result<Raw> {
    match dim {
        Some(dim) => x.windows(dim, size, step),
        None => x.unsqueeze(0)?.windows(0, size, step)?.select(0, 0),
    }
}
