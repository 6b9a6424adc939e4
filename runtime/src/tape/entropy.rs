//! Cross entropy against class indices.

use nomina_core::Result;
use nomina_core::op::Op;

use super::operand_rule::record_saved;
use crate::raw::Raw;

/// The saved values of cross entropy. All tensors but `x` and `divisor` keep the dim of classes with size 1 or broadcast along it.
pub(crate) struct EntropySaved {
    pub(crate) x: Raw,
    /// The dim of classes.
    pub(crate) dim: usize,
    /// The class of each row; 0 for ignored rows.
    pub(crate) index: Raw,
    /// The weight of each row's class; 0 for ignored rows.
    pub(crate) weight: Raw,
    /// Whether a row is ignored.
    pub(crate) ignored: Raw,
    /// The weights of all classes, along the dim of classes.
    pub(crate) weights: Option<Raw>,
    pub(crate) smoothing: f64,
    /// The logarithm of each row's sum of exponentials; only of logits.
    pub(crate) log_sum: Option<Raw>,
    /// Whether the result has one loss for each row.
    pub(crate) each: bool,
    /// The number that the sum of all rows was divided by, in f64.
    pub(crate) divisor: Option<Raw>,
}

/// Records losses of `saved.x`.
pub(crate) fn record_entropy(op: Op, out: Raw, x: &Raw, saved: EntropySaved) -> Result<Raw> {
    record_saved(op, out, [x], || saved)
}
