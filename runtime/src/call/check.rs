//! Checks of operands that entries share, and the errors that they return.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Names, Result};

use crate::Device;
use crate::raw::Raw;

/// Checks that a dim is in range.
#[inline]
pub(super) fn dim(op: &'static str, shape: &[usize], dim: usize) -> Result<()> {
    if dim < shape.len() {
        return Ok(());
    }
    Err(out_of_range(op, shape, dim))
}

/// Checks that dims are in range and differ from each other.
pub(super) fn dims(op: &'static str, shape: &[usize], dims: &[usize]) -> Result<()> {
    for (at, &each) in dims.iter().enumerate() {
        dim(op, shape, each)?;
        if dims[..at].contains(&each) {
            let what = format!("dim {each} is repeated");
            return Err(Error::new(ErrorKind::Argument, op, what)
                .operand(&Names::default(), shape)
                .hint("list each dim once"));
        }
    }
    Ok(())
}

#[cold]
fn out_of_range(op: &'static str, shape: &[usize], dim: usize) -> Error {
    let what = format!("dim {dim} is out of range for {} dims", shape.len());
    Error::new(ErrorKind::Index, op, what)
        .operand(&Names::default(), shape)
        .hint("count dims from 0, outermost first")
}

/// Returns the error of an operator that the entry `entry` does not compute.
#[cold]
pub(crate) fn wrong_entry(op: Op, entry: &str) -> Error {
    let what = format!("is not computed by `call::{entry}`");
    Error::new(ErrorKind::Argument, op.name(), what).hint("use the entry of its class")
}

/// Checks that all operands are on one device.
///
/// # Errors
/// [`ErrorKind::Device`] with the first two devices that differ.
pub fn same_device(op: &'static str, operands: &[&Raw]) -> Result<()> {
    let Some((first, rest)) = operands.split_first() else {
        return Ok(());
    };
    match rest.iter().find(|x| x.device() != first.device()) {
        None => Ok(()),
        Some(x) => {
            let error = mixed_devices(op, first.device(), x.device());
            let with = |error: Error, x: &&Raw| error.operand(&Names::default(), x.shape());
            Err(operands.iter().fold(error, with))
        }
    }
}

/// Checks that a result is on the device of its destination.
///
/// # Errors
/// [`ErrorKind::Device`] with both devices.
pub fn fits_device(op: &'static str, dest: Device, result: Device) -> Result<()> {
    if dest == result {
        return Ok(());
    }
    let what = format!("result on `{result}`, destination on `{dest}`");
    Err(Error::new(ErrorKind::Device, op, what).hint("move one of them with `to_device`"))
}

/// Returns the error of operands on two devices.
#[cold]
pub(super) fn mixed_devices(op: &'static str, a: Device, b: Device) -> Error {
    let what = format!("operands are on `{a}` and `{b}`");
    Error::new(ErrorKind::Device, op, what).hint("move them to one device with `to_device`")
}

/// Returns an error with the sizes of all operands.
#[cold]
pub(super) fn refuse(kind: ErrorKind, op: Op, operands: &[&Raw], what: impl Into<String>) -> Error {
    operands
        .iter()
        .fold(Error::new(kind, op.name(), what), |error, x| {
            error.operand(&Names::default(), x.shape())
        })
}

/// Returns the error of two dims of the operands whose sizes do not match.
#[cold]
pub(super) fn unequal_sizes(op: Op, operands: &[&Raw], dims: [(usize, usize); 2]) -> Error {
    Error::sizes(op.name(), operands.iter().map(|x| x.shape()), dims)
}

/// Checks that the operands have one dtype, which the operator takes, and are on one device.
pub(super) fn check_same_kind(op: Op, operands: &[&Raw]) -> Result<()> {
    let first = operands[0];
    op.row().check_dtype(first.dtype())?;
    for x in operands {
        if x.dtype() != first.dtype() {
            let what = format!("dtypes {} and {} differ", first.dtype(), x.dtype());
            return Err(refuse(ErrorKind::DType, op, operands, what)
                .hint("convert one with `to`: products do not promote"));
        }
        if x.device() != first.device() {
            let what = format!("operands are on `{}` and `{}`", first.device(), x.device());
            return Err(
                refuse(ErrorKind::Device, op, operands, what).hint("move one with `to_device`")
            );
        }
    }
    Ok(())
}

/// Adds the operands to an error about batch sizes that do not broadcast.
#[cold]
pub(super) fn unequal_batches(error: Error, operands: &[&Raw]) -> Error {
    error
        .on_operands(operands.iter().map(|x| x.shape()))
        .hint("make the sizes before the last two equal, or one of them 1")
}
