//! Operators by their row, one function for each class and form. Methods call them, and so does code that has an
//! operator as a value.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg};
use nomina_core::{DType, Error, Names, Result};
use smallvec::SmallVec;

use super::{DynTensor, Operand, ReduceOptions, about};
use crate::call::{self, Arg};
use crate::profile;
use crate::raw::{Raw, RawMut};

type Args<'a> = SmallVec<[Arg<'a>; 3]>;

fn args<'a>(operands: &[Operand<'a>]) -> Args<'a> {
    operands.iter().map(|operand| operand.arg()).collect()
}

pub(super) fn tensors<'a>(operands: &[Operand<'a>]) -> SmallVec<[&'a DynTensor; 3]> {
    operands
        .iter()
        .filter_map(|operand| operand.tensor())
        .collect()
}

/// Returns the operands of an elementwise operator with numbers.
pub(super) fn with<'a>(x: Option<&'a DynTensor>, numbers: &[f64]) -> SmallVec<[Operand<'a>; 4]> {
    let numbers = numbers.iter().map(|&number| number.into());
    x.map(Operand::Tensor).into_iter().chain(numbers).collect()
}

/// Returns the names of an elementwise result: those of all operands, unified.
pub(super) fn unified(op: Op, operands: &[&DynTensor]) -> Result<Names> {
    match operands {
        [only] => Ok(only.names.clone()),
        [a, b] => rule::unify(op.name(), &a.names, &b.names),
        _ => rule::unify_all(op.name(), operands.iter().map(|x| &x.names)),
    }
    .map_err(|e| about(e, operands))
}

