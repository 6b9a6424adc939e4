//! Reductions over dims.

use nomina_core::op::{Op, class};
use nomina_core::rule::INLINE_DIMS;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use super::check;
use crate::SmallVec;
use crate::call::backend::backend;
use crate::config::default_dtype;
use crate::job::{ReduceJob, Reducing};
use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::shape::{Shape, row_major, zeros};
use crate::tape::{
    Addressing, record_extreme, record_gather, record_norm, record_prod, record_reduction,
};

/// The optional arguments of a reduction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReduceOptions {
    /// The dtype to which `sum`, `mean` and `prod` convert before they reduce, and the result's.
    pub dtype: Option<DType>,
    /// The number that `var` and `std` subtract from the count.
    pub correction: f64,
    /// The degree of `norm`.
    pub p: f64,
}

impl Default for ReduceOptions {
    fn default() -> Self {
        Self {
            dtype: None,
            correction: 1.0,
            p: 2.0,
        }
    }
}

/// The shapes of a reduction.
struct Reduced {
    dims: SmallVec<[bool; INLINE_DIMS]>,
    /// The operand's sizes, with size 1 in reduced dims.
    kept: Shape,
    shape: Shape,
}

impl Reduced {
    fn new(op: Op, x: &Raw, dims: &[usize], keepdim: bool) -> Result<Self> {
        let mut mark: SmallVec<[bool; INLINE_DIMS]> = zeros(x.rank());
        for &dim in dims {
            match mark.get_mut(dim) {
                None => {
                    let what = format!("dim {dim} is out of range for {} dims", x.rank());
                    return Err(refuse(ErrorKind::Index, op, x, what)
                        .hint("count dims from 0, outermost first"));
                }
                Some(true) => {
                    return Err(refuse(
                        ErrorKind::Argument,
                        op,
                        x,
                        format!("dim {dim} is repeated"),
                    )
                    .hint("list each dim once"));
                }
                Some(slot) => *slot = true,
            }
        }
        let (mut kept, mut shape) = (Shape::from_slice(x.shape()), Shape::new());
        for (size, &gone) in kept.iter_mut().zip(&mark) {
            if gone {
                *size = 1;
            } else if !keepdim {
                shape.push(*size);
            }
        }
        if keepdim {
            shape = kept.clone();
        }
        Ok(Self {
            dims: mark,
            kept,
            shape,
        })
    }

    fn result(&self, op: Op, x: &Raw, dtype: DType) -> Result<Raw> {
        Raw::empty(op.name(), &self.shape, dtype, x.device())
    }

    /// Returns the first reduced dim without elements.
    fn empty(&self, x: &Raw) -> Option<usize> {
        (0..x.rank()).find(|&dim| self.dims[dim] && x.shape()[dim] == 0)
    }
}

#[cold]
fn refuse(kind: ErrorKind, op: Op, x: &Raw, what: impl Into<String>) -> Error {
    Error::new(kind, op.name(), what).operand(&Names::default(), x.shape())
}

#[cold]
fn nothing(op: Op, x: &Raw, dim: usize) -> Error {
    refuse(ErrorKind::Index, op, x, "there are no elements")
        .at(0, dim)
        .hint("use a dim whose size is not 0")
}

/// Hands a job to the backend, unless the result has no elements.
#[allow(clippy::too_many_arguments, reason = "they are a job's")]
fn launch(
    op: Op,
    by: Reducing,
    compute: DType,
    number: f64,
    x: &Raw,
    reduced: &Reduced,
    values: Option<&mut Raw>,
    positions: Option<&mut Raw>,
) -> Result<()> {
    let mut out = row_major(&reduced.kept);
    for (stride, &gone) in out.iter_mut().zip(&reduced.dims) {
        if gone {
            *stride = 0;
        }
    }
    if reduced.kept.contains(&0) {
        return Ok(());
    }
    let (values, values_dtype) = match values {
        Some(values) => (values.fresh_ptr(), values.dtype()),
        None => (std::ptr::null_mut(), compute),
    };
    let backend = backend(op.name(), x.device())?;
    // SAFETY: the job describes a whole operand, and a fresh result that nothing else shares.
    unsafe {
        backend.reduce(&ReduceJob {
            op,
            by,
            compute,
            number,
            shape: x.shape(),
            strides: x.strides(),
            x: x.as_ptr(),
            dtype: x.dtype(),
            reduced: &reduced.dims,
            out: &out,
            values,
            values_dtype,
            positions: positions.map_or(std::ptr::null_mut(), |p| p.fresh_ptr().cast()),
        })?;
    }
    Ok(())
}

