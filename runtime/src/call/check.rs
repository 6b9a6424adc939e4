//! Checks that entries share.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Names, Result};

/// Refuses a dim that is out of range.
#[inline]
pub(super) fn dim(op: &'static str, shape: &[usize], dim: usize) -> Result<()> {
    if dim < shape.len() {
        return Ok(());
    }
    Err(out_of_range(op, shape, dim))
}

/// Refuses dims that are out of range, or stand twice.
pub(super) fn dims(op: &'static str, shape: &[usize], dims: &[usize]) -> Result<()> {
    for (at, &each) in dims.iter().enumerate() {
        dim(op, shape, each)?;
        if dims[..at].contains(&each) {
            let what = format!("dim {each} stands twice");
            return Err(Error::new(ErrorKind::Argument, op, what)
                .operand(&Names::default(), shape)
                .hint("name each dim once"));
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

/// The error of an operator that the entry `entry` does not compute.
#[cold]
pub(super) fn another(op: Op, entry: &str) -> Error {
    let what = format!("is no operator that `call::{entry}` computes");
    Error::new(ErrorKind::Argument, op.name(), what).hint("take the entry of its class")
}
