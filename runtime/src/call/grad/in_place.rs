//! Writes in place: the tensor is then computed from what was written and, where that was a part, from what it was before.

use nomina_core::{Error, ErrorKind, Names, Result, Scalar};

use crate::call::convert::written;
use crate::call::{contiguous, duplicate, fill, to_dtype};
use crate::raw::graph::{OperandGrads, Overwritten, ResultGrads, Rule, Run, View, no_grad};
use crate::raw::{Raw, RawMut};

/// Writes to a region whose tensor has a node, or whose new elements have. `value` makes them of those that are there.
///
/// # Errors
/// When the tensor is a leaf, `value` fails, or memory is missing; nothing has changed then.
#[cold]
pub(in crate::call) fn assign(
    op: &'static str,
    mut dest: RawMut<'_>,
    value: impl FnOnce(&Raw) -> Result<Raw>,
) -> Result<()> {
    refuse_leaf(op, &dest)?;
    let value = value(&dest.value()?)?.expand(dest.shape())?;
    let value = to_dtype(&value, dest.dtype())?;
    let node = dest.node_after(op, Some(&value))?;
    // What was there may have been saved.
    dest.own(duplicate)?;
    written(dest.reborrow(), &value)?;
    dest.was_computed_by(node);
    Ok(())
}

/// Writes to a region whose tensor keeps its node: as in PyTorch gradients pass through what is logical in place.
///
/// # Errors
/// As [`assign`].
#[cold]
pub(in crate::call) fn assign_unrecorded(
    op: &'static str,
    mut dest: RawMut<'_>,
    value: impl FnOnce(&Raw) -> Result<Raw>,
) -> Result<()> {
    refuse_leaf(op, &dest)?;
    let value = value(&dest.value()?)?.expand(dest.shape())?;
    let value = to_dtype(&value, dest.dtype())?;
    dest.own(duplicate)?;
    written(dest, &value)
}

/// Writes a number to a region whose tensor has a node.
///
/// # Errors
/// When the tensor is a leaf, or memory is missing; nothing has changed then.
#[cold]
pub(in crate::call) fn assign_number(
    op: &'static str,
    mut dest: RawMut<'_>,
    number: Scalar,
) -> Result<()> {
    refuse_leaf(op, &dest)?;
    let node = dest.node_after(op, None)?;
    dest.own(duplicate)?;
    no_grad(|| fill(dest.reborrow(), number))?;
    dest.was_computed_by(node);
    Ok(())
}

/// Before numbers are written to a region by hand or by a generator: what was computed there is gone.
///
/// # Errors
/// When the tensor is a leaf, or memory is missing; nothing has changed then.
pub(in crate::call) fn overwrite(op: &'static str, dest: &mut RawMut<'_>) -> Result<()> {
    if !dest.records([]) {
        return Ok(());
    }
    refuse_leaf(op, dest)?;
    let node = dest.node_after(op, None)?;
    dest.own(duplicate)?;
    dest.was_computed_by(node);
    Ok(())
}

fn refuse_leaf(op: &'static str, dest: &RawMut<'_>) -> Result<()> {
    if !dest.is_of_leaf() {
        return Ok(());
    }
    let what = "a leaf that wants a gradient is written to";
    Err(Error::new(ErrorKind::Gradient, op, what)
        .operand(&Names::default(), dest.shape())
        .hint("do it within `no_grad`"))
}

/// What an operator says that would write the result of recorded operands to an out tensor.
#[cold]
pub(in crate::call) fn out_of_recorded(op: &'static str, dest: &RawMut<'_>) -> Error {
    Error::new(ErrorKind::Gradient, op, "an out tensor takes no gradient")
        .operand(&Names::default(), dest.shape())
        .hint("use the method, or `no_grad`")
}

/// A gradient with zeros in a part.
fn without(grad: &Raw, part: &View) -> Result<Raw> {
    // A view is no leaf, which could not be written to.
    let mut rest = contiguous(grad)?.expand(grad.shape())?;
    fill(rest.as_mut()?.through(part), Scalar::Int(0))?;
    Ok(rest)
}

impl Rule for Overwritten {
    fn op(&self) -> &'static str {
        self.op
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let mut found = OperandGrads::new();
        let Some(Some(grad)) = given.first() else {
            return Ok(found);
        };
        found.push(match run.wants(0) {
            true => Some(without(grad, &self.part)?),
            false => None,
        });
        found.push(match run.wants(1) {
            true => Some(contiguous(grad)?.through(&self.part)?),
            false => None,
        });
        Ok(found)
    }
}
