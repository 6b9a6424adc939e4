//! Elements limited from below and from above.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::{Arg, pointwise};
use crate::raw::Raw;

/// Limits `x` to at least `min` and at most `max`, either of which may be missing.
///
/// # Errors
/// Like [`pointwise`]; also if both bounds are missing.
pub fn clamp(x: &Raw, min: Option<Arg<'_>>, max: Option<Arg<'_>>) -> Result<Raw> {
    let [min, max] = clamp_bounds(x.dtype(), x.rank(), min, max)?;
    pointwise(Op::Clamp, &[x.into(), min, max])
}

/// Returns the bounds for [`Op::Clamp`], with a missing one replaced by the dtype's own limit. `dtype` and `rank` are
/// those of the tensor to clamp.
///
/// # Errors
/// [`ErrorKind::Argument`] if both are missing.
pub fn clamp_bounds<'a>(
    dtype: DType,
    rank: usize,
    min: Option<Arg<'a>>,
    max: Option<Arg<'a>>,
) -> Result<[Arg<'a>; 2]> {
    if min.is_none() && max.is_none() {
        return Err(Error::new(
            ErrorKind::Argument,
            "clamp",
            "neither `min` nor `max` is given",
        )
        .hint("give at least one of them"));
    }
    if let (Some(min), Some(max)) = (min, max) {
        return Ok([min, max]);
    }
    let mut promoter = nomina_core::Promoter::new(crate::config::default_dtype());
    promoter.tensor(dtype, rank);
    for bound in [min, max].into_iter().flatten() {
        match bound {
            Arg::Tensor(raw) => promoter.tensor(raw.dtype(), raw.rank()),
            Arg::Scalar(value) => promoter.scalar(value),
        }
    }
    let [lowest, highest] = limits(promoter.result());
    Ok([
        min.unwrap_or(Arg::Scalar(lowest)),
        max.unwrap_or(Arg::Scalar(highest)),
    ])
}

/// Returns the limits of the dtype as numbers of its own category.
fn limits(dtype: DType) -> [Scalar; 2] {
    let int = |bits: u32| {
        [
            Scalar::Int(i64::MIN >> (64 - bits)),
            Scalar::Int(i64::MAX >> (64 - bits)),
        ]
    };
    match dtype {
        DType::Bool => [Scalar::Bool(false), Scalar::Bool(true)],
        DType::U8 => [Scalar::Int(0), Scalar::Int(255)],
        DType::I8 => int(8),
        DType::I16 => int(16),
        DType::I32 => int(32),
        DType::I64 => int(64),
        _ => [
            Scalar::Float(f64::NEG_INFINITY),
            Scalar::Float(f64::INFINITY),
        ],
    }
}
