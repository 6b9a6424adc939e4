//! Running results along a dim.

use nomina_core::op::{Op, class};
use nomina_core::{DType, Names, Result};

use super::check;
use super::grad;
use super::reduce::address;
use crate::call::backend::backend;
use crate::config::default_dtype;
use crate::job::ScanJob;
use crate::raw::Raw;

/// A scan of the table along a dim; `dtype` is what elements are converted to first, and the result's.
///
/// # Errors
/// Another operator, a dim out of range, missing memory.
pub fn scan(op: Op, x: &Raw, dim: usize, dtype: Option<DType>) -> Result<Raw> {
    let Some(by) = class::Scan::of(op) else {
        return Err(check::another(op, "scan"));
    };
    let row = op.row();
    let target = dtype.unwrap_or(x.dtype());
    row.check_dtype(target)
        .map_err(|error| error.operand(&Names::default(), x.shape()))?;
    if x.rank() == 0 && dim == 0 {
        return scan(op, &x.unsqueeze(0)?, 0, dtype)?.squeeze(0);
    }
    check::dim(op.name(), x.shape(), dim)?;
    let resolved = row.dtype.resolve(target, default_dtype());
    let result = dtype.unwrap_or(resolved.result);
    let mut out = Raw::empty(op.name(), x.shape(), result, x.device())?;
    if x.numel() == 0 {
        return grad::scanned(by, out, x, dim);
    }
    let to = address(&mut out);
    let backend = backend(op.name(), x.device())?;
    // SAFETY: the job describes a whole operand, and a fresh result that no one else has.
    unsafe {
        backend.scan(&ScanJob {
            op: by,
            compute: resolved.compute,
            shape: x.shape(),
            strides: x.strides(),
            x: x.as_ptr(),
            dtype: x.dtype(),
            dim,
            out: to,
            out_strides: out.strides(),
            out_dtype: result,
        })?;
    }
    grad::scanned(by, out, x, dim)
}
