//! Copies and conversions.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, MemoryFormat, Names, Result, Scalar, rule};

use super::grad::{Converted, assign, assign_number, recorded};
use super::reduce::address;
use crate::call::backend::backend;
use crate::job::Place;
use crate::plan::Plan;
use crate::raw::{Raw, RawMut, preserved, strides_in, strides_like};
use crate::shape::Strides;

/// Itself when row-major without gaps, else a row-major copy.
///
/// # Errors
/// When memory is missing.
pub fn contiguous(x: &Raw) -> Result<Raw> {
    if x.is_contiguous() {
        return Ok(x.clone());
    }
    let mut out = Raw::empty("contiguous", x.shape(), x.dtype(), x.device())?;
    written(out.as_mut()?, x)?;
    recorded(out, [x], |_| Ok(Converted::new("contiguous", x)))
}

/// Elements that stand for those of `x`, whose gradient goes on to `x` as it is.
///
/// # Errors
/// When they have other sizes, or another dtype or device, than `x`; when memory is missing.
pub fn in_place_of(op: Op, elements: Raw, x: &Raw) -> Result<Raw> {
    let like = elements.shape() == x.shape() && elements.dtype() == x.dtype();
    if !like || elements.device() != x.device() {
        let what =
            "elements of other sizes, or of another dtype or device, than those they stand for";
        return Err(Error::new(ErrorKind::Shape, op.name(), what)
            .operand(&Names::default(), elements.shape())
            .operand(&Names::default(), x.shape())
            .hint("give elements like them"));
    }
    recorded(elements, [x], |_| Ok(Converted::new(op.name(), x)))
}

/// A dense copy in a buffer of its own, its dims in the same order.
///
/// # Errors
/// When memory is missing.
pub fn duplicate(x: &Raw) -> Result<Raw> {
    convert("clone", x, x.dtype())
}

/// The elements as another dtype; itself when that is theirs.
///
/// # Errors
/// When memory is missing.
pub fn to_dtype(x: &Raw, dtype: DType) -> Result<Raw> {
    if x.dtype() == dtype {
        Ok(x.clone())
    } else {
        convert("to", x, dtype)
    }
}

fn convert(op: &'static str, x: &Raw, dtype: DType) -> Result<Raw> {
    copied(op, x, dtype, preserved(x))
}

pub(super) fn copied(op: &'static str, x: &Raw, dtype: DType, strides: Strides) -> Result<Raw> {
    let out = unrecorded(op, x, dtype, strides)?;
    recorded(out, [x], |_| Ok(Converted::new(op, x)))
}

fn unrecorded(op: &'static str, x: &Raw, dtype: DType, strides: Strides) -> Result<Raw> {
    let mut out = Raw::empty_strided(op, x.shape(), strides, dtype, x.device())?;
    if out.strides() != x.strides() || !x.layout().is_dense() {
        written(out.as_mut()?, x)?;
        return Ok(out);
    }
    // Both lie alike: one element after the other, whatever the dims.
    let place = Place {
        ptr: address(&mut out),
        dtype,
    };
    let source = Place {
        ptr: x.as_ptr().cast_mut(),
        dtype: x.dtype(),
    };
    let operands: [(&[isize], usize); 2] = [(&[1], dtype.size()), (&[1], source.dtype.size())];
    let plan = Plan::new(&[x.numel()], &operands);
    // SAFETY: all elements of a tensor without gaps, and a new buffer that is as long.
    unsafe { backend(op, x.device())?.copy(&plan, place, source)? };
    Ok(out)
}

/// Itself when its elements lie in a format without gaps, else a copy in that format.
///
/// # Errors
/// When the format is for another number of dims, or memory is missing.
pub fn contiguous_in(x: &Raw, format: MemoryFormat) -> Result<Raw> {
    if x.layout().is_in(format) {
        return Ok(x.clone());
    }
    let strides = strides_in("contiguous", x.shape(), format)?;
    copied("contiguous", x, x.dtype(), strides)
}

