//! Quantiles of sorted lines.

use nomina_core::Result;
use nomina_core::op::Op;

use super::operand_rule::record_saved;
use crate::job::Interpolation;
use crate::raw::Raw;

/// The saved values of quantiles.
pub(crate) struct QuantileSaved {
    /// The sorted lines, as `[.., n]`.
    pub(crate) sorted: Raw,
    pub(crate) q: Raw,
    pub(crate) interpolation: Interpolation,
}

/// Records the quantiles `q` of sorted lines. The result has the dims of `q`, then those of the lines.
pub(crate) fn record_quantiles(
    op: Op,
    out: Raw,
    sorted: &Raw,
    q: &Raw,
    interpolation: Interpolation,
) -> Result<Raw> {
    record_saved(op, out, [sorted, q], || QuantileSaved {
        sorted: sorted.clone(),
        q: q.clone(),
        interpolation,
    })
}
