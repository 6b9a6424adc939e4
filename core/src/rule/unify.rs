//! Rule 1: names of operands that broadcast.

use alloc::format;
use alloc::string::String;

use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// Returns whether two names can be the same dim: they are equal, or one is `None`.
#[must_use]
pub fn matches(a: &Option<Name>, b: &Option<Name>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// Returns whether two tensors count as equal by their names: the lists are the same.
#[must_use]
pub fn equal_names(a: &Names, b: &Names) -> bool {
    a == b
}

/// Returns the names of a result to which `a` and `b` broadcast, from the right: the more specific
/// name of each pair. A dim that only one operand has is taken from it.
///
/// ```
/// use nomina_core::{Names, rule::unify};
/// let a = Names::from_static(&[Some("N"), None]);
/// let b = Names::from_static(&[Some("C")]);
/// assert_eq!(unify("add", &a, &b)?, Names::from_static(&[Some("N"), Some("C")]));
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::NameMismatch`] if two names differ, [`ErrorKind::Misaligned`] if a name is at the
/// position of an unnamed dim and also elsewhere in the operand with the unnamed dim.
pub fn unify(op: &'static str, a: &Names, b: &Names) -> Result<Names> {
    if a == b {
        return Ok(a.clone());
    }
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let missing = long.len() - short.len();
    let mut result = long.clone();
    for i in (missing..long.len()).rev() {
        match (&long[i], &short[i - missing]) {
            (Some(x), Some(y)) if x != y => return Err(mismatch(op, a, b, i)),
            (Some(x), None) if short.position(x).is_some() => return Err(misaligned(op, a, b, x)),
            (None, Some(y)) if long.position(y).is_some() => return Err(misaligned(op, a, b, y)),
            (None, Some(y)) => result[i] = Some(y.clone()),
            _ => {}
        }
    }
    Ok(result)
}

/// Like [`unify`], over all operands, from the first to the last; `()` if there are none.
///
/// # Errors
/// The errors of [`unify`].
pub fn unify_all<'a>(
    op: &'static str,
    operands: impl IntoIterator<Item = &'a Names>,
) -> Result<Names> {
    let mut operands = operands.into_iter();
    let Some(first) = operands.next() else {
        return Ok(Names::default());
    };
    operands.try_fold(first.clone(), |names, next| unify(op, &names, next))
}

#[cold]
fn mismatch(op: &'static str, a: &Names, b: &Names, i: usize) -> Error {
    let rank = a.len().max(b.len());
    let name = |names: &Names| {
        names[i + names.len() - rank]
            .as_ref()
            .map_or_else(String::new, |name| format!("{name}"))
    };
    let (x, y) = (name(a), name(b));
    let error = Error::new(
        ErrorKind::NameMismatch,
        op,
        format!("dim `{x}` and dim `{y}` are at the same position from the right but do not match"),
    )
    .operand(a, &[])
    .operand(b, &[]);
    match way_out(a, b) {
        Some(hint) => error.hint(hint),
        None => error.hint(format!(
            "if they are the same dim, rename one: `y.rename({y}, {x})`"
        )),
    }
}

#[cold]
fn misaligned(op: &'static str, a: &Names, b: &Names, name: &Name) -> Error {
    let error = Error::new(
        ErrorKind::Misaligned,
        op,
        format!("dim `{name}` is at different positions from the right"),
    )
    .operand(a, &[])
    .operand(b, &[]);
    match way_out(a, b) {
        Some(hint) => error.hint(hint),
        None => error.hint("name the unnamed dims first: `x.refine_names(..)`"),
    }
}

/// Returns the hint: aligning works if one operand has all names of the other.
fn way_out(a: &Names, b: &Names) -> Option<String> {
    let within = |inner: &Names, outer: &Names| {
        inner.iter().all(|name| {
            name.as_ref()
                .is_some_and(|name| outer.position(name).is_some())
        })
    };
    if within(b, a) {
        Some(String::from("align by name first: `y.align_as(&x)`"))
    } else if within(a, b) {
        Some(String::from("align by name first: `x.align_as(&y)`"))
    } else {
        None
    }
}
