//! Rule 7: operators with a mask.

use alloc::format;

use super::{out, unify};
use crate::error::{Error, ErrorKind, Result};
use crate::name::Names;

/// Returns the names of `masked_select`: input and mask unify; the result is one unnamed dim.
///
/// # Errors
/// The errors of [`unify`].
pub fn masked_select(op: &'static str, input: &Names, mask: &Names) -> Result<Names> {
    unify(op, input, mask)?;
    Ok(Names::unnamed(1))
}

/// Returns the names of `masked_fill` out of place: the names unify.
///
/// # Errors
/// The errors of [`unify`]; [`ErrorKind::Rank`] if there are names and the mask has more dims.
pub fn masked_fill(op: &'static str, input: &Names, mask: &Names) -> Result<Names> {
    if mask.len() > input.len() && (mask.has_names() || input.has_names()) {
        return Err(Error::new(
            ErrorKind::Rank,
            op,
            format!(
                "the mask has {} dims, the input only {}",
                mask.len(),
                input.len()
            ),
        )
        .operand(input, &[])
        .operand(mask, &[])
        .hint("`expand` the input first, or use `where_cond`"));
    }
    unify(op, input, mask)
}

/// Returns the names of self after `masked_fill_`.
///
/// # Errors
/// The errors of [`unify`] and [`out::in_place`]; [`ErrorKind::Rank`] if there are names and the
/// mask has fewer dims; [`ErrorKind::Shape`] if it has more.
pub fn masked_fill_in_place(op: &'static str, own: &Names, mask: &Names) -> Result<Names> {
    let ranks = |kind, what: &str, hint: &str| {
        Error::new(
            kind,
            op,
            format!(
                "the mask has {} dims, self has {what}{}",
                mask.len(),
                own.len()
            ),
        )
        .operand(own, &[])
        .operand(mask, &[])
        .hint(hint)
    };
    let named = own.has_names() || mask.has_names();
    if named && mask.len() < own.len() {
        return Err(ranks(
            ErrorKind::Rank,
            "",
            "`mask.align_as(&x)` gives it the same dims",
        ));
    }
    let unified = unify(op, own, mask)?;
    if mask.len() > own.len() {
        return Err(ranks(
            ErrorKind::Shape,
            "only ",
            "reduce the mask first, with `any`",
        ));
    }
    out::in_place(op, own, &unified)
}
