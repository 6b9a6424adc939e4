//! Reductions of parts of a dim, weighted means, covariances and interpolation, composed of other operators.

mod interp;
mod moments;
mod one_pass;
mod pairs;
mod parts;

pub use interp::InterpMethod;
pub(crate) use interp::interp;
pub(crate) use moments::moment;
pub(crate) use parts::Parts;

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar};

use super::gather::bounds;
use super::reduce::room_for_sums;
use super::{
    Arg, FusedReduction, ReduceOptions, ScatterReduce, Target, arg_position, bincount, contiguous,
    fused_reduce, index_select, pointwise, pointwise_owned, reduce, reduced, to_dtype,
};
use crate::config::default_dtype;
use crate::dispatch::accumulator;
use crate::job::{Node, Pairing, Update};
use crate::raw::Raw;
use crate::shape::Shape;

#[cold]
fn refuse(kind: ErrorKind, op: Op, operands: &[&Raw], what: String) -> Error {
    let error = Error::new(kind, op.name(), what);
    operands.iter().fold(error, |error, x| {
        error.operand(&Names::default(), x.shape())
    })
}

/// Multiplies a tensor by the factor of [`room_for_sums`], and returns the number by which the mean is then to be
/// multiplied.
fn with_room(x: Raw) -> Result<(Raw, Option<f64>)> {
    let factor = room_for_sums(&x)?;
    Ok((multiplied(x, factor)?, factor.map(f64::recip)))
}

fn multiplied(x: Raw, factor: Option<f64>) -> Result<Raw> {
    match factor {
        Some(factor) => pointwise_owned(Op::Mul, x, &[Arg::Scalar(Scalar::Float(factor))]),
        None => Ok(x),
    }
}

/// Returns the dtype of a reduction's result. The mean of integers is a float of the default dtype.
fn result(op: Op, x: &Raw) -> Result<DType> {
    if op == Op::Mean && x.dtype().is_integral() {
        return Ok(default_dtype());
    }
    op.row().check_dtype(x.dtype())?;
    Ok(op.row().dtype.resolve(x.dtype(), default_dtype()).result)
}

/// Reduces windows of `size` elements that start `step` apart along a dim.
fn windowed(op: Op, x: &Raw, dim: usize, [size, step]: [usize; 2]) -> Result<Raw> {
    let integers = op == Op::Mean && x.dtype().is_integral();
    let wide = if integers {
        to_dtype(x, DType::F64)?
    } else {
        x.clone()
    };
    let windows = wide.windows(dim, size, step)?;
    let found = reduce(op, &windows, &[x.rank()], false, ReduceOptions::default())?;
    if integers {
        return to_dtype(&found, result(op, x)?);
    }
    Ok(found)
}

/// The least window size for which windows are not reduced one by one.
const LONG: usize = 16;

/// Reduces the windows of `size` elements that slide along a dim by one.
///
/// Sums, means and extremes of long windows are composed from windows of 1, 2, 4 … elements: a step for each binary
/// digit of `size`. Each result is a sum in pairs of its own window, so that nothing cancels and NaN stays in the
/// windows that contain it.
fn sliding(op: Op, x: &Raw, dim: usize, size: usize) -> Result<Raw> {
    let step = match op {
        _ if size < LONG => return windowed(op, x, dim, [size, 1]),
        Op::Sum | Op::Mean => Op::Add,
        Op::Amax => Op::Maximum,
        Op::Amin => Op::Minimum,
        _ => return windowed(op, x, dim, [size, 1]),
    };
    let result = result(op, x)?;
    // Combines elements of `a` with those of `b` that are `width` positions later.
    let join = |a: &Raw, b: &Raw, width: usize| {
        let count = b.shape()[dim] - width;
        let (a, b) = (a.narrow(dim, 0, count)?, b.narrow(dim, width, count)?);
        pointwise(step, &[Arg::Tensor(&a), Arg::Tensor(&b)])
    };
    let (mut power, back) = match op {
        Op::Mean => with_room(to_dtype(x, accumulator(result))?)?,
        _ => (to_dtype(x, accumulator(result))?, None),
    };
    let (mut width, mut covered) = (1, 0);
    let mut found: Option<Raw> = None;
    loop {
        if size & width != 0 {
            found = Some(match found {
                Some(found) => join(&found, &power, covered)?,
                None => power.clone(),
            });
            covered += width;
        }
        if covered == size {
            break;
        }
        power = join(&power, &power, width)?;
        width *= 2;
    }
    let found = found.unwrap_or(power);
    let found = match op {
        Op::Mean => pointwise_owned(Op::Div, found, &[Arg::Scalar(Scalar::Float(size as f64))])?,
        _ => found,
    };
    let found = multiplied(found, back)?;
    to_dtype(&found, result)
}

