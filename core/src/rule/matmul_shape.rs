//! Rule 5 for sizes: the shapes of products.

use super::Shape;
use super::matmul::wrong_ranks;
use crate::error::{Error, ErrorKind, Result};
use crate::name::Names;

/// Returns the shape of [`mm`](super::mm).
///
/// # Errors
/// [`ErrorKind::Rank`] or [`ErrorKind::Shape`].
pub fn mm_shape(op: &'static str, a: &[usize], b: &[usize]) -> Result<Shape> {
    strict_shape(op, a, b, 2, 2)
}

/// Returns the shape of [`mv`](super::mv).
///
/// # Errors
/// [`ErrorKind::Rank`] or [`ErrorKind::Shape`].
pub fn mv_shape(op: &'static str, a: &[usize], b: &[usize]) -> Result<Shape> {
    strict_shape(op, a, b, 2, 1)
}

/// Returns the shape of [`dot`](super::dot).
///
/// # Errors
/// [`ErrorKind::Rank`] or [`ErrorKind::Shape`].
pub fn dot_shape(op: &'static str, a: &[usize], b: &[usize]) -> Result<Shape> {
    strict_shape(op, a, b, 1, 1)
}

/// Returns the shape of [`bmm`](super::bmm): equal batch sizes, which do not broadcast.
///
/// # Errors
/// [`ErrorKind::Rank`] or [`ErrorKind::Shape`].
pub fn bmm_shape(op: &'static str, a: &[usize], b: &[usize]) -> Result<Shape> {
    if a.len() == 3 && b.len() == 3 && a[0] != b[0] {
        return Err(sizes(op, a, b, [0, 0]).hint("use `matmul`, whose batch dims broadcast"));
    }
    strict_shape(op, a, b, 3, 3)
}

fn strict_shape(op: &'static str, a: &[usize], b: &[usize], ra: usize, rb: usize) -> Result<Shape> {
    if a.len() != ra || b.len() != rb {
        let none = Names::default();
        return Err(wrong_ranks(op, ra, rb, a.len(), b.len())
            .operand(&none, a)
            .operand(&none, b));
    }
    matmul_shape(op, a, b)
}

/// Returns the shape of [`matmul`](super::matmul): batch sizes broadcast.
///
/// # Errors
/// [`ErrorKind::Rank`] or [`ErrorKind::Shape`].
pub fn matmul_shape(op: &'static str, a: &[usize], b: &[usize]) -> Result<Shape> {
    let (Some(&k), Some(_)) = (a.last(), b.last()) else {
        return Err(
            Error::new(ErrorKind::Rank, op, "takes tensors with at least 1 dim")
                .operand(&Names::default(), a)
                .operand(&Names::default(), b)
                .hint("use `mul` for a number"),
        );
    };
    let k_b = b[b.len().saturating_sub(2)];
    if k != k_b {
        return Err(sizes(op, a, b, [a.len() - 1, b.len().saturating_sub(2)])
            .hint("the left operand's last size must be the right one's second to last"));
    }
    let mut shape = batch(op, a, b)?;
    if a.len() >= 2 {
        shape.push(a[a.len() - 2]);
    }
    if b.len() >= 2 {
        shape.push(b[b.len() - 1]);
    }
    Ok(shape)
}

/// Returns the shape of [`cdist`](super::cdist).
///
/// # Errors
/// [`ErrorKind::Rank`] or [`ErrorKind::Shape`].
pub fn cdist_shape(op: &'static str, a: &[usize], b: &[usize]) -> Result<Shape> {
    if a.len() < 2 || b.len() < 2 {
        return Err(
            Error::new(ErrorKind::Rank, op, "takes tensors with at least 2 dims")
                .operand(&Names::default(), a)
                .operand(&Names::default(), b)
                .hint("add a dim with `unsqueeze`"),
        );
    }
    let (k, k_b) = (a[a.len() - 1], b[b.len() - 1]);
    if k != k_b {
        return Err(
            sizes(op, a, b, [a.len() - 1, b.len() - 1]).hint("both need rows of one length")
        );
    }
    let mut shape = batch(op, a, b)?;
    shape.push(a[a.len() - 2]);
    shape.push(b[b.len() - 2]);
    Ok(shape)
}

/// Broadcasts the batch sizes of both.
fn batch(op: &'static str, a: &[usize], b: &[usize]) -> Result<Shape> {
    let (batch_a, batch_b) = (a.len().saturating_sub(2), b.len().saturating_sub(2));
    let rank = batch_a.max(batch_b);
    let (skip_a, skip_b) = (rank - batch_a, rank - batch_b);
    let mut shape = Shape::new();
    for i in 0..rank {
        let x = i.checked_sub(skip_a).map_or(1, |i| a[i]);
        let y = i.checked_sub(skip_b).map_or(1, |i| b[i]);
        if x != y && x != 1 && y != 1 {
            return Err(sizes(op, a, b, [i - skip_a, i - skip_b])
                .hint("batch sizes broadcast when they are equal or one of them is 1"));
        }
        shape.push(if x == 1 { y } else { x });
    }
    Ok(shape)
}

/// Creates the error that dim `i` of the first operand and `j` of the second differ.
#[cold]
fn sizes(op: &'static str, a: &[usize], b: &[usize], [i, j]: [usize; 2]) -> Error {
    Error::sizes(op, [a, b], [(0, i), (1, j)])
}
