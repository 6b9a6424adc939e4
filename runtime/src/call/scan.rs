//! Scans along a dim.

use nomina_core::op::{Op, class};
use nomina_core::{DType, Names, Result};

use super::check;
use crate::call::backend::backend;
use crate::config::default_dtype;
use crate::job::ScanJob;
use crate::raw::Raw;
use crate::tape::record_scan;

/// Computes a scan of the table along a dim; elements are first converted to `dtype`, which is the result's.
///
/// # Errors
/// If the operator is another, the dim is out of range, or memory is missing.
pub fn scan(op: Op, x: &Raw, dim: usize, dtype: Option<DType>) -> Result<Raw> {
    let Some(by) = class::Scan::from_op(op) else {
        return Err(check::wrong_entry(op, "scan"));
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
        return record_scan(by, out, x, dim);
    }
    let to = out.fresh_ptr();
    let backend = backend(op.name(), x.device())?;
    // SAFETY: the job describes a whole operand, and a fresh result that nothing else shares.
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
    record_scan(by, out, x, dim)
}
