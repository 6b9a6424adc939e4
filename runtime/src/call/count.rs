//! Counting: histograms, quantiles, membership.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar};

use super::check::same_device;
use super::gather::bounds;
use super::{Arg, ReduceOptions, contiguous, pointwise, reduce, searchsorted, sort, to_dtype};
use crate::call::backend::backend;
use crate::job::{BinJob, Binned, Interpolation, QuantileJob, SelectJob};
use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::tape::{record_no_derivative, record_quantiles};

#[cold]
fn refuse(kind: ErrorKind, op: Op, x: &Raw, what: impl Into<String>) -> Error {
    Error::new(kind, op.name(), what).operand(&Names::default(), x.shape())
}

fn check_dtype(op: Op, x: &Raw) -> Result<()> {
    op.row()
        .check_dtype(x.dtype())
        .map_err(|e| e.operand(&Names::default(), x.shape()))
}

/// Counts the occurrences of each whole number from 0 on in a vector, or sums its weights.
///
/// # Errors
/// If there is more than one dim, a number is negative, weights have other sizes, the dtype is a float, or memory is
/// missing.
pub fn bincount(x: &Raw, weights: Option<&Raw>, minlength: usize) -> Result<Raw> {
    let op = Op::Bincount;
    check_dtype(op, x)?;
    if x.rank() != 1 {
        let what = format!("numbers in {} dims", x.rank());
        return Err(refuse(ErrorKind::Rank, op, x, what).hint("`flatten` them to one dim first"));
    }
    if let Some(weights) = weights
        && weights.shape() != x.shape()
    {
        return Err(refuse(
            ErrorKind::Shape,
            op,
            x,
            "the sizes of weights and numbers differ",
        )
        .operand(&Names::default(), weights.shape())
        .hint("give one weight for each number"));
    }
    let all = [Some(x), weights];
    let all: Vec<&Raw> = all.into_iter().flatten().collect();
    same_device(op.name(), &all)?;
    let numbers = contiguous(&to_dtype(x, DType::I64)?)?;
    let mut bins = minlength;
    if let Some((least, most)) = bounds(&numbers)? {
        if least < 0 {
            let what = format!("{least} is negative");
            return Err(
                refuse(ErrorKind::Argument, op, x, what).hint("shift the numbers to 0 or above")
            );
        }
        let last = usize::try_from(most).unwrap_or(usize::MAX);
        bins = bins.max(last.saturating_add(1));
    }
    let dtype = match weights.map(Raw::dtype) {
        None => DType::I64,
        Some(DType::F32) => DType::F32,
        Some(dtype) if dtype.is_complex() => {
            return Err(refuse(ErrorKind::DType, op, x, "complex weights")
                .hint("count real and imaginary parts separately"));
        }
        Some(_) => DType::F64,
    };
    let Some(weights) = weights else {
        return counted(op, &numbers, bins, Binned::Integers);
    };
    let wide = contiguous(&to_dtype(weights, DType::F64)?)?;
    let sums = counted(op, &numbers, bins, Binned::Weights(wide.as_ptr().cast()))?;
    record_no_derivative(op, to_dtype(&sums, dtype)?, [weights])
}

/// Counts or sums the weights of the elements in each bin of a contiguous tensor.
fn counted(op: Op, x: &Raw, bins: usize, what: Binned) -> Result<Raw> {
    let dtype = match what {
        Binned::Weights(_) => DType::F64,
        _ => DType::I64,
    };
    let mut out = Raw::empty(op.name(), &[bins], dtype, x.device())?;
    let job = BinJob {
        op: op.name(),
        dtype: x.dtype(),
        x: x.as_ptr(),
        count: x.numel(),
        bins,
        what,
        out: out.fresh_ptr(),
    };
    if bins > 0 {
        // SAFETY: contiguous operands, whose integers are bin numbers, and a fresh result.
        unsafe { backend(op.name(), x.device())?.bins(&job)? };
    }
    Ok(out)
}

