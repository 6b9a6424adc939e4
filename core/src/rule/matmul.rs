//! Rule 5: matrix products, by position.

use alloc::format;

use super::item::distinct;
use super::unify;
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// Returns the names of a matrix times a matrix: the rows of `a`, the columns of `b`.
///
/// # Errors
/// [`ErrorKind::Rank`], or [`ErrorKind::DuplicateNames`] if both dims of the product have the same
/// name.
pub fn mm(op: &'static str, a: &Names, b: &Names) -> Result<Names> {
    ranks(op, a, b, 2, 2)?;
    product(op, a, b, 1)
}

/// Returns the names of a matrix times a vector: the rows of `a`.
///
/// # Errors
/// [`ErrorKind::Rank`].
pub fn mv(op: &'static str, a: &Names, b: &Names) -> Result<Names> {
    ranks(op, a, b, 2, 1)?;
    product(op, a, b, 1)
}

/// Returns the names of a vector times a vector, a number: none.
///
/// # Errors
/// [`ErrorKind::Rank`].
pub fn dot(op: &'static str, a: &Names, b: &Names) -> Result<Names> {
    ranks(op, a, b, 1, 1)?;
    Ok(Names::default())
}

/// Returns the names of a batched product: the unified batch, the rows of `a`, the columns of `b`.
///
/// # Errors
/// [`ErrorKind::Rank`], [`ErrorKind::NameMismatch`] or [`ErrorKind::Misaligned`] for the batch,
/// [`ErrorKind::DuplicateNames`].
pub fn bmm(op: &'static str, a: &Names, b: &Names) -> Result<Names> {
    ranks(op, a, b, 3, 3)?;
    product(op, a, b, 1)
}

/// Returns the names of any of these products, by rank: the batch dims unify from the right, a
/// vector loses its dim.
///
/// ```
/// use nomina_core::{Names, rule};
/// let a = Names::from_static(&[Some("B"), Some("N"), Some("K")]);
/// let b = Names::from_static(&[Some("K"), Some("M")]);
/// let c = rule::matmul("matmul", &a, &b)?;
/// assert_eq!(c, Names::from_static(&[Some("B"), Some("N"), Some("M")]));
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`bmm`]; [`ErrorKind::Rank`] for a zero-dim tensor.
pub fn matmul(op: &'static str, a: &Names, b: &Names) -> Result<Names> {
    if a.is_empty() || b.is_empty() {
        return Err(
            Error::new(ErrorKind::Rank, op, "takes tensors with at least 1 dim")
                .operand(a, &[])
                .operand(b, &[])
                .hint("use `mul` for a number"),
        );
    }
    product(op, a, b, 1)
}

/// Returns the names of distances between the rows of `a` and those of `b`: the unified batch, then
/// the rows of both.
///
/// # Errors
/// The errors of [`bmm`]; [`ErrorKind::Rank`] for fewer than 2 dims.
pub fn cdist(op: &'static str, a: &Names, b: &Names) -> Result<Names> {
    if a.len() < 2 || b.len() < 2 {
        return Err(
            Error::new(ErrorKind::Rank, op, "takes tensors with at least 2 dims")
                .operand(a, &[])
                .operand(b, &[])
                .hint("add a dim with `unsqueeze`"),
        );
    }
    product(op, a, b, 2)
}

/// Returns the names of `bias + a @ b` for matrices: the product's names unify with those of the
/// bias.
///
/// # Errors
/// The errors of [`mm`] and [`unify`].
pub fn addmm(op: &'static str, bias: &Names, a: &Names, b: &Names) -> Result<Names> {
    unify(op, &mm(op, a, b)?, bias)
}

/// Like [`addmm`], for a matrix and a vector.
///
/// # Errors
/// The errors of [`mv`] and [`unify`].
pub fn addmv(op: &'static str, bias: &Names, a: &Names, b: &Names) -> Result<Names> {
    unify(op, &mv(op, a, b)?, bias)
}

