//! Normalisation of rows.

use nomina_core::op::Op;
use nomina_core::{DType, Names, Result};

use super::check;
use super::check::same_device;
use crate::SmallVec;
use crate::call::backend::backend;
use crate::job::{NormJob, Place};
use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::shape::product;
use crate::tape::record_normalize;

/// The scale and offset of normalised rows: tensors that broadcast to the operand's shape.
#[derive(Clone, Copy, Debug, Default)]
pub struct Affine<'a> {
    /// The factor.
    pub weight: Option<&'a Raw>,
    /// The summand.
    pub bias: Option<&'a Raw>,
}

/// Normalises rows along `dims` to mean zero and variance one, or with `rms` to mean square one. With `stats`, also
/// returns the mean and the standard deviation of each row, as f64.
///
/// # Errors
/// If dims are out of range or repeated, the dtype is not a float, scales do not broadcast, or memory is missing.
pub fn normalize(
    op: Op,
    x: &Raw,
    dims: &[usize],
    (rms, eps): (bool, f64),
    affine: Affine<'_>,
    stats: bool,
) -> Result<(Raw, Option<Raw>)> {
    let own = |error: nomina_core::Error| error.operand(&Names::default(), x.shape());
    check::dims(op.name(), x.shape(), dims)?;
    op.row().check_dtype(x.dtype()).map_err(own)?;
    let scale = |of: Option<&Raw>| -> Result<Option<Raw>> {
        of.map(|raw| {
            op.row().check_dtype(raw.dtype()).map_err(own)?;
            raw.broadcast_to(op.name(), x.shape())
        })
        .transpose()
    };
    let all = [Some(x), affine.weight, affine.bias];
    let all: SmallVec<[&Raw; 3]> = all.into_iter().flatten().collect();
    same_device(op.name(), &all)?;
    let (weight, bias) = (scale(affine.weight)?, scale(affine.bias)?);
    let scales = [affine.weight, affine.bias];
    let records = is_wanted(all.iter().copied());
    let mut out = Raw::empty(op.name(), x.shape(), x.dtype(), x.device())?;
    let kept = (0..x.rank()).filter(|dim| !dims.contains(dim));
    let rows = product(kept.map(|dim| x.shape()[dim]));
    let mut found = if stats || records {
        Some(Raw::zeros(op.name(), &[rows, 2], DType::F64, x.device())?)
    } else {
        None
    };
    if let (0, Some(stats)) = (x.numel(), &found) {
        out = if records {
            record_normalize(op, out, x, dims, (rms, eps), scales, stats)?
        } else {
            out
        };
    }
    if x.numel() == 0 {
        return Ok((out, found));
    }
    let place = |raw: &Raw| Place {
        ptr: raw.as_ptr().cast_mut(),
        dtype: raw.dtype(),
    };
    let to = Place {
        ptr: out.as_mut()?.as_mut_ptr(),
        dtype: x.dtype(),
    };
    let stats = match &mut found {
        Some(raw) => raw.as_mut()?.as_mut_ptr().cast(),
        None => std::ptr::null_mut(),
    };
    // SAFETY: the job describes whole operands, and fresh results that nothing else shares.
    unsafe {
        backend(op.name(), x.device())?.norm(&NormJob {
            op: op.name(),
            rms,
            eps,
            compute: x.dtype(),
            shape: x.shape(),
            dims,
            x: place(x),
            strides: x.strides(),
            out: to,
            out_strides: out.strides(),
            weight: weight.as_ref().map(|raw| (place(raw), raw.strides())),
            bias: bias.as_ref().map(|raw| (place(raw), raw.strides())),
            stats,
        })?;
    }
    if let (true, Some(found)) = (records, &found) {
        out = record_normalize(op, out, x, dims, (rms, eps), scales, found)?;
    }
    Ok((out, found))
}