/// Counts the elements in each of `bins` equal bins from `min` to `max`; if both are equal, from the smallest element
/// to the greatest.
///
/// # Errors
/// If there are no bins, `max` is below `min`, ends are not finite, the dtype is not a float, or a count exceeds the
/// range of `f16`.
pub fn histc(x: &Raw, bins: usize, min: f64, max: f64) -> Result<Raw> {
    let op = Op::Histc;
    check_dtype(op, x)?;
    if bins == 0 {
        return Err(refuse(ErrorKind::Argument, op, x, "0 bins").hint("give at least one"));
    }
    let (mut low, mut high) = (min, max);
    if low == high && x.numel() > 0 {
        let dims: Vec<usize> = (0..x.rank()).collect();
        let end = |op| reduce(op, x, &dims, false, ReduceOptions::default())?.item();
        (low, high) = (end(Op::Amin)?.to_f64(), end(Op::Amax)?.to_f64());
    }
    if low == high {
        (low, high) = (low - 1.0, high + 1.0);
    }
    if !(low.is_finite() && high.is_finite()) {
        let what = format!("bins from {low} to {high}");
        return Err(refuse(ErrorKind::Argument, op, x, what).hint("give finite ends"));
    }
    if low > high {
        let what = format!("bins from {low} down to {high}");
        return Err(refuse(ErrorKind::Argument, op, x, what).hint("give the lower end first"));
    }
    let dtype = if x.dtype() == DType::F64 {
        DType::F64
    } else {
        DType::F32
    };
    let wide = contiguous(&to_dtype(x, dtype)?)?;
    let counts = counted(op, &wide, bins, Binned::Floats(low, high))?;
    check_representable(op, x, &counts)?;
    record_no_derivative(op, to_dtype(&counts, x.dtype())?, [x])
}

/// Checks that counts are finite in the dtype of `x`; only `f16` can overflow.
fn check_representable(op: Op, x: &Raw, counts: &Raw) -> Result<()> {
    if x.dtype() != DType::F16 {
        return Ok(());
    }
    match bounds(counts)? {
        // From half way to the next power of two on, the nearest number is infinite.
        Some((_, most)) if most >= 65520 => {
            let what = format!("a bin has {most} elements, more than f16 can count");
            Err(refuse(ErrorKind::Argument, op, x, what)
                .hint("convert the elements to a dtype of a greater range: `x.to::<f32>()`"))
        }
        _ => Ok(()),
    }
}

/// Returns whether each element is among others; dtypes promote.
///
/// # Errors
/// If a dtype is complex, or memory is missing.
pub fn isin(elements: &Raw, others: &Raw, invert: bool) -> Result<Raw> {
    let op = Op::Isin;
    same_device(op.name(), &[elements, others])?;
    let mut promoter = nomina_core::Promoter::new(crate::config::default_dtype());
    promoter.tensor(elements.dtype(), elements.rank());
    promoter.tensor(others.dtype(), others.rank());
    let common = promoter.result();
    op.row()
        .check_dtype(common)
        .map_err(|e| e.operand(&Names::default(), elements.shape()))?;
    let (x, among) = (to_dtype(elements, common)?, to_dtype(others, common)?);
    if among.numel() == 0 {
        let none = Scalar::Bool(invert);
        return super::full(x.shape(), none, DType::Bool, x.device());
    }
    // The positions after and before equal elements differ only if there are any.
    let flat = among.reshape(&[among.numel()])?;
    let (sorted, _) = sort(op, &flat, 0, false)?;
    let before = searchsorted(op, &sorted, &x, None, false)?;
    let after = searchsorted(op, &sorted, &x, None, true)?;
    let test = if invert { Op::Eq } else { Op::Ne };
    let found = pointwise(test, &[Arg::Tensor(&before), Arg::Tensor(&after)])?;
    if common.is_float() {
        // NaN equals nothing, not even NaN.
        let (test, join) = if invert {
            (Op::Ne, Op::LogicalOr)
        } else {
            (Op::Eq, Op::LogicalAnd)
        };
        let number = pointwise(test, &[Arg::Tensor(&x), Arg::Tensor(&x)])?;
        return pointwise(join, &[Arg::Tensor(&found), Arg::Tensor(&number)]);
    }
    Ok(found)
}

