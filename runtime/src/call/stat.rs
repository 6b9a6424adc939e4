//! Statistics composed of other operators.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar};

use super::{
    Arg, ReduceOptions, check, full, matmul, pointwise, pointwise_owned, reduce, scan, to_dtype,
};
use crate::dispatch::accumulator;
use crate::raw::Raw;
use crate::shape::Shape;

#[cold]
fn refuse(kind: ErrorKind, op: Op, x: &Raw, what: impl Into<String>) -> Error {
    Error::new(kind, op.name(), what).operand(&Names::default(), x.shape())
}

fn check_dtype(op: Op, x: &Raw) -> Result<()> {
    op.row()
        .check_dtype(x.dtype())
        .map_err(|e| e.operand(&Names::default(), x.shape()))
}

fn number(value: f64) -> Arg<'static> {
    Arg::Scalar(Scalar::Float(value))
}

fn sum(x: &Raw, dim: usize, keepdim: bool) -> Result<Raw> {
    reduce(Op::Sum, x, &[dim], keepdim, ReduceOptions::default())
}

/// Returns all but the first and all but the last element along a dim that has elements.
fn neighbours(x: &Raw, dim: usize) -> Result<[Raw; 2]> {
    let rest = x.shape()[dim] - 1;
    Ok([x.narrow(dim, 1, rest)?, x.narrow(dim, 0, rest)?])
}

/// Computes differences of neighbours along a dim, `n` times.
///
/// # Errors
/// If the dim is out of range, `n` is negative, or memory is missing.
pub fn diff(x: &Raw, n: i64, dim: usize) -> Result<Raw> {
    let op = Op::Diff;
    check::dim(op.name(), x.shape(), dim)?;
    let Ok(times) = usize::try_from(n) else {
        return Err(refuse(ErrorKind::Argument, op, x, format!("{n} times"))
            .hint("give a number that is not negative"));
    };
    let step = if x.dtype() == DType::Bool {
        Op::LogicalXor
    } else {
        Op::Sub
    };
    let left = x.shape()[dim].saturating_sub(times);
    if left == 0 || x.numel() == 0 {
        return x.narrow(dim, 0, left);
    }
    if x.numel() == 0 {
        // There may be more steps than anyone waits for; the result is empty after these.
        return x.narrow(dim, 0, x.shape()[dim] - times);
    }
    let mut x = x.clone();
    for _ in 0..times {
        let [after, before] = neighbours(&x, dim)?;
        x = pointwise(step, &[Arg::Tensor(&after), Arg::Tensor(&before)])?;
    }
    Ok(x)
}

/// The distance between samples.
#[derive(Clone, Copy, Debug)]
pub enum Spacing<'a> {
    /// A constant distance.
    Even(f64),
    /// The positions of samples: with the samples' dims, or along the one dim.
    At(&'a Raw),
}

/// Integrates along a dim by the trapezoidal rule: over all samples, or with `running` up to each sample but the first.
///
/// # Errors
/// If the dim is out of range, positions do not match the samples, samples are bool, or memory is missing.
pub fn trapezoid(op: Op, y: &Raw, spacing: Spacing<'_>, dim: usize, running: bool) -> Result<Raw> {
    check_dtype(op, y)?;
    check::dim(op.name(), y.shape(), dim)?;
    let distances = match spacing {
        Spacing::At(places) => Some(distances(op, y, places, dim)?),
        Spacing::Even(_) => None,
    };
    let dtype = |common: DType| common.to_float(crate::config::default_dtype());
    if y.shape()[dim] == 0 {
        let mut shape = Shape::from_slice(y.shape());
        if running {
            shape[dim] = 0;
        } else {
            shape.remove(dim);
        }
        return Raw::zeros(op.name(), &shape, dtype(y.dtype()), y.device());
    }
    let [after, before] = neighbours(y, dim)?;
    let pairs = pointwise(Op::Add, &[Arg::Tensor(&after), Arg::Tensor(&before)])?;
    let areas = match (&distances, spacing) {
        (Some(distances), _) => {
            let doubled = pointwise(Op::Mul, &[Arg::Tensor(&pairs), Arg::Tensor(distances)])?;
            pointwise_owned(Op::Div, doubled, &[number(2.0)])?
        }
        (None, Spacing::Even(dx)) => pointwise_owned(Op::Mul, pairs, &[number(dx / 2.0)])?,
        (None, Spacing::At(_)) => pairs,
    };
    if running {
        scan(Op::Cumsum, &areas, dim, None)
    } else {
        sum(&areas, dim, false)
    }
}

