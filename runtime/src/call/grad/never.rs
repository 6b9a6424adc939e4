//! Operators from floats to floats that have no derivative.

use nomina_core::op::{Grad, Op};
use nomina_core::{Error, ErrorKind, Names, Result};

use super::by::{Back, by};
use crate::raw::Raw;
use crate::raw::graph::is_wanted;

/// A result through which no gradient goes: `backward` says why.
pub(crate) fn never<'r>(op: Op, out: Raw, operands: impl AsRef<[&'r Raw]>) -> Result<Raw> {
    by(op, out, operands, || {
        move |_: &Back<'_>, _| Err(refused(op))
    })
}

/// Refuses operands whose gradient nothing would take back.
///
/// # Errors
/// [`ErrorKind::Gradient`] when one of them wants one.
pub(in crate::call) fn unrecorded<'r>(
    op: &'static str,
    operands: impl IntoIterator<Item = &'r Raw>,
    hint: &'static str,
) -> Result<()> {
    match operands.into_iter().find(|raw| is_wanted([*raw])) {
        None => Ok(()),
        Some(raw) => {
            let what = "an operand wants a gradient, and this operator records none";
            let error = Error::new(ErrorKind::Gradient, op, what);
            Err(error.operand(&Names::default(), raw.shape()).hint(hint))
        }
    }
}

/// Refuses a dense operand of a sparse one.
///
/// # Errors
/// [`ErrorKind::Gradient`] when it wants a gradient.
pub(in crate::call) fn unrecorded_beside_sparse(op: &'static str, dense: &Raw) -> Result<()> {
    let hint = "take `to_dense` of the sparse operand first, or `detach` the other";
    unrecorded(op, [dense], hint)
}

#[cold]
pub(super) fn refused(op: Op) -> Error {
    let why = match op.row().grad {
        Grad::Never(why) => why,
        _ => "of this operand there is none",
    };
    Error::new(
        ErrorKind::Gradient,
        op.name(),
        format!("no derivative: {why}"),
    )
    .hint("`detach` the operand, or compute it within `no_grad`")
}