/// A dense tensor of the same elements in a format. Elements are shared where they lie so already.
///
/// # Errors
/// When the format is for another number of dims, or memory is missing.
pub fn clone_in(x: &Raw, format: MemoryFormat) -> Result<Raw> {
    let strides = strides_like("clone", x, format)?;
    if x.strides() == &strides[..] {
        return Ok(x.clone());
    }
    copied("clone", x, x.dtype(), strides)
}

/// The elements as another dtype and in a format; itself when it is so.
///
/// # Errors
/// When the format is for another number of dims, or memory is missing.
pub fn to_in(x: &Raw, dtype: DType, format: MemoryFormat) -> Result<Raw> {
    let kept = format == MemoryFormat::Preserve || format == x.layout().suggested_format();
    if x.dtype() == dtype && kept {
        return Ok(x.clone());
    }
    copied("to", x, dtype, strides_like("to", x, format)?)
}

/// Writes the elements of `src`, broadcast to `dest`'s shape and cast to its dtype.
///
/// # Errors
/// When `src` does not broadcast to `dest`, or lies on another device and has dims.
pub fn copy_into(dest: RawMut<'_>, src: &Raw) -> Result<()> {
    if dest.records([src]) {
        return assign("copy", dest, |_| Ok(src.clone()));
    }
    written(dest, src)
}

/// Copies elements, whatever is recorded of them.
pub(super) fn written(mut dest: RawMut<'_>, src: &Raw) -> Result<()> {
    if dest.device() != src.device() {
        if src.device().is_cpu() && src.rank() == 0 {
            return fill(dest, src.item()?);
        }
        let what = format!("from `{}` to `{}`", src.device(), dest.device());
        return Err(Error::new(ErrorKind::Device, "copy", what)
            .hint("move the source with `to_device` first"));
    }
    let layout = src.layout().expand(dest.shape()).map_err(|error| {
        let refused = rule::broadcast_into("copy", dest.shape(), src.shape()).err();
        refused.unwrap_or(error)
    })?;
    let place = Place {
        ptr: dest.as_mut_ptr(),
        dtype: dest.dtype(),
    };
    let source = Place {
        ptr: src.as_ptr().cast_mut(),
        dtype: src.dtype(),
    };
    let operands = [
        (dest.strides(), place.dtype.size()),
        (layout.strides(), source.dtype.size()),
    ];
    let plan = Plan::new(dest.shape(), &operands);
    // SAFETY: the plan holds the positions of two tensors of one device; `dest` is exclusive, so
    // that `src` cannot share its buffer, and no two of its positions are the same.
    unsafe { backend("copy", src.device())?.copy(&plan, place, source) }
}

/// As [`copy_into`], from whatever device `src` lies on.
///
/// # Errors
/// When `src` does not broadcast to `dest`, or memory is missing.
pub fn copy_across(dest: RawMut<'_>, src: &Raw) -> Result<()> {
    if dest.device() == src.device() {
        return copy_into(dest, src);
    }
    rule::broadcast_into("copy", dest.shape(), src.shape())?;
    let src = super::to_device(src, dest.device())?;
    copy_into(dest, &src)
}

/// Writes one number everywhere, cast to the dtype.
///
/// # Errors
/// When the device is missing.
pub fn fill(mut dest: RawMut<'_>, value: Scalar) -> Result<()> {
    if dest.records([]) {
        return assign_number("fill", dest, value);
    }
    let place = Place {
        ptr: dest.as_mut_ptr(),
        dtype: dest.dtype(),
    };
    let zeros = Strides::from_elem(0, dest.rank());
    let plan = Plan::new(
        dest.shape(),
        &[(dest.strides(), place.dtype.size()), (&zeros, 0)],
    );
    // SAFETY: the plan holds the positions of `dest`, which is exclusive.
    unsafe { backend("fill", dest.device())?.fill(&plan, place, value) }
}
