//! Complex numbers as pairs of real ones, and back: the same buffer as another dtype.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use crate::call::check::same_device;
use crate::call::copy_into;
use crate::raw::Raw;
use crate::shape::{Shape, broadcast, product, scaled_stride};
use crate::tape::{record_view_as_complex, record_view_as_real};

/// Returns the dtype of a complex dtype's parts.
fn part(dtype: DType) -> Option<DType> {
    dtype.is_complex().then(|| dtype.to_real())
}

#[cold]
fn refuse(kind: ErrorKind, op: &'static str, x: &Raw, what: String, hint: &str) -> Error {
    Error::new(kind, op, what)
        .operand(&Names::default(), x.shape())
        .hint(hint.to_owned())
}

/// Views complex numbers as pairs, in a new last dim of size 2.
///
/// # Errors
/// [`ErrorKind::DType`] for a real tensor.
pub fn as_real(x: &Raw) -> Result<Raw> {
    parts("view_as_real", x)
}

fn parts(op: &'static str, x: &Raw) -> Result<Raw> {
    let Some(dtype) = part(x.dtype()) else {
        let what = format!("the elements are {}, not complex", x.dtype());
        return Err(refuse(
            ErrorKind::DType,
            op,
            x,
            what,
            "real numbers have one part",
        ));
    };
    let shape = x.shape().iter().copied().chain([2]).collect();
    let strides = x.strides().iter().map(|&stride| scaled_stride(stride, 2));
    let strides = strides.chain([1]).collect();
    let view = x.as_strided(op, dtype, shape, strides, product([x.offset(), 2]))?;
    record_view_as_real(Op::ViewAsReal, view, x)
}

/// Views the real parts; returns a real tensor itself.
///
/// # Errors
/// None that a caller could cause.
pub fn real(x: &Raw) -> Result<Raw> {
    if !x.dtype().is_complex() {
        return Ok(x.clone());
    }
    parts("real", x)?.select(x.rank(), 0)
}

/// Views the imaginary parts.
///
/// # Errors
/// [`ErrorKind::DType`] for a real tensor.
pub fn imag(x: &Raw) -> Result<Raw> {
    parts("imag", x)?.select(x.rank(), 1)
}

/// Views pairs of real numbers in the last dim as complex numbers.
///
/// # Errors
/// [`ErrorKind::DType`] for dtypes other than f32 and f64, [`ErrorKind::Shape`] if the last dim's size is not 2,
/// [`ErrorKind::Layout`] if pairs are not adjacent in memory.
pub fn as_complex(x: &Raw) -> Result<Raw> {
    let op = "view_as_complex";
    let dtype = match x.dtype() {
        DType::F32 => DType::C64,
        DType::F64 => DType::C128,
        other => {
            let what = format!("complex parts cannot be {other}");
            return Err(refuse(
                ErrorKind::DType,
                op,
                x,
                what,
                "convert to f32 or f64 with `to` first",
            ));
        }
    };
    let Some((&[.., 2], rank)) = Some((x.shape(), x.rank())) else {
        let what = "the last dim is not of size 2".to_owned();
        return Err(refuse(
            ErrorKind::Shape,
            op,
            x,
            what,
            "the last dim holds real and imaginary part",
        ));
    };
    let outer = &x.strides()[..rank - 1];
    let steps = outer.iter().zip(x.shape());
    let even = x.numel() == 0
        || x.strides()[rank - 1] == 1
            && x.offset().is_multiple_of(2)
            && steps
                .clone()
                .all(|(stride, &size)| size == 1 || stride % 2 == 0);
    if !even {
        let what = format!("pairs are not adjacent with strides {:?}", x.strides());
        return Err(refuse(
            ErrorKind::Layout,
            op,
            x,
            what,
            "call `contiguous` first",
        ));
    }
    let shape = x.shape()[..rank - 1].into();
    let strides = outer.iter().map(|stride| stride / 2).collect();
    let view = x.as_strided(op, dtype, shape, strides, x.offset() / 2)?;
    record_view_as_complex(Op::ViewAsComplex, view, x)
}

/// Joins real and imaginary parts, which broadcast, to complex numbers.
///
/// # Errors
/// If the dtypes differ or are not f32 or f64, sizes do not broadcast, or memory is missing.
pub fn join_parts(op: &'static str, re: &Raw, im: &Raw) -> Result<Raw> {
    if re.dtype() != im.dtype() || !matches!(re.dtype(), DType::F32 | DType::F64) {
        let what = format!("parts of {} and {}", re.dtype(), im.dtype());
        return Err(refuse(
            ErrorKind::DType,
            op,
            re,
            what,
            "both parts are f32, or both f64",
        )
        .operand(&Names::default(), im.shape()));
    }
    same_device(op, &[re, im])?;
    let mut shape: Shape = broadcast(op, &[re.shape(), im.shape()])?;
    let rank = shape.len();
    shape.push(2);
    let mut out = Raw::empty(op, &shape, re.dtype(), re.device())?;
    copy_into(out.as_mut()?.select(rank, 0)?, re)?;
    copy_into(out.as_mut()?.select(rank, 1)?, im)?;
    as_complex(&out)
}
