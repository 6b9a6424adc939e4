//! Sizes: products without overflow, broadcasting, expansion.

use alloc::format;

use super::Shape;
use super::remove::rank_limit;
use crate::error::{Error, ErrorKind, Result};
use crate::name::{MAX_DIMS, Names};

/// The maximum number of elements of a tensor or view: 2^55 - 1 on 64-bit targets. With the largest dtype they take
/// 2^59 bytes, so that no product of a tensor's sizes and an element's size wraps, even times a small factor.
pub const MAX_NUMEL: usize = (isize::MAX as usize) >> if usize::BITS > 32 { 8 } else { 4 };

/// Returns the number of elements of a tensor of these sizes. This function defines which sizes a tensor or view may
/// have: at most [`MAX_DIMS`](crate::MAX_DIMS) of them, with a product of at most [`MAX_NUMEL`]. In that product a size
/// of zero counts as one, as in NumPy: the sizes next to a zero are multiplied too.
///
/// # Errors
/// [`ErrorKind::Rank`] for more dims, [`ErrorKind::Shape`] for more elements.
#[inline]
pub fn numel(op: &'static str, shape: &[usize]) -> Result<usize> {
    let (mut extent, mut empty) = (1_usize, false);
    for &size in shape {
        empty |= size == 0;
        extent = extent.saturating_mul(size.max(1));
    }
    if extent > MAX_NUMEL || shape.len() > MAX_DIMS {
        return Err(too_large(op, shape));
    }
    Ok(if empty { 0 } else { extent })
}

#[cold]
fn too_large(op: &'static str, shape: &[usize]) -> Error {
    if let Err(error) = rank_limit(op, shape.len()) {
        return error;
    }
    let what = format!("the sizes multiply to more than the {MAX_NUMEL} elements of any tensor");
    Error::new(ErrorKind::Shape, op, what)
        .operand(&Names::default(), shape)
        .hint("use smaller sizes; a size of zero does not lift the limit")
}

/// Returns the shape to which both broadcast: from the right, sizes are equal or 1.
///
/// # Errors
/// [`ErrorKind::Shape`], about the first operand's dim; [`Error::with_names`] names it.
pub fn broadcast_shapes(op: &'static str, a: &[usize], b: &[usize]) -> Result<Shape> {
    if a == b {
        return Ok(Shape::from_slice(a));
    }
    let rank = a.len().max(b.len());
    let (skip_a, skip_b) = (rank - a.len(), rank - b.len());
    let mut result = Shape::with_capacity(rank);
    for i in 0..rank {
        let x = if i < skip_a { 1 } else { a[i - skip_a] };
        let y = if i < skip_b { 1 } else { b[i - skip_b] };
        match (x, y) {
            (x, y) if x == y => result.push(x),
            (1, y) => result.push(y),
            (x, 1) => result.push(x),
            _ => return Err(unequal(op, [a, b], [(0, i - skip_a), (1, i - skip_b)])),
        }
    }
    Ok(result)
}

#[cold]
fn unequal<'a>(
    op: &'static str,
    operands: impl IntoIterator<Item = &'a [usize]>,
    dims: [(usize, usize); 2],
) -> Error {
    Error::sizes(op, operands, dims).hint("sizes broadcast when they are equal or one of them is 1")
}

/// Like [`broadcast_shapes`], over all operands.
///
/// # Errors
/// The errors of [`broadcast_shapes`], with all operands.
pub fn broadcast_all<'a>(
    op: &'static str,
    shapes: impl IntoIterator<Item = &'a [usize], IntoIter: Clone>,
) -> Result<Shape> {
    let shapes = shapes.into_iter();
    let rank = shapes.clone().map(<[usize]>::len).max().unwrap_or(0);
    let mut result = Shape::from_elem(1, rank);
    for (operand, shape) in shapes.clone().enumerate() {
        let left = rank - shape.len();
        for (dim, &size) in shape.iter().enumerate() {
            let merged = &mut result[left + dim];
            if *merged == 1 {
                *merged = size;
            } else if size != 1 && size != *merged {
                // This operand disagrees with the first one that has the merged size.
                let place = |shape: &[usize]| (left + dim).checked_sub(rank - shape.len());
                let other = shapes
                    .clone()
                    .position(|shape| place(shape).and_then(|at| shape.get(at)) == Some(&*merged));
                let other = other.unwrap_or(operand);
                let its = shapes.clone().nth(other).and_then(place).unwrap_or(dim);
                return Err(unequal(op, shapes, [(other, its), (operand, dim)]));
            }
        }
    }
    Ok(result)
}

