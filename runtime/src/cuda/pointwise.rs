//! Elementwise operators.

use nomina_core::{Error, ErrorKind, Result};

use super::expression::expression;
use super::map::Map;
use super::{Cuda, staged};
use crate::backend::{Pointwise, arithmetic};

/// An elementwise operation.
///
/// # Safety
/// See [`crate::backend::Backend`].
pub(super) unsafe fn execute(cuda: &Cuda, job: &Pointwise<'_>) -> Result<()> {
    let (op, compute) = (job.op.name(), arithmetic(job.compute));
    let found = expression(job.op).filter(|found| found.result(compute).is_some());
    let expression = found.ok_or_else(|| {
        let what = format!("{} is not computed on a device", job.compute);
        Error::new(ErrorKind::DType, op, what).hint("convert with `to` first")
    })?;
    if expression.operands != job.inputs.len() {
        let (given, asked) = (job.inputs.len(), expression.operands);
        let what = format!("{given} operands, not {asked}");
        return Err(Error::new(ErrorKind::Argument, op, what)
            .hint("call it with the operands of its signature"));
    }
    let map = Map {
        op,
        text: expression.text,
        compute,
        condition: expression.condition,
        heavy: expression.heavy,
        plan: job.plan,
        dest: job.dest,
        inputs: job.inputs,
    };
    // SAFETY: the caller's promise.
    if unsafe { map.run(cuda)? } {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { staged::pointwise(cuda, job) }
}
