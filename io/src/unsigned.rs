//! Unsigned integers in files, which no dtype has: they are opened as signed integers of the same size, and widened to
//! `i64`.
#![cfg_attr(not(feature = "zarr"), allow(dead_code))]

use nomina::{DType, DynTensor, Error, ErrorKind, Names, Result, Scalar};
use nomina_runtime::Raw;

/// Returns the `i64` of elements whose bits are those of unsigned integers.
///
/// # Errors
/// Returns [`ErrorKind::DType`] if an element exceeds `i64`, [`ErrorKind::Memory`] if memory is missing.
pub(crate) fn widened(op: &'static str, bits: Raw) -> Result<Raw> {
    let most = match bits.dtype() {
        DType::I16 => i64::from(u16::MAX),
        DType::I32 => i64::from(u32::MAX),
        _ => i64::MAX,
    };
    let names = Names::unnamed(bits.rank());
    let widen = || {
        let signed = DynTensor::from_parts(bits, names)?.to_dtype(DType::I64)?;
        if most < i64::MAX {
            return signed.bitwise_and(most);
        }
        if signed.lt(0)?.any(..)?.item()? == Scalar::Bool(true) {
            let what = "an element exceeds i64, the widest integer dtype";
            return Err(Error::new(ErrorKind::DType, op, what)
                .operand(signed.names(), signed.shape())
                .hint("convert it before saving"));
        }
        Ok(signed)
    };
    let wide = widen().map_err(|error: Error| error.in_op(op))?;
    Ok(wide.into_parts().0)
}

/// Returns the bits of unsigned integers with the size of a dtype, from `i64`.
///
/// # Errors
/// Returns [`ErrorKind::Argument`] if an element does not fit, [`ErrorKind::Memory`] if memory is missing.
#[cfg(feature = "zarr")]
pub(crate) fn narrowed(op: &'static str, wide: Raw, bits: DType) -> Result<Raw> {
    let most = match bits {
        DType::I16 => i64::from(u16::MAX),
        DType::I32 => i64::from(u32::MAX),
        _ => i64::MAX,
    };
    let names = Names::unnamed(wide.rank());
    let narrow = || {
        let wide = DynTensor::from_parts(wide, names)?;
        let out = wide.lt(0)?.logical_or(&wide.gt(most)?)?;
        if out.any(..)?.item()? == Scalar::Bool(true) {
            let what = format!(
                "an element does not fit unsigned integers of {} bits",
                8 * bits.size()
            );
            return Err(
                Error::new(ErrorKind::Argument, op, what).operand(wide.names(), wide.shape())
            );
        }
        wide.to_dtype(bits)
    };
    let bits = narrow().map_err(|error: Error| error.in_op(op))?;
    Ok(bits.into_parts().0)
}