/// Returns the distances between positions along the samples' dim, with the samples' number of dims.
fn distances(op: Op, y: &Raw, given: &Raw, dim: usize) -> Result<Raw> {
    let places = given;
    let places = if places.rank() == 1 {
        let mut shape = Shape::from_elem(1, y.rank());
        shape[dim] = places.numel();
        places.reshape(&shape)?
    } else {
        let mut places = places.clone();
        while places.rank() < y.rank() {
            places = places.unsqueeze(0)?;
        }
        places
    };
    if places.rank() != y.rank() || places.shape()[dim] != y.shape()[dim] {
        let shapes = [y.shape(), given.shape()];
        let at = match given.rank() {
            1 => Some(0),
            rank => (dim + rank).checked_sub(y.rank()),
        };
        let error = match at.filter(|_| places.rank() == y.rank()) {
            Some(at) => Error::sizes(op.name(), shapes, [(0, dim), (1, at)]),
            None => {
                let what = format!("points of {} dims for {}", given.rank(), y.rank());
                Error::new(ErrorKind::Shape, op.name(), what).on_operands(shapes)
            }
        };
        return Err(error.hint("give one point for each sample"));
    }
    if places.shape()[dim] == 0 {
        return Ok(places);
    }
    let [after, before] = neighbours(&places, dim)?;
    pointwise(Op::Sub, &[Arg::Tensor(&after), Arg::Tensor(&before)])
}

/// Computes the covariance of variables, which are rows, over observations, which are columns. A vector is one
/// variable, whose covariance is a number.
///
/// # Errors
/// If there are more than two dims, weights have other sizes or are negative, or memory is missing.
pub fn cov(
    op: Op,
    x: &Raw,
    correction: f64,
    frequencies: Option<&Raw>,
    weights: Option<&Raw>,
) -> Result<Raw> {
    check_dtype(op, x)?;
    if x.rank() > 2 {
        let what = format!("observations in {} dims", x.rank());
        return Err(refuse(ErrorKind::Rank, op, x, what)
            .hint("give variables along the first dim, observations along the second"));
    }
    let n = x.numel();
    let rows = if x.rank() < 2 {
        x.reshape(&[1, n])?
    } else {
        x.clone()
    };
    let count = rows.shape()[1];
    if let Some(frequencies) = frequencies
        && !(frequencies.dtype().is_integral() && frequencies.dtype() != DType::Bool)
    {
        let what = format!("frequencies of {}", frequencies.dtype());
        return Err(refuse(ErrorKind::DType, op, x, what).hint("give integers"));
    }
    if let Some(weights) = weights
        && !weights.dtype().is_float()
    {
        let what = format!("weights of {}", weights.dtype());
        return Err(refuse(ErrorKind::DType, op, x, what).hint("give floats"));
    }
    for each in [frequencies, weights].into_iter().flatten() {
        if each.rank() != 1 || each.numel() != count {
            return Err(refuse(ErrorKind::Shape, op, x, "weights of wrong sizes")
                .operand(&Names::default(), each.shape())
                .hint(format!("give {count}, one for each observation")));
        }
        if each.try_scalars()?.any(|w| w.to_f64() < 0.0) {
            return Err(refuse(ErrorKind::Argument, op, x, "a weight is negative")
                .hint("give weights of at least 0"));
        }
    }
    let dtype = x.dtype().to_float(crate::config::default_dtype());
    let rows = to_dtype(&rows, dtype)?;
    let both = match (frequencies, weights) {
        (Some(f), Some(w)) => Some(pointwise(Op::Mul, &[Arg::Tensor(f), Arg::Tensor(w)])?),
        (one, other) => one.or(other).cloned(),
    };
    // Weights stay tensors, since they may require a gradient.
    let totals = match &both {
        None => None,
        Some(both) => {
            let all = sum(both, 0, false)?;
            let lost = match weights {
                None => full(&[], correction.into(), DType::F64, x.device())?,
                Some(weights) => {
                    let squares = pointwise(Op::Mul, &[Arg::Tensor(both), Arg::Tensor(weights)])?;
                    let squares = pointwise(
                        Op::Mul,
                        &[(&sum(&squares, 0, false)?).into(), number(correction)],
                    )?;
                    pointwise(Op::Div, &[(&squares).into(), (&all).into()])?
                }
            };
            let freedom = pointwise(Op::Sub, &[(&all).into(), (&lost).into()])?;
            let freedom = pointwise(Op::Maximum, &[(&freedom).into(), number(0.0)])?;
            Some((to_dtype(&all, dtype)?, to_dtype(&freedom, dtype)?))
        }
    };
    let (weight, freedom) = match &totals {
        None => (
            number(count as f64),
            number((count as f64 - correction).max(0.0)),
        ),
        Some((weight, freedom)) => (weight.into(), freedom.into()),
    };
    let weighted = |rows: &Raw| match &both {
        None => Ok(rows.clone()),
        Some(both) => to_dtype(
            &pointwise(Op::Mul, &[Arg::Tensor(rows), Arg::Tensor(both)])?,
            dtype,
        ),
    };
    let sums = sum(&weighted(&rows)?, 1, true)?;
    let mean = pointwise_owned(Op::Div, sums, &[weight])?;
    let centred = pointwise(Op::Sub, &[Arg::Tensor(&rows), Arg::Tensor(&mean)])?;
    let products = matmul(&centred, &weighted(&centred)?.transpose(0, 1)?)?;
    let found = pointwise_owned(Op::Div, products, &[freedom])?;
    if found.numel() == 1 {
        return found.reshape(&[]);
    }
    Ok(found)
}

