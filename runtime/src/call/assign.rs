//! Writes in place to recorded tensors. The tensor gets a new node, whose operands are the new elements and, if only a part was
//! written, the tensor before.

use nomina_core::{Error, ErrorKind, Names, Result, Scalar};

use super::convert::{duplicate, fill_elements, to_dtype, write_elements};
use crate::raw::{Raw, RawMut};

/// Writes to a region whose tensor or new elements have a node. `value` computes the new elements from the present ones.
///
/// # Errors
/// If the tensor is a leaf, `value` fails or memory is missing; nothing has changed then.
#[cold]
pub(super) fn assign(
    op: &'static str,
    mut dest: RawMut<'_>,
    value: impl FnOnce(&Raw) -> Result<Raw>,
) -> Result<()> {
    check_no_leaf(op, &dest)?;
    let value = value(&dest.value()?)?.expand(dest.shape())?;
    let value = to_dtype(&value, dest.dtype())?;
    let node = dest.node_after(op, Some(&value))?;
    // A node may have saved the present elements.
    dest.own(duplicate)?;
    write_elements(dest.reborrow(), &value)?;
    dest.was_computed_by(node);
    Ok(())
}

/// Writes to a region whose tensor keeps its node: as in PyTorch, gradients pass through logical operators in place.
///
/// # Errors
/// The errors of [`assign`].
#[cold]
pub(super) fn assign_unrecorded(
    op: &'static str,
    mut dest: RawMut<'_>,
    value: impl FnOnce(&Raw) -> Result<Raw>,
) -> Result<()> {
    check_no_leaf(op, &dest)?;
    let value = value(&dest.value()?)?.expand(dest.shape())?;
    let value = to_dtype(&value, dest.dtype())?;
    dest.own(duplicate)?;
    write_elements(dest, &value)
}

/// Writes a number to a region whose tensor has a node.
///
/// # Errors
/// If the tensor is a leaf or memory is missing; nothing has changed then.
#[cold]
pub(super) fn assign_number(op: &'static str, mut dest: RawMut<'_>, number: Scalar) -> Result<()> {
    check_no_leaf(op, &dest)?;
    let node = dest.node_after(op, None)?;
    dest.own(duplicate)?;
    fill_elements(dest.reborrow(), number)?;
    dest.was_computed_by(node);
    Ok(())
}

/// Prepares a region for numbers that are written by hand or by a generator: its present elements no longer count.
///
/// # Errors
/// If the tensor is a leaf or memory is missing; nothing has changed then.
pub(super) fn prepare_overwrite(op: &'static str, dest: &mut RawMut<'_>) -> Result<()> {
    if !dest.records([]) {
        return Ok(());
    }
    check_no_leaf(op, dest)?;
    let node = dest.node_after(op, None)?;
    dest.own(duplicate)?;
    dest.was_computed_by(node);
    Ok(())
}

fn check_no_leaf(op: &'static str, dest: &RawMut<'_>) -> Result<()> {
    if !dest.is_of_leaf() {
        return Ok(());
    }
    let what = "writes to a leaf that requires a gradient";
    Err(Error::new(ErrorKind::Gradient, op, what)
        .operand(&Names::default(), dest.shape())
        .hint("do it within `no_grad`"))
}

/// Returns the error of an operator that would write the result of recorded operands to an out tensor.
#[cold]
pub(super) fn recorded_out(op: &'static str, dest: &RawMut<'_>) -> Error {
    Error::new(ErrorKind::Gradient, op, "an out tensor takes no gradient")
        .operand(&Names::default(), dest.shape())
        .hint("use the method, or `no_grad`")
}
