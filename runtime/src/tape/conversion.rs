//! Copies: to another dtype, memory order or device.

use nomina_core::Result;

use super::target::{GradTarget, has_gradient};
use crate::raw::Raw;
use crate::raw::graph::{is_wanted, record};

/// The saved values of a copy.
pub(crate) struct ConversionSaved {
    pub(crate) op: &'static str,
    pub(crate) target: GradTarget,
}

/// Records a copy of `x`.
///
/// # Errors
/// If there is no memory for a node.
pub(crate) fn record_conversion(op: &'static str, out: Raw, x: &Raw) -> Result<Raw> {
    if !is_wanted([x]) || !has_gradient(out.dtype()) {
        return Ok(out);
    }
    let target = GradTarget::new(x);
    record(out, [Some(x)], ConversionSaved { op, target })
}
