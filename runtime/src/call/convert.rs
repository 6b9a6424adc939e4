//! Conversions: to another dtype or memory order.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, MemoryFormat, Names, Result, Scalar, rule};

use crate::call::backend::backend;
use crate::job::Place;
use crate::plan::Plan;
use crate::raw::{Raw, RawMut, preserved, strides_in, strides_like};
use crate::shape::Strides;
use crate::tape::record_conversion;

/// Returns the tensor if it is row-major without gaps, else a row-major copy.
///
/// # Errors
/// If memory is missing.
pub fn contiguous(x: &Raw) -> Result<Raw> {
    if x.is_contiguous() {
        return Ok(x.clone());
    }
    let mut out = Raw::empty("contiguous", x.shape(), x.dtype(), x.device())?;
    write_elements(out.as_mut()?, x)?;
    record_conversion("contiguous", out, x)
}

/// Returns `elements` in place of those of `x`; their gradient is passed on to `x`.
///
/// # Errors
/// If their sizes, dtype or device differ from those of `x`, or memory is missing.
pub fn in_place_of(op: Op, elements: Raw, x: &Raw) -> Result<Raw> {
    let like = elements.shape() == x.shape() && elements.dtype() == x.dtype();
    if !like || elements.device() != x.device() {
        let what = "the sizes, dtype or device of elements differ from those they replace";
        return Err(Error::new(ErrorKind::Shape, op.name(), what)
            .operand(&Names::default(), elements.shape())
            .operand(&Names::default(), x.shape())
            .hint("give equal ones"));
    }
    record_conversion(op.name(), elements, x)
}

/// Returns a dense copy in a new buffer, with its dims in the same memory order.
///
/// # Errors
/// If memory is missing.
pub fn duplicate(x: &Raw) -> Result<Raw> {
    convert("clone", x, x.dtype())
}

/// Converts the elements to another dtype; returns the tensor itself if it has that dtype.
///
/// # Errors
/// If memory is missing.
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
    record_conversion(op, out, x)
}

fn unrecorded(op: &'static str, x: &Raw, dtype: DType, strides: Strides) -> Result<Raw> {
    let mut out = Raw::empty_strided(op, x.shape(), strides, dtype, x.device())?;
    if out.strides() != x.strides() || !x.layout().is_dense() {
        write_elements(out.as_mut()?, x)?;
        return Ok(out);
    }
    // Both have one memory order, so that they are copied as one run of elements.
    let place = Place {
        ptr: out.fresh_ptr(),
        dtype,
    };
    let source = Place {
        ptr: x.as_ptr().cast_mut(),
        dtype: x.dtype(),
    };
    let operands: [(&[isize], usize); 2] = [(&[1], dtype.size()), (&[1], source.dtype.size())];
    let plan = Plan::new(&[x.numel()], &operands);
    // SAFETY: all elements of a tensor without gaps, and a new buffer of equal length.
    unsafe { backend(op, x.device())?.copy(&plan, place, source)? };
    Ok(out)
}

/// Returns the tensor if it is in a memory format without gaps, else a copy in that format.
///
/// # Errors
/// If the format is for another number of dims, or memory is missing.
pub fn contiguous_in(x: &Raw, format: MemoryFormat) -> Result<Raw> {
    if x.layout().is_in(format) {
        return Ok(x.clone());
    }
    let strides = strides_in("contiguous", x.shape(), format)?;
    copied("contiguous", x, x.dtype(), strides)
}

/// Returns a dense tensor of the same elements in a memory format. Elements are shared if they are in that format.
///
/// # Errors
/// If the format is for another number of dims, or memory is missing.
pub fn clone_in(x: &Raw, format: MemoryFormat) -> Result<Raw> {
    let strides = strides_like("clone", x, format)?;
    if x.strides() == &strides[..] {
        return Ok(x.clone());
    }
    copied("clone", x, x.dtype(), strides)
}

/// Converts the elements to another dtype and memory format; returns the tensor itself if it has both.
///
/// # Errors
/// If the format is for another number of dims, or memory is missing.
pub fn to_in(x: &Raw, dtype: DType, format: MemoryFormat) -> Result<Raw> {
    let kept = format == MemoryFormat::Preserve || format == x.layout().suggested_format();
    if x.dtype() == dtype && kept {
        return Ok(x.clone());
    }
    copied("to", x, dtype, strides_like("to", x, format)?)
}

/// Writes the elements of `src` without recording it.
pub(super) fn write_elements(mut dest: RawMut<'_>, src: &Raw) -> Result<()> {
    if dest.device() != src.device() {
        if src.device().is_cpu() && src.rank() == 0 {
            return fill_elements(dest, src.item()?);
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
    // SAFETY: the plan holds the positions of two tensors of one device; `dest` is exclusive, so that `src` cannot
    // share its buffer, and its positions are distinct.
    unsafe { backend("copy", src.device())?.copy(&plan, place, source) }
}

/// Writes one number everywhere, cast to the dtype, without recording it.
pub(super) fn fill_elements(mut dest: RawMut<'_>, value: Scalar) -> Result<()> {
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
