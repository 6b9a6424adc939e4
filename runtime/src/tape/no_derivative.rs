//! Operators from floats to floats that have no derivative.

use nomina_core::op::{Grad, Op};
use nomina_core::{Error, ErrorKind, Names, Result};

use super::operand_rule::record_saved;
use crate::raw::Raw;
use crate::raw::graph::is_wanted;

/// An operator whose backward pass fails and says why.
pub(crate) struct NoDerivative;

/// Records a result through which no gradient passes.
pub(crate) fn record_no_derivative<'r>(
    op: Op,
    out: Raw,
    operands: impl AsRef<[&'r Raw]>,
) -> Result<Raw> {
    record_saved(op, out, operands, || NoDerivative)
}

/// Checks that no operand requires a gradient, of an operator that records none.
///
/// # Errors
/// [`ErrorKind::Gradient`] if an operand requires a gradient.
pub(crate) fn check_unrecorded<'r>(
    op: &'static str,
    operands: impl IntoIterator<Item = &'r Raw>,
    hint: &'static str,
) -> Result<()> {
    match operands.into_iter().find(|raw| is_wanted([*raw])) {
        None => Ok(()),
        Some(raw) => {
            let what = "an operand requires a gradient, which this operator lacks";
            let error = Error::new(ErrorKind::Gradient, op, what);
            Err(error.operand(&Names::default(), raw.shape()).hint(hint))
        }
    }
}

/// Checks that the dense operand of a sparse operator requires no gradient.
///
/// # Errors
/// [`ErrorKind::Gradient`] if it requires a gradient.
pub(crate) fn check_dense_unrecorded(op: &'static str, dense: &Raw) -> Result<()> {
    let hint = "call `to_dense` on the sparse operand, or `detach` the other";
    check_unrecorded(op, [dense], hint)
}

/// Returns the error of an operator, or of one of its operands, without derivative.
#[cold]
pub(crate) fn no_derivative(op: Op) -> Error {
    let why = match op.row().grad {
        Grad::Never(why) => why,
        _ => "this operand has none",
    };
    Error::new(
        ErrorKind::Gradient,
        op.name(),
        format!("no derivative: {why}"),
    )
    .hint("`detach` the operand, or compute it within `no_grad`")
}