/// Computes quantiles of the elements along a dim, which is replaced by a first dim with the size of `q`. NaN if there
/// is a NaN, unless those are ignored.
///
/// # Errors
/// If `q` is outside of 0 to 1, has another dtype or more than one dim, there are no elements, or memory is missing.
pub fn quantile(op: Op, x: &Raw, q: &Raw, dim: usize, by: Interpolation) -> Result<Raw> {
    check_dtype(op, x)?;
    if q.dtype() != x.dtype() || q.rank() > 1 {
        let (kind, what) = if q.dtype() == x.dtype() {
            (ErrorKind::Rank, format!("`q` of {} dims", q.rank()))
        } else {
            (
                ErrorKind::DType,
                format!("`q` of {}, elements of {}", q.dtype(), x.dtype()),
            )
        };
        return Err(
            refuse(kind, op, x, what).hint("give a number, or a list of the elements' dtype")
        );
    }
    if x.numel() == 0 {
        return Err(
            refuse(ErrorKind::Index, op, x, "there are no elements").hint("use a nonempty tensor")
        );
    }
    let outside = |q: &Scalar| !(0.0..=1.0).contains(&q.to_f64());
    same_device(op.name(), &[x, q])?;
    // A device is not waited for: there, quantiles of an invalid `q` are NaN.
    if q.device().is_cpu()
        && let Some(q) = q.try_scalars()?.find(outside)
    {
        return Err(refuse(ErrorKind::Argument, op, x, format!("`q` is {q}"))
            .hint("give numbers from 0 to 1"));
    }
    if dim < x.rank()
        && !is_wanted([x, q])
        && let Some(found) = selected(op, x, q, dim, by)?
    {
        return to_dtype(&found, x.dtype());
    }
    // Sorted along the last dim; the numbers of `q` are positions there.
    let mut last: Vec<usize> = (0..x.rank()).filter(|&d| d != dim).collect();
    last.push(dim);
    let (sorted, _) = sort(op, &x.permute(&last)?, x.rank() - 1, false)?;
    let (sorted, q) = (contiguous(&sorted)?, contiguous(q)?);
    let n = x.shape()[dim];
    let lines = x.numel() / n;
    let mut shape: Vec<usize> = q.shape().to_vec();
    shape.extend(last[..last.len() - 1].iter().map(|&d| x.shape()[d]));
    let dtype = wide(x);
    let (sorted, q) = (to_dtype(&sorted, dtype)?, to_dtype(&q, dtype)?);
    let mut out = Raw::empty(op.name(), &shape, dtype, x.device())?;
    let job = QuantileJob {
        op: op.name(),
        dtype,
        sorted: sorted.as_ptr(),
        q: q.as_ptr(),
        count: q.numel(),
        lines,
        len: n,
        ignore_nan: op == Op::Nanquantile,
        by,
        out: out.fresh_ptr(),
    };
    if out.numel() > 0 {
        // SAFETY: contiguous lines and quantiles of one dtype, and a fresh result with one of each line for each.
        unsafe { backend(op.name(), x.device())?.quantiles(&job)? };
    }
    let out = record_quantiles(op, out, &sorted, &q, by)?;
    to_dtype(&out, x.dtype())
}

/// Returns the dtype in which quantiles are computed.
fn wide(x: &Raw) -> DType {
    match x.dtype() {
        DType::F64 => DType::F64,
        _ => DType::F32,
    }
}

/// Computes quantiles by selection, if the backend does so.
fn selected(op: Op, x: &Raw, q: &Raw, dim: usize, by: Interpolation) -> Result<Option<Raw>> {
    let (x, q) = (to_dtype(x, wide(x))?, contiguous(&to_dtype(q, wide(x))?)?);
    let others = (0..x.rank()).filter(|&d| d != dim).map(|d| x.shape()[d]);
    let shape: Vec<usize> = q.shape().iter().copied().chain(others).collect();
    let mut out = Raw::empty(op.name(), &shape, x.dtype(), x.device())?;
    let job = SelectJob {
        op: op.name(),
        dtype: x.dtype(),
        shape: x.shape(),
        strides: x.strides(),
        x: x.as_ptr(),
        dim,
        q: q.as_ptr(),
        count: q.numel(),
        ignore_nan: op == Op::Nanquantile,
        by,
        out: out.fresh_ptr(),
    };
    // SAFETY: an operand with elements, quantiles of its dtype, and a fresh result with one of each line for each.
    let done = unsafe { backend(op.name(), x.device())?.select_quantiles(&job)? };
    Ok(done.then_some(out))
}
