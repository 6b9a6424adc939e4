//! Rule 1: names of operands that broadcast.

use alloc::format;
use alloc::string::String;

use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// Whether two names may stand for one dim: equal spelling, or one is none.
#[must_use]
pub fn matches(a: &Option<Name>, b: &Option<Name>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// Whether two tensors count as equal by their names: none on both sides, or the same list.
#[must_use]
pub fn equal_names(a: &Names, b: &Names) -> bool {
    a == b
}

/// The names of a result to which `a` and `b` broadcast, from the right: the more specific of
/// each pair. Where one operand has no dim, the other's name is taken.
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
/// [`ErrorKind::NameMismatch`] when two names differ, [`ErrorKind::Misaligned`] when a name meets
/// an unnamed dim of an operand that has the name at another position.
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

/// [`unify`] over all operands, from the first to the last; `()` when there is none.
///
/// # Errors
/// As [`unify`].
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

/// Aligning works when one operand has all names of the other.
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
