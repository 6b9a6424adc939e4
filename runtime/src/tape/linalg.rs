//! Decompositions, inverses and solutions of matrices, which are the last two dims.

use nomina_core::Result;
use nomina_core::op::class::Linalg;

use super::operand_rule::record_results;
use crate::cpu::linalg::MatrixOptions;
use crate::raw::Raw;

/// The saved values of an operator of matrices.
pub(crate) struct LinalgSaved {
    pub(crate) op: Linalg,
    pub(crate) a: Raw,
    pub(crate) options: MatrixOptions,
}

/// The saved values of a solution for a right side.
pub(crate) struct SolutionSaved {
    pub(crate) op: Linalg,
    pub(crate) a: Raw,
    pub(crate) b: Raw,
    pub(crate) options: MatrixOptions,
}

/// Records the results of an operator of matrices, with the right side of one that solves.
///
/// # Errors
/// If there is no memory for a node.
pub(crate) fn record_linalg(
    op: Linalg,
    results: &mut [Raw],
    (a, b): (&Raw, Option<&Raw>),
    options: MatrixOptions,
) -> Result<()> {
    match b {
        None => record_results(op.op(), results, [a], || LinalgSaved {
            op,
            a: a.clone(),
            options,
        }),
        Some(b) => record_results(op.op(), results, [a, b], || SolutionSaved {
            op,
            a: a.clone(),
            b: b.clone(),
            options,
        }),
    }
}
