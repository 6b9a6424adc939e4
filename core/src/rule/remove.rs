//! Rule 3: reduced and selected dims are dropped.

use alloc::format;

use super::arg::DimArg;
use super::lookup::insert_position;
use super::{Positions, Shape};
use crate::error::{Error, ErrorKind, Result};
use crate::name::{MAX_DIMS, Name, Names};

/// Returns the names without those at `positions`.
#[must_use]
pub fn remove(names: &Names, positions: &[usize]) -> Names {
    reduce(names, positions, false)
}

/// Returns the names after a reduction over `positions`.
#[must_use]
pub fn reduce(names: &Names, positions: &[usize], keepdim: bool) -> Names {
    if keepdim {
        return names.clone();
    }
    let kept = names
        .iter()
        .enumerate()
        .filter(|(i, _)| !positions.contains(i));
    kept.map(|(_, name)| name.clone()).collect()
}

/// Returns the sizes after a reduction over `positions`.
#[must_use]
pub fn reduce_shape(shape: &[usize], positions: &[usize], keepdim: bool) -> Shape {
    let sizes =
        shape
            .iter()
            .enumerate()
            .filter_map(|(i, &size)| match (positions.contains(&i), keepdim) {
                (false, _) => Some(size),
                (true, true) => Some(1),
                (true, false) => None,
            });
    sizes.collect()
}

/// Returns the names at `positions`, in that order, as for a permuted tensor.
///
/// # Panics
/// If a position is out of range.
#[must_use]
pub fn kept(names: &Names, positions: &[usize]) -> Names {
    positions.iter().map(|&i| names[i].clone()).collect()
}

/// Returns the positions that remain after squeezing dims of size 1: for `..` all of them,
/// otherwise the given ones. A given dim of another size stays.
///
/// # Errors
/// If a given dim does not exist.
pub fn squeeze(
    op: &'static str,
    names: &Names,
    shape: &[usize],
    dims: &DimArg<'_>,
) -> Result<Positions> {
    let given = dims.positions(op, names)?;
    Ok((0..shape.len())
        .filter(|i| shape[*i] != 1 || !given.contains(i))
        .collect())
}

/// Returns the position of a new dim of size 1, and the names with it; it is unnamed unless `name`
/// is given.
///
/// # Errors
/// [`ErrorKind::Index`] for a position out of range, [`ErrorKind::InvalidName`],
/// [`ErrorKind::DuplicateNames`] if the name exists already, [`ErrorKind::Rank`] beyond 64 dims.
pub fn unsqueeze(
    op: &'static str,
    names: &Names,
    index: i64,
    name: Option<&str>,
) -> Result<(usize, Names)> {
    let at = insert_position(op, names.len(), index)?;
    let name = name.map(Name::new).transpose().map_err(|e| e.in_op(op))?;
    if let Some(name) = name.as_ref().filter(|name| names.position(name).is_some()) {
        return Err(Error::new(
            ErrorKind::DuplicateNames,
            op,
            format!("dim `{name}` already exists"),
        )
        .operand(names, &[])
        .hint("give the new dim another name"));
    }
    rank_limit(op, names.len() + 1)?;
    let mut result = names.clone();
    result.insert(at, name);
    Ok((at, result))
}

/// Checks that a tensor has at most [`MAX_DIMS`] dims.
///
/// # Errors
/// [`ErrorKind::Rank`] for more.
pub fn rank_limit(op: &'static str, rank: usize) -> Result<()> {
    if rank <= MAX_DIMS {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Rank,
        op,
        format!("the result would have {rank} dims, a tensor has at most {MAX_DIMS}"),
    )
    .hint("`flatten` some of them first"))
}