/// Returns the reduction that [`reduce`] computes for an operator: `max` over all dims is `amax`.
pub(super) fn reduction(op: Op) -> Option<class::Reduce> {
    match op {
        Op::Max => Some(class::Reduce::Amax),
        Op::Min => Some(class::Reduce::Amin),
        op => class::Reduce::from_op(op),
    }
}

/// Computes the reductions of the table, and `max` and `min` over all given dims.
///
/// # Errors
/// If the operator is not a reduction, a dim is out of range or repeated, the operator does not take the dtype, there
/// are no elements to choose from, or memory is missing.
pub fn reduce(
    op: Op,
    x: &Raw,
    dims: &[usize],
    keepdim: bool,
    options: ReduceOptions,
) -> Result<Raw> {
    let Some(mut by) = reduction(op) else {
        return Err(check::wrong_entry(op, "reduce"));
    };
    let reduced = Reduced::new(op, x, dims, keepdim)?;
    let row = op.row();
    let target = options.dtype.unwrap_or(x.dtype());
    row.check_dtype(target)
        .map_err(|error| error.operand(&Names::default(), x.shape()))?;
    let mut resolved = row.dtype.resolve(target, default_dtype());
    if let Some(dtype) = options.dtype {
        if !matches!(
            op,
            Op::Sum | Op::Mean | Op::Prod | Op::Nansum | Op::Nanmean | Op::Norm
        ) {
            return Err(
                refuse(ErrorKind::Argument, op, x, "`dtype` is not supported")
                    .hint("convert the result with `to`"),
            );
        }
        resolved.result = dtype;
        // In bool, a sum is true if any summand is, and a product if all factors are.
        if dtype == DType::Bool {
            by = match by {
                class::Reduce::Prod => class::Reduce::All,
                _ => class::Reduce::Any,
            };
        }
    }
    if op == Op::Norm {
        return norm(x, &reduced, dims, options);
    }
    if matches!(by, class::Reduce::Amax | class::Reduce::Amin)
        && let Some(dim) = reduced.empty(x)
    {
        return Err(nothing(op, x, dim));
    }
    let mut out = reduced.result(op, x, resolved.result)?;
    if matches!(op, Op::Var | Op::Std) && x.dtype().is_complex() {
        let found = complex_variance(op, x, &reduced, options.correction, out)?;
        return record_reduction(op, found, x, &[options.correction], dims);
    }
    launch(
        op,
        Reducing::Values(by),
        resolved.compute,
        options.correction,
        x,
        &reduced,
        Some(&mut out),
        None,
    )?;
    match by {
        class::Reduce::Prod => record_prod(out, x, &reduced.kept, dims),
        // `max` and `min` of all elements.
        _ if matches!(op, Op::Max | Op::Min) && dims.len() == x.rank() => {
            record_extreme(op, out, x)
        }
        class::Reduce::Amax => record_reduction(Op::Amax, out, x, &[], dims),
        class::Reduce::Amin => record_reduction(Op::Amin, out, x, &[], dims),
        _ => record_reduction(op, out, x, &[options.correction], dims),
    }
}

/// Returns the power of two by which `f64` elements are multiplied before they are summed to a mean, if they are so large
/// that their sum might overflow.
pub(crate) fn room_for_sums(x: &Raw) -> Result<Option<f64>> {
    if !matches!(x.dtype(), DType::F64 | DType::C128) || !x.device().is_cpu() || x.numel() == 0 {
        return Ok(None);
    }
    let sizes = super::pointwise(Op::Abs, &[(&x.clone().detach()).into()])?;
    let dims: Shape = (0..x.rank()).collect();
    let most = reduce(Op::Amax, &sizes, &dims, false, ReduceOptions::default())?;
    let most = most.item()?.to_f64();
    // Elements that become subnormal do not count next to the greatest one.
    Ok((most > 1e280 && most.is_finite()).then_some(f64::exp2(-64.0)))
}

/// Computes the norm of magnitudes in f64, rounded once.
fn norm(x: &Raw, reduced: &Reduced, dims: &[usize], options: ReduceOptions) -> Result<Raw> {
    let (op, p) = (Op::Norm, options.p);
    if (p < 0.0 || p == f64::INFINITY)
        && let Some(dim) = reduced.empty(x)
    {
        return Err(nothing(op, x, dim));
    }
    let converted = match options.dtype {
        Some(dtype) if x.dtype().is_complex() || dtype.is_complex() => {
            Some(super::to_dtype(x, dtype)?)
        }
        _ => None,
    };
    let x = converted.as_ref().unwrap_or(x);
    let magnitudes = if x.dtype().is_complex() {
        Some(super::pointwise(Op::Abs, &[x.into()])?)
    } else {
        None
    };
    let x = magnitudes.as_ref().unwrap_or(x);
    let result = options.dtype.unwrap_or(x.dtype()).to_real();
    let mut out = reduced.result(op, x, result)?;
    let by = Reducing::Values(class::Reduce::Norm);
    launch(op, by, DType::F64, p, x, reduced, Some(&mut out), None)?;
    record_norm(out, x, &reduced.kept, dims, p)
}

