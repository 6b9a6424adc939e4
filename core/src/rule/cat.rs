//! Rule 6: tensors joined along an existing or a new dim.

use alloc::format;

use smallvec::SmallVec;

use super::lookup::{DimRef, insert_position};
use super::remove::{rank_limit, unsqueeze};
use super::{Shape, unify_all};
use crate::error::{Error, ErrorKind, Result};
use crate::name::Names;

/// The result of `cat` or `stack`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cat {
    /// The dim along which the operands are joined; the new one of `stack`.
    pub dim: usize,
    /// The names of the result.
    pub names: Names,
    /// The shape of the result.
    pub shape: Shape,
}

/// The names and sizes of an operand.
pub type NamedShape<'a> = (&'a Names, &'a [usize]);

/// Joins the operands along an existing dim, which is looked up in the first one. Checks ranks
/// first, then names, then sizes. If no operand has names, operands of shape `[0]` are skipped,
/// whatever the rank of the others; callers skip them too ([`is_skipped`]).
///
/// # Errors
/// [`ErrorKind::Rank`], [`ErrorKind::Shape`], the errors of [`unify`](super::unify) and of the
/// look-up of `dim`, [`ErrorKind::Argument`] for no operands.
pub fn cat(op: &'static str, operands: &[NamedShape<'_>], dim: DimRef<'_>) -> Result<Cat> {
    let unnamed = !operands.iter().any(|(names, _)| names.has_names());
    // If all operands are unnamed and of shape [0], they are joined as vectors.
    let skip = |shape: &[usize]| unnamed && is_skipped(shape);
    let base = operands.iter().position(|(_, shape)| !skip(shape));
    let base = base.unwrap_or(0);
    let Some(&first) = operands.get(base) else {
        return Err(none(op));
    };
    // A dim given by name is looked up before any other check, in the first tensor.
    let named = match dim {
        DimRef::Index(_) => None,
        dim => Some(dim.position(op, operands[0].0)?),
    };
    for (i, (names, shape)) in operands.iter().enumerate() {
        if shape.is_empty() || (names.len() != first.0.len() && !skip(shape)) {
            return Err(ranks(op, first, (names, shape), i));
        }
    }
    let joined = operands.iter().enumerate();
    let joined = joined.filter(|(_, (_, shape))| !skip(shape));
    let names = if unnamed {
        first.0.clone()
    } else {
        unify_all(op, operands.iter().map(|(names, _)| *names))?
    };
    let dim = match named {
        Some(dim) => dim,
        None => dim.position(op, first.0)?,
    };
    let mut shape = Shape::from_slice(first.1);
    shape[dim] = 0;
    for (i, &(_, sizes)) in joined {
        for (at, (&own, &size)) in first.1.iter().zip(sizes).enumerate() {
            if at != dim && own != size {
                return Err(apart(op, operands, [(base, at), (i, at)])
                    .hint("sizes match in every dim but the one the tensors are joined along"));
            }
        }
        shape[dim] = shape[dim]
            .checked_add(sizes[dim])
            .ok_or_else(|| overflow(op, first))?;
    }
    Ok(Cat { dim, names, shape })
}

/// Returns whether [`cat`] skips an operand of this shape if no operand has names.
#[must_use]
pub fn is_skipped(shape: &[usize]) -> bool {
    shape == [0]
}

/// Joins operands of the same shape along a new dim at `index`, unnamed unless `name` is given.
///
/// # Errors
/// [`ErrorKind::Rank`], [`ErrorKind::Shape`], the errors of [`unify`](super::unify),
/// [`ErrorKind::Index`] for the new position, [`ErrorKind::DuplicateNames`],
/// [`ErrorKind::InvalidName`], [`ErrorKind::Argument`] for no operands.
pub fn stack(
    op: &'static str,
    operands: &[NamedShape<'_>],
    index: i64,
    name: Option<&str>,
) -> Result<Cat> {
    let Some(&first) = operands.first() else {
        return Err(none(op));
    };
    rank_limit(op, first.0.len() + 1)?;
    insert_position(op, first.0.len(), index)?;
    for (i, (names, shape)) in operands.iter().enumerate() {
        if names.len() != first.0.len() {
            return Err(ranks(op, first, (names, shape), i));
        }
    }
    let unified = unify_all(op, operands.iter().map(|(names, _)| *names))?;
    for (i, &(_, shape)) in operands.iter().enumerate() {
        if let Some(at) = (0..shape.len()).find(|&at| shape[at] != first.1[at]) {
            return Err(apart(op, operands, [(0, at), (i, at)])
                .hint("all sizes match in `stack`; `cat` joins along a dim"));
        }
    }
    let (dim, names) = unsqueeze(op, &unified, index, name)?;
    let mut shape = Shape::from_slice(first.1);
    shape.insert(dim, operands.len());
    Ok(Cat { dim, names, shape })
}

#[cold]
fn none(op: &'static str) -> Error {
    Error::new(ErrorKind::Argument, op, "no tensors are given").hint("give at least one")
}

#[cold]
fn ranks(op: &'static str, first: NamedShape<'_>, other: NamedShape<'_>, i: usize) -> Error {
    let what = match other.1.len() {
        0 => format!("tensor {i} has no dims"),
        rank => format!(
            "the first tensor has {} dims, tensor {i} has {rank}",
            first.1.len()
        ),
    };
    Error::new(ErrorKind::Rank, op, what)
        .operand(first.0, first.1)
        .operand(other.0, other.1)
        .hint("bring them to one rank first: `unsqueeze` or `align_as`")
}

#[cold]
fn apart(op: &'static str, operands: &[NamedShape<'_>], dims: [(usize, usize); 2]) -> Error {
    Error::sizes(op, operands.iter().map(|x| x.1), dims).with_names(operands.iter().map(|x| x.0))
}

#[cold]
fn overflow(op: &'static str, first: NamedShape<'_>) -> Error {
    Error::new(ErrorKind::Shape, op, "the sum of the sizes overflows").operand(first.0, first.1)
}

/// The operands of [`cat`] and [`stack`], without allocation for up to 8.
pub type Operands<'a> = SmallVec<[NamedShape<'a>; 8]>;
