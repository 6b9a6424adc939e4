//! Rule 8: results written into a tensor that is there already.
//!
//! Two faults at once are reported in PyTorch's order: the operands' names, their sizes, the cast,
//! the size of the tensor written to, and last its names. An operator therefore unifies and
//! broadcasts first, checks the dtype, and asks these functions at the end.

use alloc::format;

use super::{Shape, unify};
use crate::error::{Error, ErrorKind, Result};
use crate::name::Names;

/// The names an `out` tensor has afterwards: one without any name receives the computed names, any
/// other must have them already, unnamed dims included.
///
/// # Errors
/// [`ErrorKind::NameMismatchOut`].
pub fn out(op: &'static str, out: &Names, computed: &Names) -> Result<Names> {
    receive(op, out, computed, "the out tensor")
}

/// The names self has after an operator in place: as [`out`], with self.
///
/// # Errors
/// [`ErrorKind::NameMismatchOut`].
pub fn in_place(op: &'static str, own: &Names, computed: &Names) -> Result<Names> {
    receive(op, own, computed, "self")
}

/// The names self has after an operator in place with another operand, `copy_` too: both unify,
/// then self receives the result.
///
/// # Errors
/// As [`unify`] and [`in_place`].
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
    .hint("refine or rename it first, or drop its names: it then takes those of the result"))
}

/// Whether an out tensor is resized to the result's shape: one without names is, where it differs.
///
/// # Errors
/// [`ErrorKind::Resize`] when a named one would be.
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
        .hint("an out tensor with names keeps its sizes: give one of the result's"))
}

/// `resize_`: a named tensor only to its own shape.
///
/// # Errors
/// [`ErrorKind::Resize`].
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

/// `resize_as_`: the shape and the names self has afterwards. One without names takes both, a named
/// one needs them equal.
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