/// Computes an elementwise operator, with operands in the order of its row. Names unify.
///
/// # Errors
/// If names do not unify, sizes do not broadcast, the operator does not support a dtype, or `op` is not elementwise or
/// takes another number of operands.
pub fn pointwise(op: Op, operands: &[Operand<'_>]) -> Result<DynTensor> {
    if let Some(made) = small(op, operands) {
        return Ok(made);
    }
    let names = unified(op, &tensors(operands))?;
    pointwise_as(op, operands, names)
}

/// Computes an elementwise operator on small operands with the same names.
#[inline]
fn small(op: Op, operands: &[Operand<'_>]) -> Option<DynTensor> {
    let (raw, names) = match *operands {
        [Operand::Tensor(x)] => (call::small_unary(op, &x.raw)?, &x.names),
        [Operand::Tensor(x), Operand::Tensor(y)] if x.names == y.names => {
            (call::small_same_shape(op, &x.raw, &y.raw)?, &x.names)
        }
        [a @ Operand::Tensor(x), b @ Operand::Scalar(_)]
        | [a @ Operand::Scalar(_), b @ Operand::Tensor(x)] => {
            (call::small_repeating(op, a.arg(), b.arg())?, &x.names)
        }
        _ => return None,
    };
    Some(DynTensor::new(raw, names.clone()))
}

/// Computes an elementwise operator whose result names are known.
pub(super) fn pointwise_as(op: Op, operands: &[Operand<'_>], names: Names) -> Result<DynTensor> {
    // Two operands are most frequent and are not pushed one by one.
    let raw = match operands {
        [first, second] => call::pointwise(op, &[first.arg(), second.arg()]),
        _ => call::pointwise(op, &args(operands)),
    };
    match raw {
        Ok(raw) => Ok(DynTensor::new(raw, names)),
        Err(error) => Err(about(error, &tensors(operands))),
    }
}

/// Computes an elementwise operator into its first operand. Checks everything before changing it.
///
/// # Errors
/// Like [`pointwise`]; also if the result's names, sizes or dtype do not fit `own`.
pub fn pointwise_in_place(op: Op, own: &mut DynTensor, rest: &[Operand<'_>]) -> Result<()> {
    let names = {
        let mut operands: SmallVec<[Operand<'_>; 3]> = SmallVec::new();
        operands.push((&*own).into());
        operands.extend_from_slice(rest);
        let all = tensors(&operands);
        let computed = unified(op, &all)?;
        for other in &all[1..] {
            rule::broadcast_into(op.name(), own.shape(), other.shape())
                .map_err(|e| about(e, &[own, other]))?;
        }
        let names = rule::in_place(op.name(), &own.names, &computed);
        let names = names.map_err(|e| about(e, &all))?;
        call::result_dtype(op, &args(&operands))
            .and_then(|dtypes| rule::dtype::cast_to(op.name(), dtypes.result, own.dtype()))
            .map_err(|e| about(e, &all))?;
        names
    };
    in_place_as(own, names, &tensors(rest), |dest| {
        call::pointwise_in_place(op, dest, &args(rest))
    })
}

/// Writes into `own`, and sets its names to `names` on success.
pub(super) fn in_place_as(
    own: &mut DynTensor,
    names: Names,
    others: &[&DynTensor],
    write: impl FnOnce(RawMut<'_>) -> Result<()>,
) -> Result<()> {
    match own.raw.as_mut().and_then(write) {
        Ok(()) => {
            own.names = names;
            if profile::is_on() {
                profile::written(&own.names, own.shape());
            }
            Ok(())
        }
        Err(error) => {
            let mut all: SmallVec<[&DynTensor; 4]> = SmallVec::new();
            all.push(own);
            all.extend_from_slice(others);
            Err(about(error, &all))
        }
    }
}

/// Computes an elementwise operator into `out`.
///
/// # Errors
/// Like [`pointwise`]; also if the result's names, sizes or dtype do not fit `out`.
pub fn pointwise_out(op: Op, operands: &[Operand<'_>], out: &mut DynTensor) -> Result<()> {
    let all = tensors(operands);
    let names = unified(op, &all)?;
    let shape = rule::broadcast_all(op.name(), all.iter().map(|x| x.shape()))
        .map_err(|e| about(e, &all))?;
    let args = args(operands);
    let dtype = call::result_dtype(op, &args)
        .map_err(|e| about(e, &all))?
        .result;
    write_out(op, out, &names, &shape, dtype, |dest| {
        call::pointwise_into(op, dest, &args)
    })
    .map_err(|e| about(e, &all))
}

/// Checks `out` against the result, resizes it if that is allowed, and writes.
pub(super) fn write_out(
    op: Op,
    out: &mut DynTensor,
    computed: &Names,
    shape: &[usize],
    dtype: DType,
    write: impl FnOnce(RawMut<'_>) -> Result<()>,
) -> Result<()> {
    let (names, fresh) = check_out(op, out, computed, shape, dtype)?;
    if fresh {
        let mut raw = Raw::empty(op.name(), shape, out.dtype(), out.device())?;
        write(raw.as_mut()?)?;
        out.raw = raw;
    } else {
        write(out.raw.as_mut()?)?;
    }
    out.names = names;
    Ok(())
}

/// Returns the new names of `out`, and whether it needs another buffer because it is resized or its buffer is shared.
/// The old buffer is not read.
fn check_out(
    op: Op,
    out: &DynTensor,
    computed: &Names,
    shape: &[usize],
    dtype: DType,
) -> Result<(Names, bool)> {
    let name = op.name();
    rule::dtype::cast_to(name, dtype, out.dtype())?;
    let fit = |e: Error| {
        e.with_names([&out.names, computed])
            .with_shapes([out.shape(), shape])
            .made_at([(&out.names, out.shape(), out.raw.created_at())])
    };
    let resize = rule::out_shape(name, &out.names, out.shape(), shape).map_err(fit)?;
    let names = rule::out(name, &out.names, computed).map_err(fit)?;
    Ok((names, resize || !out.raw.is_unique()))
}

/// Writes a computed result into `out`. Copies the elements only if `out` keeps its buffer or has another dtype.
///
/// # Errors
/// If names, sizes or dtype of the result do not fit `out`, or the devices differ. `out` is unchanged in that case.
pub fn store(op: Op, result: DynTensor, out: &mut DynTensor) -> Result<()> {
    let (names, fresh) = check_out(op, out, &result.names, result.shape(), result.dtype())?;
    call::fits_device(op.name(), out.device(), result.device())?;
    if fresh {
        out.raw = call::to_dtype(&result.raw, out.dtype())?;
    } else {
        call::copy_into(out.raw.as_mut()?, &result.raw)?;
    }
    out.names = names;
    Ok(())
}

/// Like [`store`], but for two results: checks both before writing either.
///
/// # Errors
/// Like [`store`].
pub fn store_pair(
    op: Op,
    results: (DynTensor, DynTensor),
    first: &mut DynTensor,
    second: &mut DynTensor,
) -> Result<()> {
    let (a, b) = results;
    for (out, result) in [(&*first, &a), (&*second, &b)] {
        check_out(op, out, &result.names, result.shape(), result.dtype())?;
        call::fits_device(op.name(), out.device(), result.device())?;
    }
    store(op, a, first)?;
    store(op, b, second)
}

/// Computes a reduction over dims.
///
/// # Errors
/// If a dim does not exist or has no element for an operator that needs one, the operator does not support a dtype, or
/// `op` is not a reduction.
pub fn reduce(
    op: Op,
    x: &DynTensor,
    dim: &DimArg<'_>,
    options: call::ReduceOptions,
) -> Result<DynTensor> {
    let positions = dim
        .positions(op.name(), &x.names)
        .map_err(|e| about(e, &[x]))?;
    let keepdim = dim.keepdim();
    let raw = call::reduce(op, &x.raw, &positions, keepdim, options).map_err(|e| about(e, &[x]))?;
    Ok(DynTensor::new(
        raw,
        rule::reduce(&x.names, &positions, keepdim),
    ))
}

/// Computes a running result along a dim.
///
/// # Errors
/// If the dim does not exist, the operator does not support a dtype, or `op` is not a scan.
pub fn scan(op: Op, x: &DynTensor, dim: &DimArg<'_>, dtype: Option<DType>) -> Result<DynTensor> {
    along(op, x, dim, |raw, dim| call::scan(op, raw, dim, dtype))
}

/// Computes a softmax-like operator along a dim.
///
/// # Errors
/// If the dim does not exist, the operator does not support a dtype, or `op` is not a softmax.
pub fn softmax(op: Op, x: &DynTensor, dim: &DimArg<'_>, dtype: Option<DType>) -> Result<DynTensor> {
    along(op, x, dim, |raw, dim| call::softmax(op, raw, dim, dtype))
}

/// Computes an operator along one dim that keeps shape and names; treats a number as a dim of size 1.
fn along(
    op: Op,
    x: &DynTensor,
    dim: &DimArg<'_>,
    compute: impl FnOnce(&Raw, usize) -> Result<Raw>,
) -> Result<DynTensor> {
    let position = dim
        .single(op.name(), &x.names)
        .map_err(|e| about(e, &[x]))?;
    let raw = match position {
        Some(position) => compute(&x.raw, position),
        None => x
            .raw
            .unsqueeze(0)
            .and_then(|row| compute(&row, 0)?.squeeze(0)),
    };
    Ok(DynTensor::new(
        raw.map_err(|e| about(e, &[x]))?,
        x.names.clone(),
    ))
}

impl ReduceOptions {
    pub(super) fn to_call(self) -> call::ReduceOptions {
        call::ReduceOptions {
            dtype: self.dtype,
            ..call::ReduceOptions::default()
        }
    }
}