/// Returns labels from 0 to below `groups`, one for each element of a dim, and the number of each.
pub(crate) fn labelled(x: &Raw, dim: usize, labels: &Raw, groups: usize) -> Result<(Raw, Raw)> {
    let op = Op::GroupBy;
    let given = [x, labels];
    let size = x.shape()[dim];
    if labels.shape() != [size] {
        let what = format!("labels of sizes {:?} for a dim of {size}", labels.shape());
        return Err(refuse(ErrorKind::Shape, op, &given, what)
            .at(0, dim)
            .hint("give one label for each element of the dim"));
    }
    if !labels.dtype().is_integral() || labels.dtype() == DType::Bool {
        let what = format!("labels of {}", labels.dtype());
        return Err(refuse(ErrorKind::DType, op, &given, what)
            .hint("labels are integers: convert them with `to`"));
    }
    let numbers = contiguous(&to_dtype(labels, DType::I64)?)?;
    if let Some((least, most)) = bounds(&numbers)? {
        let last = i64::try_from(groups).unwrap_or(i64::MAX).saturating_sub(1);
        if least < 0 || most > last {
            let label = if least < 0 { least } else { most };
            return Err(refuse(
                ErrorKind::Index,
                op,
                &given,
                format!("label {label} of {groups} groups"),
            )
            .hint("labels start at 0 and are less than the new dim's size"));
        }
    }
    let counts = bincount(&numbers, None, groups).map_err(|e| e.in_op(op.name()))?;
    Ok((numbers, counts))
}

/// Returns a vector as a tensor of `rank` dims that varies along one of them.
fn along(vector: &Raw, rank: usize, dim: usize) -> Result<Raw> {
    let mut shape = Shape::from_elem(1, rank);
    shape[dim] = vector.numel();
    vector.reshape(&shape)
}

/// Reduces the elements of each group along a dim, with the groups that [`labelled`] found.
fn grouped(op: Op, x: &Raw, dim: usize, (labels, counts): (&Raw, &Raw)) -> Result<Raw> {
    let (by, result) = (Op::GroupBy, result(op, x)?);
    let mut shape = Shape::from_slice(x.shape());
    shape[dim] = counts.numel();
    let at = Target {
        dim,
        index: labels,
        slices: true,
    };
    // Sums at indices are accumulated in a wide dtype and rounded once; those of a mean are rounded after the division.
    let (x, back) = match op {
        Op::Mean => with_room(to_dtype(x, accumulator(result))?)?,
        _ => (to_dtype(x, result)?, None),
    };
    let mut out = Raw::zeros(by.name(), &shape, x.dtype(), x.device())?;
    let extreme = match op {
        Op::Amax => ScatterReduce::Amax,
        Op::Amin => ScatterReduce::Amin,
        _ => {
            at.write(by, out.as_mut()?, &x, Update::Add)?;
            if op == Op::Mean {
                let counts = along(counts, x.rank(), dim)?;
                out = pointwise_owned(Op::Div, out, &[Arg::Tensor(&counts)])?;
                out = multiplied(out, back)?;
            }
            return to_dtype(&out, result);
        }
    };
    reduced(by, &mut out, at, &x, extreme, false)?;
    Ok(out)
}

/// Checks that every group has elements, so that it has an extreme.
fn require_elements(x: &Raw, counts: &Raw) -> Result<()> {
    if bounds(counts)?.is_none_or(|(least, _)| least != 0) {
        return Ok(());
    }
    let empty = arg_position(Op::Argmin, counts, Some(0), false)?.item()?;
    let what = format!("group {empty} has no elements");
    Err(refuse(ErrorKind::Shape, Op::GroupBy, &[x], what)
        .hint("give only groups with labels; `count` returns the elements of each"))
}

