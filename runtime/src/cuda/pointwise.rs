//! Elementwise operators.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::expression::expression;
use super::map::Map;
use super::module::Module;
use super::{Cuda, staged};
use crate::SmallVec;
use crate::dispatch::arithmetic;
use crate::job::{Input, Place, Pointwise};
use crate::plan::Plan;

/// Computes an elementwise operator.
///
/// # Safety
/// See [`Backend`].
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
        expression,
        compute,
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

/// Lists the modules of all operators, for tensors of one dtype each. Integers that are computed as floats differ only
/// in their conversion, which one operator covers. A number in place of the last tensor differs only in how it is read,
/// which two operators cover.
pub(super) fn modules() -> Vec<Module> {
    let plan = Plan::new(&[], &[]);
    let of = |op: Op, dtype: DType, number: bool| -> Vec<Module> {
        let row = op.row();
        let resolved = row.dtype.resolve(dtype, DType::F32);
        if dtype.is_integral() && !resolved.compute.is_integral() && op != Op::Sqrt {
            return Vec::new();
        }
        let (Some(found), Some((tensors, _))) = (expression(op), row.expression()) else {
            return Vec::new();
        };
        let place = |dtype| Place {
            ptr: std::ptr::null_mut(),
            dtype,
        };
        let input = |k: usize| match k {
            _ if found.condition == Some(k) => Input::Tensor(place(DType::Bool)),
            _ if k + usize::from(number) < tensors => Input::Tensor(place(dtype)),
            _ => Input::Scalar(Scalar::Bool(true)),
        };
        let inputs: SmallVec<[Input; 4]> = (0..found.operands).map(input).collect();
        let map = Map {
            op: op.name(),
            expression: found,
            compute: arithmetic(resolved.compute),
            plan: &plan,
            dest: place(resolved.result),
            inputs: &inputs,
        };
        map.modules(op == Op::Add && !number)
    };
    let rows = Op::ALL.iter().filter(|op| expression(**op).is_some());
    let rows = rows.map(|&op| (op, false));
    let rows = rows.chain([(Op::Add, true), (Op::Ne, true)]);
    let mut all: Vec<(String, Module)> = rows
        .flat_map(|row| row.0.row().dtypes.iter().map(move |dtype| (row, dtype)))
        .flat_map(|((op, number), dtype)| of(op, dtype, number))
        .map(|module| (module.name(), module))
        .collect();
    // Some operators share an expression.
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.dedup_by(|a, b| a.0 == b.0);
    all.into_iter().map(|(_, module)| module).collect()
}
