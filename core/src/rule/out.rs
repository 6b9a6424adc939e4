//! Rule 8: results written into an existing tensor.
//!
//! If there are several errors, the first in PyTorch's order is reported: the operands' names,
//! their sizes, the cast, the size of the tensor written to, and last its names. An operator
//! therefore unifies and broadcasts first, checks the dtype, and calls these functions at the end.

use alloc::format;

use super::{Shape, unify};
use crate::error::{Error, ErrorKind, Result};
use crate::name::Names;

/// Returns the names of an `out` tensor after a call: a tensor without names receives the computed
/// ones; any other must have them already, unnamed dims included.
///
/// # Errors
/// [`ErrorKind::NameMismatchOut`] if it has other names.
pub fn out(op: &'static str, out: &Names, computed: &Names) -> Result<Names> {
    receive(op, out, computed, "the out tensor")
}

/// Like [`out`], for the names of self after an operator in place.
///
/// # Errors
/// [`ErrorKind::NameMismatchOut`] if self has other names.
pub fn in_place(op: &'static str, own: &Names, computed: &Names) -> Result<Names> {
    receive(op, own, computed, "self")
}

/// Returns the names of self after an operator in place with another operand, `copy_` included:
/// both unify, then self receives the result.
///
/// # Errors
/// The errors of [`unify`] and [`in_place`].
pub fn unify_in_place(op: &'static str, own: &Names, other: &Names) -> Result<Names> {
    let unified = unify(op, own, other)?;
    in_place(op, own, &unified)
}

fn receive(op: &'static str, own: &Names, computed: &Names, whose: &str) -> Result<Names> {
    if own == computed || !own.has_names() {
        return Ok(computed.clone());
    }
    Err(Error::new(
        ErrorKind::NameMismatchOut,
        op,
        format!("{whose} has dims {own}, the result has dims {computed}"),
    )
    .operand(own, &[])
    .operand(computed, &[])
    .hint("refine or rename it first, or drop its names to take those of the result"))
}

/// Returns whether an out tensor is resized to the result's shape: it is if the shapes differ and
/// it has no names.
///
/// # Errors
/// [`ErrorKind::Resize`] if a named tensor would be resized.
pub fn out_shape(
    op: &'static str,
    names: &Names,
    shape: &[usize],
    computed: &[usize],
) -> Result<bool> {
    if shape == computed {
        return Ok(false);
    }
    if !names.has_names() {
        return Ok(true);
    }
    let apart = shape.iter().zip(computed).position(|(own, new)| own != new);
    let what = match apart.filter(|_| shape.len() == computed.len()) {
        Some(dim) => {
            let called = match &names[dim] {
                Some(name) => format!("dim `{name}`"),
                None => format!("dim {dim}"),
            };
            let (own, new) = (shape[dim], computed[dim]);
            format!("{called} has size {own} in the out tensor and {new} in the result")
        }
        None => {
            let (own, new) = (shape.len(), computed.len());
            format!("the out tensor has {own} dims and the result {new}")
        }
    };
    Err(Error::new(ErrorKind::Resize, op, what)
        .operand(names, shape)
        .operand(&Names::default(), computed)
        .hint("a named out tensor keeps its sizes: give one of the result's"))
}

/// Checks `resize_`: a named tensor can only be resized to its own shape.
///
/// # Errors
/// [`ErrorKind::Resize`] for another shape.
pub fn resize(op: &'static str, names: &Names, shape: &[usize], new: &[usize]) -> Result<()> {
    if !names.has_names() || shape == new {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Resize,
        op,
        format!("a named tensor can't be resized to {new:?}"),
    )
    .operand(names, shape)
    .hint("drop its names first, or make a new tensor"))
}

/// Returns the names and the shape of self after `resize_as_`. A tensor without names takes both;
/// in a named one both must be equal.
///
/// # Errors
/// [`ErrorKind::Resize`] for another shape, [`ErrorKind::NameMismatchOut`] for other names.
pub fn resize_as(
    op: &'static str,
    own: (&Names, &[usize]),
    other: (&Names, &[usize]),
) -> Result<(Names, Shape)> {
    resize(op, own.0, own.1, other.1)?;
    Ok((in_place(op, own.0, other.0)?, Shape::from_slice(other.1)))
}
