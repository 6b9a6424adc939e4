//! Index tensors: their dims replace the dim that they index.

use alloc::format;

use super::remove::rank_limit;
use super::unify;
use crate::error::{Error, ErrorKind, Result};
use crate::name::Names;

/// Replaces the dim at `at` of `own` by the dims of `index`.
///
/// # Errors
/// [`ErrorKind::DuplicateNames`] if a name of the index is the name of another dim,
/// [`ErrorKind::Rank`] beyond 64 dims.
pub fn index_by(op: &'static str, own: &Names, at: usize, index: &Names) -> Result<Names> {
    let others = || own.iter().enumerate().filter(|(i, _)| *i != at);
    for name in index.iter().flatten() {
        if others().any(|(_, other)| other.as_ref() == Some(name)) {
            let what = format!("dim `{name}` of the index is also in the tensor");
            return Err(Error::new(ErrorKind::DuplicateNames, op, what)
                .operand(own, &[])
                .operand(index, &[])
                .hint("rename the index's dim first"));
        }
    }
    rank_limit(op, own.len() + index.len().saturating_sub(1))?;
    let (before, after) = (&own[..at], &own[at + 1..]);
    Ok(before
        .iter()
        .chain(index.iter())
        .chain(after)
        .cloned()
        .collect())
}

/// Returns the names of `index_select`: [`index_by`], but with an unnamed 1-D index the dim keeps
/// its name, and with a zero-dim index the dim stays, with size 1.
///
/// # Errors
/// The errors of [`index_by`].
pub fn index_select(op: &'static str, own: &Names, at: usize, index: &Names) -> Result<Names> {
    match index.len() {
        0 => Ok(own.clone()),
        1 if index[0].is_none() => Ok(own.clone()),
        _ => index_by(op, own, at, index),
    }
}

/// Unifies the names of `gather` and `scatter`: self, index and values have dims at the same
/// positions.
///
/// # Errors
/// [`ErrorKind::Rank`] if the ranks differ; the errors of [`unify`].
pub fn index_along(op: &'static str, own: &Names, other: &Names) -> Result<Names> {
    if own.len() != other.len() {
        let what = format!("{} dims and {}", own.len(), other.len());
        return Err(Error::new(ErrorKind::Rank, op, what)
            .operand(own, &[])
            .operand(other, &[])
            .hint("make the ranks equal: `unsqueeze`, then `expand`"));
    }
    unify(op, own, other)
}

/// Returns the names of self after `source` is written along the dim at `at`. `source` has the dims
/// that [`index_select`] would return.
///
/// # Errors
/// [`ErrorKind::Rank`] if `source` has another number of dims; the errors of [`index_select`] and
/// [`unify`].
pub fn index_into(
    op: &'static str,
    own: &Names,
    at: usize,
    index: &Names,
    source: &Names,
) -> Result<Names> {
    let wanted = index_select(op, own, at, index)?;
    let unified = index_along(op, &wanted, source)?;
    let mut names = own.clone();
    let new = index.len().max(1);
    for (i, name) in unified.iter().enumerate() {
        let to = match i {
            i if i < at => i,
            i if i >= at + new => i + 1 - new,
            // A dim of the index, or self's own if the index has no name for it.
            _ if index.len() > 1 || index.first().is_some_and(Option::is_some) => continue,
            _ => at,
        };
        names[to] = name.clone();
    }
    Ok(names)
}

/// Returns the position of the dims of several index tensors, which broadcast, in `x[a, b]`: that
/// of the first indexed dim if the indexed dims are adjacent, else the front.
#[must_use]
pub fn index_place(indexed: &[usize]) -> usize {
    match indexed {
        [first, .., last] if last - first + 1 != indexed.len() => 0,
        [first, ..] => *first,
        [] => 0,
    }
}

/// Returns the names of `x[a, b]`: the dims of the broadcast index replace the indexed ones. If a
/// single dim is indexed by an unnamed 1-D index, it keeps its name.
///
/// # Errors
/// The errors of [`index_by`].
pub fn index_many(
    op: &'static str,
    own: &Names,
    indexed: &[usize],
    index: &Names,
) -> Result<Names> {
    if let [at] = indexed
        && index.len() == 1
    {
        return index_select(op, own, *at, index);
    }
    let mut left = super::remove(own, indexed);
    let at = index_place(indexed);
    // No indexed dim is before this position: it is that of the first one, or the front.
    left.insert(at, None);
    index_by(op, &left, at, index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Names {
        text.split_whitespace()
            .map(|word| (word != "_").then(|| crate::Name::new(word).unwrap()))
            .collect()
    }

    #[test]
    fn the_index_takes_the_dims_place() {
        let (x, by) = (names("N C H"), |at, index: &str| {
            index_by("at", &names("N C H"), at, &names(index)).map(|n| n == names("N A B H"))
        });
        assert!(by(1, "A B").unwrap());
        assert_eq!(by(1, "A N").unwrap_err().kind(), ErrorKind::DuplicateNames);
        assert_eq!(
            index_by("at", &x, 1, &names("C K")).unwrap(),
            names("N C K H")
        );
        assert_eq!(index_by("at", &x, 1, &names("")).unwrap(), names("N H"));
    }

    #[test]
    fn select_keeps_a_name_that_nothing_replaces() {
        let select = |index: &str| index_select("index_select", &names("N C"), 1, &names(index));
        assert_eq!(select("_").unwrap(), names("N C"));
        assert_eq!(select("").unwrap(), names("N C"));
        assert_eq!(select("K").unwrap(), names("N K"));
        assert_eq!(select("C").unwrap(), names("N C"));
        assert_eq!(select("_ _").unwrap(), names("N _ _"));
        assert_eq!(select("N").unwrap_err().kind(), ErrorKind::DuplicateNames);
    }

    #[test]
    fn what_is_written_has_the_selected_dims() {
        let into = |own: &str, index: &str, source: &str| {
            index_into("index_add", &names(own), 0, &names(index), &names(source))
        };
        assert_eq!(into("N C", "K", "K C").unwrap(), names("N C"));
        assert_eq!(into("N C", "_", "N C").unwrap(), names("N C"));
        assert_eq!(into("_ _", "_", "N C").unwrap(), names("N C"));
        assert_eq!(into("_ _", "K", "K C").unwrap(), names("_ C"));
        assert_eq!(into("N _", "A B", "A B C").unwrap(), names("N C"));
        assert_eq!(
            into("N C", "K", "N C").unwrap_err().kind(),
            ErrorKind::NameMismatch
        );
        assert_eq!(into("N C", "K", "C").unwrap_err().kind(), ErrorKind::Rank);
    }

    #[test]
    fn several_indices_go_where_they_stand_together() {
        assert_eq!(index_place(&[1, 2]), 1);
        assert_eq!(index_place(&[0, 2]), 0);
        let many = |indexed: &[usize], index: &str| {
            index_many("index", &names("N C H"), indexed, &names(index)).unwrap()
        };
        assert_eq!(many(&[1, 2], "K"), names("N K"));
        assert_eq!(many(&[0, 2], "A B"), names("A B C"));
        assert_eq!(many(&[1], "_"), names("N C H"));
        assert_eq!(many(&[1, 2], "_"), names("N _"));
    }
}
