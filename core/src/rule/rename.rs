//! Rule 9: new names for the same dims.

use alloc::format;

use super::item::{NameItem, distinct, rest, same_len};
use super::lookup::{find, listed};
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// Renames by position; one `..` keeps the names it covers.
///
/// # Errors
/// [`ErrorKind::NamesLen`], [`ErrorKind::DuplicateNames`], [`ErrorKind::InvalidName`], or
/// [`ErrorKind::Ellipsis`] for a second `..`.
pub fn rename(op: &'static str, names: &Names, items: &[NameItem<'_>]) -> Result<Names> {
    let result = spread(op, names, items)?;
    distinct(op, result).map_err(|e| e.operand(names, &[]))
}

/// Renames some dims, all at once: a swap is two pairs.
///
/// # Errors
/// [`ErrorKind::NameNotFound`] for a missing dim, [`ErrorKind::DuplicateNames`],
/// [`ErrorKind::InvalidName`], or [`ErrorKind::Ellipsis`] if a dim is renamed to `..`.
pub fn rename_map(
    op: &'static str,
    names: &Names,
    pairs: &[(&str, NameItem<'_>)],
) -> Result<Names> {
    let mut result = names.clone();
    for (i, (from, to)) in pairs.iter().enumerate() {
        let Some(position) = find(names, from) else {
            return Err(Error::new(
                ErrorKind::NameNotFound,
                op,
                format!("dim `{from}` not found"),
            )
            .operand(names, &[])
            .hint(if names.has_names() {
                format!("use one of {}", listed(names))
            } else {
                format!("name all {} dims by position", names.len())
            }));
        };
        if pairs[..i].iter().any(|(earlier, _)| earlier == from) {
            return Err(Error::new(
                ErrorKind::DuplicateNames,
                op,
                format!("dim `{from}` is renamed twice"),
            )
            .operand(names, &[])
            .hint("give each dim one new name"));
        }
        result[position] = to.name(op)?;
    }
    distinct(op, result).map_err(|e| e.operand(names, &[]))
}

/// Names unnamed dims: an unnamed dim may get any name, a named one only its own; one `..` keeps
/// the names it covers.
///
/// # Errors
/// [`ErrorKind::Refine`] if a name would change, [`ErrorKind::NamesLen`],
/// [`ErrorKind::DuplicateNames`], [`ErrorKind::InvalidName`], or [`ErrorKind::Ellipsis`] for a
/// second `..`.
pub fn refine_names(op: &'static str, names: &Names, items: &[NameItem<'_>]) -> Result<Names> {
    let result = spread(op, names, items)?;
    let result = distinct(op, result).map_err(|e| e.operand(names, &[]))?;
    for (i, (from, to)) in names.iter().zip(&result).enumerate() {
        if from.is_some() && from != to {
            return Err(refused(op, names, i, from.as_ref(), to.as_ref()));
        }
    }
    Ok(result)
}

#[cold]
fn refused(
    op: &'static str,
    names: &Names,
    i: usize,
    from: Option<&Name>,
    to: Option<&Name>,
) -> Error {
    let from = from.map_or("None", Name::as_str);
    let what = match to {
        Some(to) => format!("dim {i} is `{from}` and can't be refined to `{to}`"),
        None => format!("dim {i} is `{from}` and can't become unnamed"),
    };
    let hint = match to {
        Some(to) => format!("to give another name: `x.rename({from}, {to})`"),
        None => format!("write `{from}` there, or `..`"),
    };
    Error::new(ErrorKind::Refine, op, what)
        .operand(names, &[])
        .hint(hint)
}

/// Returns the items as names, with `..` replaced by the names of the dims it covers.
fn spread(op: &'static str, names: &Names, items: &[NameItem<'_>]) -> Result<Names> {
    let rank = names.len();
    let Some(at) = rest(op, items)? else {
        let result = items
            .iter()
            .map(|item| item.name(op))
            .collect::<Result<Names>>()?;
        same_len(op, &result, rank).map_err(|e| e.operand(names, &[]))?;
        return Ok(result);
    };
    let (before, after) = (&items[..at], &items[at + 1..]);
    if before.len() + after.len() > rank {
        let given = before.len() + after.len();
        return Err(Error::new(
            ErrorKind::NamesLen,
            op,
            format!("{given} names and `..` for {rank} dims"),
        )
        .operand(names, &[])
        .hint("give at most one name per dim"));
    }
    let mut result = Names::default();
    for item in before {
        result.push(item.name(op)?);
    }
    for name in &names[before.len()..rank - after.len()] {
        result.push(name.clone());
    }
    for item in after {
        result.push(item.name(op)?);
    }
    Ok(result)
}