/// Like [`addmm`], for batches of matrices.
///
/// # Errors
/// The errors of [`bmm`] and [`unify`].
pub fn baddbmm(op: &'static str, bias: &Names, a: &Names, b: &Names) -> Result<Names> {
    unify(op, &bmm(op, a, b)?, bias)
}

/// Returns batch, the second to last dim of `a`, then the dim of `b` at `from_end` from the end: 1
/// for the columns of a product, 2 for the rows of `cdist`.
fn product(op: &'static str, a: &Names, b: &Names, from_end: usize) -> Result<Names> {
    let mut result = batch(op, a, b)?;
    if a.len() >= 2 {
        result.push(a[a.len() - 2].clone());
    }
    if b.len() >= 2 {
        result.push(b[b.len() - from_end].clone());
    }
    distinct(op, result).map_err(|e| {
        e.operand(a, &[])
            .operand(b, &[])
            .hint("rename a dim of one operand first: `x.rename(..)`")
    })
}

fn batch_dims(names: &Names) -> &[Option<Name>] {
    &names[..names.len().saturating_sub(2)]
}

/// Unifies the batch dims from the right. The name at the position of an unnamed dim may be nowhere
/// else in that whole operand, feature dims included.
pub(super) fn batch(op: &'static str, a: &Names, b: &Names) -> Result<Names> {
    let (batch_a, batch_b) = (batch_dims(a), batch_dims(b));
    let rank = batch_a.len().max(batch_b.len());
    let (skip_a, skip_b) = (rank - batch_a.len(), rank - batch_b.len());
    let mut result = Names::default();
    for i in 0..rank {
        let x = i.checked_sub(skip_a).map(|i| &batch_a[i]);
        let y = i.checked_sub(skip_b).map(|i| &batch_b[i]);
        result.push(match (x, y) {
            (Some(Some(x)), Some(Some(y))) if x != y => return Err(mismatch(op, a, b, x, y)),
            (Some(Some(name)), Some(None)) if b.position(name).is_some() => {
                return Err(misaligned(op, a, b, name));
            }
            (Some(None), Some(Some(name))) if a.position(name).is_some() => {
                return Err(misaligned(op, a, b, name));
            }
            (Some(Some(name)), _) | (_, Some(Some(name))) => Some(name.clone()),
            _ => None,
        });
    }
    Ok(result)
}

#[cold]
fn mismatch(op: &'static str, a: &Names, b: &Names, x: &Name, y: &Name) -> Error {
    Error::new(
        ErrorKind::NameMismatch,
        op,
        format!("batch dim `{x}` and batch dim `{y}` are at the same position but do not match"),
    )
    .operand(a, &[])
    .operand(b, &[])
    .hint(format!(
        "if they are the same dim, rename one: `y.rename({y}, {x})`"
    ))
}

#[cold]
fn misaligned(op: &'static str, a: &Names, b: &Names, name: &Name) -> Error {
    Error::new(
        ErrorKind::Misaligned,
        op,
        format!(
            "batch dim `{name}` meets an unnamed dim of an operand that has `{name}` elsewhere"
        ),
    )
    .operand(a, &[])
    .operand(b, &[])
    .hint("name the unnamed dim first: `x.refine_names(..)`")
}

fn ranks(op: &'static str, a: &Names, b: &Names, ra: usize, rb: usize) -> Result<()> {
    if a.len() == ra && b.len() == rb {
        return Ok(());
    }
    Err(wrong_ranks(op, ra, rb, a.len(), b.len())
        .operand(a, &[])
        .operand(b, &[]))
}

#[cold]
pub(super) fn wrong_ranks(op: &'static str, ra: usize, rb: usize, a: usize, b: usize) -> Error {
    Error::new(
        ErrorKind::Rank,
        op,
        format!("takes tensors with {ra} and {rb} dims, not {a} and {b}"),
    )
    .hint("`matmul` takes any ranks, `contract` any dims by name")
}
