//! Distances between rows.

use nomina_core::Result;
use nomina_core::op::Op;

use super::operand_rule::record_with_result;
use crate::raw::Raw;

/// The saved values of the distances between the rows of two batches of matrices.
pub(crate) struct DistanceSaved {
    pub(crate) a: Raw,
    pub(crate) b: Raw,
    pub(crate) p: f64,
    /// Whether the distances were computed by matrix products; their gradients then are, too.
    pub(crate) by_product: bool,
}

/// Records distances of norm `p`.
pub(crate) fn record_distances(
    out: Raw,
    [a, b]: [&Raw; 2],
    p: f64,
    by_product: bool,
) -> Result<Raw> {
    record_with_result(Op::Cdist, out, [a, b], || DistanceSaved {
        a: a.clone(),
        b: b.clone(),
        p,
        by_product,
    })
}
