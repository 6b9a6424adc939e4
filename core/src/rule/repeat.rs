//! Rules of operators that repeat or window elements: `repeat`, `tile`, `unfold`, `diag_embed`.

use alloc::format;

use super::arg::DimArg;
use super::item::distinct;
use super::lookup::{DimRef, wrap};
use super::remove::rank_limit;
use super::{NameItem, Shape, names_of};
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// Returns the names of a repeated tensor, and the repetition count of each dim. Extra counts add
/// unnamed dims on the left.
///
/// # Errors
/// [`ErrorKind::Rank`] for fewer counts than dims, [`ErrorKind::Shape`] for a negative one.
pub fn repeat(
    op: &'static str,
    names: &Names,
    shape: &[usize],
    counts: &[i64],
) -> Result<(Names, Shape)> {
    let Some(new) = counts.len().checked_sub(shape.len()) else {
        let what = format!("{} counts for {} dims", counts.len(), shape.len());
        return Err(Error::new(ErrorKind::Rank, op, what)
            .operand(names, shape)
            .hint("give a count per dim, 1 to leave one as it is"));
    };
    rank_limit(op, counts.len())?;
    let counts = counts.iter().map(|&count| {
        usize::try_from(count).map_err(|_| {
            Error::new(ErrorKind::Shape, op, format!("a dim repeats {count} times"))
                .operand(names, shape)
                .hint("counts are zero or greater")
        })
    });
    let counts = counts.collect::<Result<Shape>>()?;
    let mut result = Names::unnamed(new);
    names.iter().for_each(|name| result.push(name.clone()));
    Ok((result, counts))
}

/// Like [`repeat`]; if there are fewer counts than dims, they apply to the last dims.
///
/// # Errors
/// [`ErrorKind::Shape`] for a negative count.
pub fn tile(
    op: &'static str,
    names: &Names,
    shape: &[usize],
    counts: &[i64],
) -> Result<(Names, Shape)> {
    let missing = shape.len().saturating_sub(counts.len());
    let all: alloc::vec::Vec<i64> = core::iter::repeat_n(1, missing)
        .chain(counts.iter().copied())
        .collect();
    repeat(op, names, shape, &all)
}

/// Returns the dim whose elements repeat, or `None` if all elements are flattened into one unnamed
/// dim; and the names of the result.
///
/// # Errors
/// If the dim does not exist, or several are given.
pub fn repeat_interleave(
    op: &'static str,
    names: &Names,
    dim: &DimArg<'_>,
) -> Result<(Option<usize>, Names)> {
    if dim.is_all() || names.is_empty() {
        dim.listed(op, names)?;
        return Ok((None, Names::unnamed(1)));
    }
    Ok((dim.single(op, names)?, names.clone()))
}

/// Returns the dim that windows slide along, and the names with the dim within a window appended,
/// unnamed unless `name` is given.
///
/// # Errors
/// If the dim does not exist, [`ErrorKind::InvalidName`], [`ErrorKind::DuplicateNames`].
pub fn unfold(
    op: &'static str,
    names: &Names,
    dim: DimRef<'_>,
    name: Option<&str>,
) -> Result<(Option<usize>, Names)> {
    let at = dim.position_or_scalar(op, names)?;
    rank_limit(op, names.len() + 1)?;
    let name = name.map(Name::new).transpose().map_err(|e| e.in_op(op))?;
    let mut result = names.clone();
    result.push(name);
    let result = distinct(op, result).map_err(|e| e.operand(names, &[]))?;
    Ok((at, result))
}

/// Returns the positions of the two new dims of `diag_embed`, and the names of the result: the last
/// dim is dropped, `plane` names the two, in the order `dim1`, `dim2`.
///
/// # Errors
/// [`ErrorKind::Rank`] for a number, [`ErrorKind::Index`] if a position is out of range or both are
/// the same, [`ErrorKind::DuplicateNames`], and the errors of `plane`.
pub fn diag_embed(
    op: &'static str,
    names: &Names,
    (dim1, dim2): (i64, i64),
    plane: &[NameItem<'_>],
) -> Result<(usize, usize, Names)> {
    let rank = names.len() + 1;
    if rank < 2 {
        return Err(Error::new(ErrorKind::Rank, op, "takes at least one dim")
            .operand(names, &[])
            .hint("give it a dim with `unsqueeze`"));
    }
    rank_limit(op, rank)?;
    let plane = names_of(op, plane, 2)?;
    let place = |dim: i64| {
        wrap(dim, rank).ok_or_else(|| {
            let what = format!("dim {dim} is out of range for the result's {rank} dims");
            Error::new(ErrorKind::Index, op, what)
                .operand(names, &[])
                .hint(format!("use {} to {}", -(rank as i64), rank - 1))
        })
    };
    let (dim1, dim2) = (place(dim1)?, place(dim2)?);
    if dim1 == dim2 {
        let what = format!("dim {dim1} is given as both dims");
        return Err(Error::new(ErrorKind::Index, op, what)
            .operand(names, &[])
            .hint("give two different dims"));
    }
    let mut others = names.iter().take(rank - 2);
    let result = (0..rank).map(|at| match at {
        _ if at == dim1 => plane[0].clone(),
        _ if at == dim2 => plane[1].clone(),
        _ => others.next().cloned().flatten(),
    });
    let result = distinct(op, result.collect()).map_err(|e| e.operand(names, &[]))?;
    Ok((dim1, dim2, result))
}