/// Computes the correlation coefficients of variables, which are rows.
///
/// # Errors
/// Like [`cov`].
pub fn corrcoef(x: &Raw) -> Result<Raw> {
    let scaled = scaled_rows(x)?;
    let found = cov(Op::Corrcoef, scaled.as_ref().unwrap_or(x), 1.0, None, None)?;
    if found.rank() == 0 {
        return pointwise(Op::Div, &[Arg::Tensor(&found), Arg::Tensor(&found)]);
    }
    let deviation = pointwise(Op::Sqrt, &[Arg::Tensor(&found.diagonal(0, 1, 0)?)])?;
    let rows = pointwise_owned(Op::Div, found, &[Arg::Tensor(&deviation.unsqueeze(1)?)])?;
    let scaled = pointwise_owned(Op::Div, rows, &[Arg::Tensor(&deviation)])?;
    super::clamp(&scaled, Some(number(-1.0)), Some(number(1.0)))
}

/// Scales rows of observations by powers of two that bring each row's greatest magnitude near one, which does not
/// change correlations; `None` if the squares of all rows are in range.
fn scaled_rows(x: &Raw) -> Result<Option<Raw>> {
    if x.rank() == 0 || x.numel() == 0 || x.dtype().is_integral() {
        return Ok(None);
    }
    let plain = x.clone().detach();
    let sizes = pointwise(Op::Abs, &[(&plain).into()])?;
    let last = x.rank() - 1;
    let most = reduce(Op::Amax, &sizes, &[last], true, ReduceOptions::default())?;
    let most = to_dtype(&most, DType::F64)?;
    // Squares of 16-bit floats overflow early.
    let ends = match x.dtype().to_real() {
        DType::F64 => 1e-120..1e120,
        DType::F16 => 1e-1..1e1,
        _ => 1e-12..1e12,
    };
    let is_ordinary = |x: &f64| *x == 0.0 || ends.contains(x);
    if x.device().is_cpu() && most.to_vec::<f64>()?.iter().all(is_ordinary) {
        return Ok(None);
    }
    let exponent = pointwise(Op::Log2, &[(&most).into()])?;
    let exponent = pointwise(Op::Ceil, &[(&exponent).into()])?;
    let finite = pointwise(Op::Isfinite, &[(&exponent).into()])?;
    let exponent = pointwise(
        Op::Where,
        &[(&finite).into(), (&exponent).into(), number(0.0)],
    )?;
    let factor = pointwise(Op::Exp2, &[(&exponent).into()])?;
    let dtype = x.dtype();
    to_dtype(&pointwise(Op::Div, &[x.into(), (&factor).into()])?, dtype).map(Some)
}

/// Scales slices along a dim down to a norm of at most `maxnorm`.
///
/// # Errors
/// If the dim is out of range, `p` is not positive, `maxnorm` is negative, or there are fewer than two dims.
pub fn renorm(x: &Raw, p: f64, dim: usize, maxnorm: f64) -> Result<Raw> {
    let op = Op::Renorm;
    check_dtype(op, x)?;
    check::dim(op.name(), x.shape(), dim)?;
    if x.rank() < 2 {
        return Err(refuse(ErrorKind::Rank, op, x, "slices have no dims")
            .hint("use `norm`, or `unsqueeze` first"));
    }
    if !(p > 0.0 && maxnorm >= 0.0) {
        let what = format!("degree {p}, norm {maxnorm}");
        return Err(refuse(ErrorKind::Argument, op, x, what)
            .hint("give a positive degree, and a norm of at least 0"));
    }
    let others: Vec<usize> = (0..x.rank()).filter(|&other| other != dim).collect();
    // A norm may be out of the elements' range.
    let wide = accumulator(x.dtype().to_real());
    let magnitudes = if x.dtype().is_complex() {
        pointwise(Op::Abs, &[x.into()])?
    } else {
        x.clone()
    };
    let options = ReduceOptions {
        p,
        dtype: Some(wide),
        ..ReduceOptions::default()
    };
    if x.numel() == 0 {
        return Ok(x.clone());
    }
    let norms = reduce(Op::Norm, &magnitudes, &others, true, options)?;
    let large = pointwise(Op::Gt, &[Arg::Tensor(&norms), number(maxnorm)])?;
    let raised = pointwise(Op::Add, &[Arg::Tensor(&norms), number(1e-7)])?;
    let limit = super::full(&[], Scalar::Float(maxnorm), wide, x.device())?;
    let factor = pointwise(Op::Div, &[Arg::Tensor(&limit), Arg::Tensor(&raised)])?;
    let one = Arg::Scalar(Scalar::Float(1.0));
    let factor = pointwise(Op::Where, &[Arg::Tensor(&large), Arg::Tensor(&factor), one])?;
    to_dtype(
        &pointwise(Op::Mul, &[Arg::Tensor(x), Arg::Tensor(&factor)])?,
        x.dtype(),
    )
}
