//! Attention: the names of queries, keys, values and a mask.

use alloc::format;

use super::item::distinct;
use super::matmul::batch;
use super::unify::{matches, unify};
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// Returns the names of attention: batch, length, and the values' features. Queries have the dims
/// batch, length, features; keys batch, source, features; values batch, source, and their own
/// features. Batch dims unify; features and sources must match.
///
/// A mask has the dims of the scores: batch, length, source. If length and source have the same
/// name, the source is unnamed in the scores, and a mask may give it any name, e.g. the primed one.
///
/// ```
/// use nomina_core::{Names, rule};
/// let q = Names::from_static(&[Some("B"), Some("T"), Some("K")]);
/// let k = Names::from_static(&[Some("B"), Some("S"), Some("K")]);
/// let v = Names::from_static(&[Some("B"), Some("S"), Some("V")]);
/// let names = rule::attention("attention", &q, &k, &v, None)?;
/// assert_eq!(names, Names::from_static(&[Some("B"), Some("T"), Some("V")]));
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Rank`] for a tensor of fewer than two dims, [`ErrorKind::NameMismatch`] or
/// [`ErrorKind::Misaligned`] for names that do not match, [`ErrorKind::DuplicateNames`].
pub fn attention(
    op: &'static str,
    query: &Names,
    key: &Names,
    value: &Names,
    mask: Option<&Names>,
) -> Result<Names> {
    let about = |e: Error| {
        let e = e.operand(query, &[]).operand(key, &[]).operand(value, &[]);
        mask.into_iter().fold(e, |e, mask| e.operand(mask, &[]))
    };
    if [query, key, value].iter().any(|names| names.len() < 2) {
        let what = "queries, keys and values need at least 2 dims";
        return Err(about(Error::new(ErrorKind::Rank, op, what))
            .hint("their last dims are length and features"));
    }
    let end =
        |names: &Names, from_end: usize| -> Option<Name> { names[names.len() - from_end].clone() };
    for (a, b, what) in [
        (end(query, 1), end(key, 1), "of the queries and of the keys"),
        (end(key, 2), end(value, 2), "of the keys and of the values"),
    ] {
        if let (false, Some(a), Some(b)) = (matches(&a, &b), &a, &b) {
            let what = format!("dim `{a}` and dim `{b}` {what} do not match");
            return Err(
                about(Error::new(ErrorKind::NameMismatch, op, what)).hint(format!(
                    "if they are the same dim, rename one: `y.rename({b}, {a})`"
                )),
            );
        }
    }
    let none = || [None, None];
    let both: Names = batch(op, query, key)?
        .iter()
        .cloned()
        .chain(none())
        .collect();
    let mut scores = batch(op, &both, value)?;
    let length = end(query, 2);
    let source = end(key, 2).or_else(|| end(value, 2));
    let free = source.filter(|name| scores.position(name).is_none());
    let free = free.filter(|name| length.as_ref() != Some(name));
    scores.push(length);
    scores.push(free);
    if let Some(mask) = mask {
        if mask.len() > scores.len() {
            let what = format!(
                "the mask has {} dims, the scores {}",
                mask.len(),
                scores.len()
            );
            return Err(about(Error::new(ErrorKind::Rank, op, what))
                .hint("its dims are those of the scores: batch, length, source"));
        }
        scores = unify(op, &scores, mask)?;
    }
    let last = scores.len() - 1;
    scores.remove(last);
    scores.push(end(value, 1));
    distinct(op, scores)
        .map_err(|e| about(e).hint("rename a dim of one operand first: `x.rename(..)`"))
}