/// Computes the variance of complex numbers: the sum of those of their real and imaginary parts.
fn complex_variance(
    op: Op,
    x: &Raw,
    reduced: &Reduced,
    correction: f64,
    mut out: Raw,
) -> Result<Raw> {
    let real = x.dtype().to_real();
    let parts = [super::real(x)?, super::imag(x)?];
    let mut imaginary = reduced.result(op, x, real)?;
    let variance = Reducing::Values(class::Reduce::Var);
    for (part, out) in parts.iter().zip([&mut out, &mut imaginary]) {
        launch(
            op,
            variance,
            real,
            correction,
            part,
            reduced,
            Some(out),
            None,
        )?;
    }
    let sum = super::pointwise_owned(Op::Add, out, &[super::Arg::Tensor(&imaginary)])?;
    if op == Op::Std {
        super::pointwise_owned(Op::Sqrt, sum, &[])
    } else {
        Ok(sum)
    }
}

/// Computes `max` and `min` along a dim: the values, and the position of each in i64. The first of equal elements
/// counts; NaN counts as the extreme.
///
/// # Errors
/// Like [`reduce`].
pub fn arg_reduce(op: Op, x: &Raw, dim: usize, keepdim: bool) -> Result<(Raw, Raw)> {
    let Some(by @ (class::ArgReduce::Max | class::ArgReduce::Min)) = class::ArgReduce::from_op(op)
    else {
        return Err(check::wrong_entry(op, "arg_reduce"));
    };
    let reduced = Reduced::new(op, x, &along(x, dim), keepdim)?;
    op.row()
        .check_dtype(x.dtype())
        .map_err(|e| e.operand(&Names::default(), x.shape()))?;
    if let Some(dim) = reduced.empty(x) {
        return Err(nothing(op, x, dim));
    }
    let mut values = reduced.result(op, x, x.dtype())?;
    let mut positions = reduced.result(op, x, DType::I64)?;
    launch(
        op,
        Reducing::Positions(by),
        x.dtype(),
        0.0,
        x,
        &reduced,
        Some(&mut values),
        Some(&mut positions),
    )?;
    if !is_wanted([x]) || x.rank() == 0 {
        return Ok((values, positions));
    }
    let kept = positions.reshape(&reduced.kept)?;
    let values = values.reshape(&reduced.kept)?;
    let values = record_gather(op, Addressing::Elements, values, x, dim, &kept)?;
    Ok((values.reshape(positions.shape())?, positions))
}

/// Returns the dims to reduce: `dim`, or none for dim 0 of a number.
fn along(x: &Raw, dim: usize) -> SmallVec<[usize; 8]> {
    if x.rank() == 0 && dim == 0 {
        SmallVec::new()
    } else {
        SmallVec::from_slice(&[dim])
    }
}

/// Computes `argmax` and `argmin`: positions along a dim, or in row-major order over all dims.
///
/// # Errors
/// Like [`reduce`].
pub fn arg_position(op: Op, x: &Raw, dim: Option<usize>, keepdim: bool) -> Result<Raw> {
    let Some(by @ (class::ArgReduce::Argmax | class::ArgReduce::Argmin)) =
        class::ArgReduce::from_op(op)
    else {
        return Err(check::wrong_entry(op, "arg_position"));
    };
    let dims = dim.map_or_else(|| (0..x.rank()).collect(), |dim| along(x, dim));
    let reduced = Reduced::new(op, x, &dims, keepdim)?;
    op.row()
        .check_dtype(x.dtype())
        .map_err(|e| e.operand(&Names::default(), x.shape()))?;
    if let Some(dim) = reduced.empty(x) {
        return Err(nothing(op, x, dim));
    }
    let mut positions = reduced.result(op, x, DType::I64)?;
    let by = Reducing::Positions(by);
    let found = Some(&mut positions);
    launch(op, by, x.dtype(), 0.0, x, &reduced, None, found)?;
    Ok(positions)
}

#[cfg(test)]
#[path = "reduce_tests.rs"]
mod tests;