/// Divides the sum of products with weights by the sum of weights, which have the same number of dims, each of equal
/// size or size 1. `weighted_nanmean` leaves out the elements that are NaN, and their weights.
pub(crate) fn weighted_mean(
    op: Op,
    x: &Raw,
    weights: &Raw,
    dims: &[usize],
    keepdim: bool,
) -> Result<Raw> {
    let (result, skips_nan) = (x.dtype(), op == Op::WeightedNanmean);
    let operands = [x, weights];
    op.row()
        .check_dtype(result)
        .map_err(|error| error.operand(&Names::default(), x.shape()))?;
    if weights.dtype() != result {
        let what = format!("weights of {} for a tensor of {result}", weights.dtype());
        return Err(
            refuse(ErrorKind::DType, op, &operands, what).hint("convert the weights with `to`")
        );
    }
    let sizes = x.shape().iter().zip(weights.shape());
    if let Some(dim) = sizes.clone().position(|(&x, &w)| w != x && w != 1) {
        let error = Error::sizes(
            op.name(),
            [x.shape(), weights.shape()],
            [(0, dim), (1, dim)],
        );
        return Err(error.hint("weights have a dim's size, or lack the dim"));
    }
    let factor = if skips_nan && matches!(result, DType::F64 | DType::C128) {
        room_for_sums(&present(x, &is_present(x)?)?)?
    } else {
        room_for_sums(x)?
    };
    if factor.is_none() {
        let by = Pairing::WeightedMean;
        if let Some(mean) = pairs::in_one_pass(op, by, [x, weights], (dims, keepdim))? {
            return to_dtype(&mean, result);
        }
    }
    // The products have the wider dtype, block by block.
    let weights = to_dtype(weights, accumulator(result))?;
    let scaled = multiplied(x.clone(), factor)?;
    let sum = |program: &[Node<'_>]| {
        let op = Op::Sum;
        let by = FusedReduction { op, dims, keepdim };
        let zero = [Scalar::Float(0.0)];
        fused_reduce(program, &[&scaled, &weights], &zero, None, by)
    };
    // Both factors are masked, so that neither NaN reaches the other's gradient.
    let masked = [
        Node::Tensor(0),
        Node::Tensor(1),
        Node::Scalar(0),
        Node::Apply(Op::Eq, &[0, 0]),
        Node::Apply(Op::Where, &[3, 1, 2]),
        Node::Apply(Op::Where, &[3, 0, 2]),
        Node::Apply(Op::Mul, &[5, 4]),
    ];
    let (products, total) = if skips_nan {
        (sum(&masked)?, sum(&masked[..5])?)
    } else {
        let product = [
            Node::Tensor(0),
            Node::Tensor(1),
            Node::Apply(Op::Mul, &[0, 1]),
        ];
        // The number of times that each weight counts, since its reduced dims may have size 1.
        let times: f64 = dims
            .iter()
            .filter(|&&dim| weights.shape()[dim] != x.shape()[dim])
            .fold(1.0, |times, &dim| times * x.shape()[dim] as f64);
        let total = reduce(Op::Sum, &weights, dims, keepdim, ReduceOptions::default())?;
        let times = Arg::Scalar(Scalar::Float(times));
        (sum(&product)?, pointwise_owned(Op::Mul, total, &[times])?)
    };
    let is_zero = pointwise(Op::Eq, &[Arg::Tensor(&total), number(0.0)])?;
    let total = chosen(&is_zero, number(f64::NAN), Arg::Tensor(&total))?;
    let mean = pointwise_owned(Op::Div, products, &[Arg::Tensor(&total)])?;
    to_dtype(&multiplied(mean, factor.map(f64::recip))?, result)
}

fn number(value: f64) -> Arg<'static> {
    Arg::Scalar(Scalar::Float(value))
}

/// Returns the elements of `yes` where a mask is true, else those of `no`.
fn chosen(mask: &Raw, yes: Arg<'_>, no: Arg<'_>) -> Result<Raw> {
    pointwise(Op::Where, &[Arg::Tensor(mask), yes, no])
}

/// Returns whether each element differs from NaN.
fn is_present(x: &Raw) -> Result<Raw> {
    // Only NaN differs from itself.
    pointwise(Op::Eq, &[Arg::Tensor(x), Arg::Tensor(x)])
}

/// Returns the elements that a mask marks, and zero for all others.
fn present(x: &Raw, mask: &Raw) -> Result<Raw> {
    chosen(mask, Arg::Tensor(x), number(0.0))
}
