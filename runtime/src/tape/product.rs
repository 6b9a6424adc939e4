//! Products of matrices.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::operand_rule::record_saved;
use crate::raw::Raw;

/// The saved values of `alpha` times a product of two factors, plus `beta` times a third operand.
pub(crate) struct ProductSaved {
    pub(crate) factors: [Raw; 2],
    pub(crate) alpha: Scalar,
    pub(crate) beta: Option<Scalar>,
}

/// Records `alpha` times `[.., m, k]` times `[.., k, n]` with equal batch dims. `added` is a tensor that broadcasts to the
/// result, and its factor.
pub(crate) fn record_product(
    op: Op,
    out: Raw,
    [a, b]: [&Raw; 2],
    alpha: Scalar,
    added: Option<(&Raw, Scalar)>,
) -> Result<Raw> {
    let save = || ProductSaved {
        factors: [a.clone(), b.clone()],
        alpha,
        beta: added.map(|(_, beta)| beta),
    };
    match added {
        None => record_saved(op, out, [a, b], save),
        Some((bias, _)) => record_saved(op, out, [a, b, bias], save),
    }
}
