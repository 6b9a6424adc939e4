//! Operators that combine the dims of several tensors into one tensor: `meshgrid`, `block_diag`.

use alloc::format;

use super::cat::NamedShape;
use super::item::distinct;
use super::remove::rank_limit;
use super::{Shape, unify};
use crate::error::{Error, ErrorKind, Result};
use crate::name::Names;

/// Returns the names and sizes of a grid: one dim from each operand, in their order. A number
/// contributes an unnamed dim of size 1.
///
/// # Errors
/// [`ErrorKind::Rank`] for an operand with more than one dim, [`ErrorKind::DuplicateNames`],
/// [`ErrorKind::Argument`] for no operands.
pub fn meshgrid(op: &'static str, operands: &[NamedShape<'_>]) -> Result<(Names, Shape)> {
    if operands.is_empty() {
        return Err(
            Error::new(ErrorKind::Argument, op, "no tensors are given").hint("give at least one")
        );
    }
    rank_limit(op, operands.len())?;
    let mut names = Names::default();
    let mut sizes = Shape::new();
    for (i, &(own, shape)) in operands.iter().enumerate() {
        if shape.len() > 1 {
            let what = format!("tensor {i} has {} dims, not one", shape.len());
            return Err(Error::new(ErrorKind::Rank, op, what)
                .operand(own, shape)
                .hint("give one tensor per dim of the grid; `flatten` the others first"));
        }
        names.push(own.iter().next().cloned().flatten());
        sizes.push(shape.first().copied().unwrap_or(1));
    }
    let named = distinct(op, names).map_err(|error| {
        operands
            .iter()
            .fold(error, |error, (names, shape)| error.operand(names, shape))
    })?;
    Ok((named, sizes))
}

/// Returns the names of a matrix with the operands along its diagonal: a number counts as 1 by 1, a
/// vector as a row. The rows' names unify, and so do the columns'.
///
/// # Errors
/// [`ErrorKind::Rank`] for more than 2 dims, the errors of [`unify`].
pub fn block_diag(op: &'static str, operands: &[NamedShape<'_>]) -> Result<Names> {
    let mut result = Names::unnamed(2);
    for (i, &(names, shape)) in operands.iter().enumerate() {
        if shape.len() > 2 {
            let what = format!("tensor {i} has {} dims, more than 2", shape.len());
            return Err(Error::new(ErrorKind::Rank, op, what)
                .operand(names, shape)
                .hint("give matrices, vectors or numbers"));
        }
        result = unify(op, &result, names)?;
    }
    Ok(result)
}