/// Checks that an operator in place keeps the shape of self: `other` broadcasts to `own`.
///
/// # Errors
/// [`ErrorKind::Shape`].
pub fn broadcast_into(op: &'static str, own: &[usize], other: &[usize]) -> Result<()> {
    let shape = broadcast_shapes(op, own, other)?;
    if *shape == *own {
        return Ok(());
    }
    const HINT: &str = "in-place operators keep self's sizes: use the out-of-place one";
    if let Some(new) = own.len().checked_sub(other.len()) {
        let grows = |&at: &usize| own[new + at] != shape[new + at];
        if let Some(at) = (0..other.len()).find(grows) {
            return Err(Error::sizes(op, [own, other], [(0, new + at), (1, at)]).hint(HINT));
        }
    }
    let none = Names::default();
    Err(Error::new(
        ErrorKind::Shape,
        op,
        format!(
            "the result has shape {:?}, which self can't hold",
            shape.as_slice()
        ),
    )
    .operand(&none, own)
    .operand(&none, other)
    .hint(HINT))
}

/// Checks that sizes expand to those of another tensor: only dims of size 1 grow.
///
/// # Errors
/// [`ErrorKind::Shape`] if a dim of another size would change.
pub fn expand_as(shape: &[usize], other: &[usize]) -> Result<()> {
    // A shape with more dims is reported by `expand`.
    let Some(new) = other.len().checked_sub(shape.len()) else {
        return Ok(());
    };
    let both = shape.iter().zip(&other[new..]);
    let apart = both.clone().position(|(&own, &its)| own != its && own != 1);
    match apart {
        Some(dim) => {
            let dims = [(0, dim), (1, new + dim)];
            let error = Error::sizes("expand_as", [shape, other], dims);
            Err(error.hint("only dims of size 1 repeat"))
        }
        None => Ok(()),
    }
}

/// Returns the names and the shape of a tensor expanded to `sizes`: dims of size 1 grow, -1 keeps a size, new dims on
/// the left are unnamed.
///
/// # Errors
/// [`ErrorKind::Shape`] if a dim of another size would change or a new dim has no size,
/// [`ErrorKind::Rank`] for fewer sizes than dims.
pub fn expand(
    op: &'static str,
    names: &Names,
    shape: &[usize],
    sizes: &[i64],
) -> Result<(Names, Shape)> {
    let Some(new) = sizes.len().checked_sub(shape.len()) else {
        return Err(Error::new(
            ErrorKind::Rank,
            op,
            format!("{} sizes for {} dims", sizes.len(), shape.len()),
        )
        .operand(names, shape)
        .hint("give a size per dim, -1 to keep one"));
    };
    rank_limit(op, sizes.len())?;
    let mut expanded = Shape::with_capacity(sizes.len());
    for (i, &size) in sizes.iter().enumerate() {
        let old = i.checked_sub(new).map(|i| shape[i]);
        expanded.push(match (old, usize::try_from(size)) {
            (Some(old), Err(_)) if size == -1 => old,
            (Some(1) | None, Ok(size)) => size,
            (Some(old), Ok(size)) if old == size => size,
            (Some(_), _) => {
                return Err(Error::new(
                    ErrorKind::Shape,
                    op,
                    format!("can't expand to size {size}"),
                )
                .operand(names, shape)
                .at(0, i - new)
                .hint("only a dim of size 1 can grow; -1 keeps a size"));
            }
            (None, Err(_)) => {
                return Err(Error::new(
                    ErrorKind::Shape,
                    op,
                    format!("new dim {i} of size {size}"),
                )
                .operand(names, shape)
                .hint("a new dim needs a size; -1 keeps that of an existing dim"));
            }
        });
    }
    let mut result = Names::unnamed(new);
    for name in names {
        result.push(name.clone());
    }
    Ok((result, expanded))
}
