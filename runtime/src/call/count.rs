//! Counting: elements into bins, quantiles, membership.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar};

use super::device::{by_host, same_device};
use super::{Arg, ReduceOptions, contiguous, pointwise, reduce, searchsorted, sort, to_dtype};
use crate::cpu::histogram::{of_floats, of_integers, of_weights};
use crate::memory::NoMemory;
use crate::memory::scratch::room;
use crate::raw::Raw;

#[cold]
fn refuse(kind: ErrorKind, op: Op, x: &Raw, what: impl Into<String>) -> Error {
    Error::new(kind, op.name(), what).operand(&Names::default(), x.shape())
}

fn check_dtype(op: Op, x: &Raw) -> Result<()> {
    op.row()
        .check_dtype(x.dtype())
        .map_err(|e| e.operand(&Names::default(), x.shape()))
}

/// A contiguous tensor's elements, on the host.
fn elements<T: nomina_core::Element>(op: Op, x: &Raw) -> Result<&[T]> {
    x.as_slice().ok_or_else(|| {
        refuse(ErrorKind::Device, op, x, "the elements are not on the host")
            .hint("move them with `cpu`")
    })
}

/// How often each whole number from 0 on stands in a tensor of one dim, or what its weights add up
/// to.
///
/// # Errors
/// More dims than one, a negative number, weights of other sizes, a dtype of floats, missing
/// memory.
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
            "weights of other sizes than the numbers",
        )
        .operand(&Names::default(), weights.shape())
        .hint("give one weight for each number"));
    }
    let all = [Some(x), weights];
    let all: Vec<&Raw> = all.into_iter().flatten().collect();
    same_device(op.name(), &all)?;
    if !x.device().is_cpu() {
        return by_host("bincount", &all, |host| {
            bincount(&host[0], host.get(1), minlength)
        });
    }
    let numbers = contiguous(&to_dtype(x, DType::I64)?)?;
    let numbers = elements::<i64>(op, &numbers)?;
    let mut bins = minlength;
    if let (Some(&least), Some(&most)) = (numbers.iter().min(), numbers.iter().max()) {
        if least < 0 {
            let what = format!("{least} is negative");
            return Err(refuse(ErrorKind::Argument, op, x, what)
                .hint("add what makes all numbers positive"));
        }
        let last = usize::try_from(most).unwrap_or(usize::MAX);
        bins = bins.max(last.saturating_add(1));
    }
    let dtype = match weights.map(Raw::dtype) {
        None => DType::I64,
        Some(DType::F32) => DType::F32,
        Some(dtype) if dtype.is_complex() => {
            return Err(refuse(ErrorKind::DType, op, x, "complex weights")
                .hint("count real and imaginary parts one after the other"));
        }
        Some(_) => DType::F64,
    };
    let missing = |error: NoMemory| error.in_op(op.name());
    match weights {
        None => Raw::from_vec(of_integers(numbers, bins).map_err(missing)?, &[bins]),
        Some(weights) => {
            let weights = contiguous(&to_dtype(weights, DType::F64)?)?;
            let sums = of_weights(numbers, elements(op, &weights)?, bins).map_err(missing)?;
            to_dtype(&Raw::from_vec(sums, &[bins])?, dtype)
        }
    }
}

/// How many elements fall into each of `bins` equal bins from `min` to `max`, or, where both are
/// the same, from the smallest element to the greatest.
///
/// # Errors
/// No bins, a `max` below `min`, ends that are not finite, a dtype that is no float.
pub fn histc(x: &Raw, bins: i64, min: f64, max: f64) -> Result<Raw> {
    let op = Op::Histc;
    check_dtype(op, x)?;
    let Some(bins) = usize::try_from(bins).ok().filter(|&bins| bins > 0) else {
        return Err(
            refuse(ErrorKind::Argument, op, x, format!("{bins} bins")).hint("give at least one")
        );
    };
    if !x.device().is_cpu() {
        return by_host("histc", &[x], |host| histc(&host[0], bins as i64, min, max));
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
    let counts = if x.dtype() == DType::F64 {
        let x = contiguous(x)?;
        of_floats::<f64>(elements(op, &x)?, low, high, bins)
    } else {
        let wide = contiguous(&to_dtype(x, DType::F32)?)?;
        of_floats::<f32>(elements(op, &wide)?, low as f32, high as f32, bins)
    };
    let counts = counts.map_err(|error| error.in_op(op.name()))?;
    to_dtype(&Raw::from_vec(counts, &[bins])?, x.dtype())
}

/// Whether each element stands among others; dtypes promote.
///
/// # Errors
/// A complex dtype, missing memory.
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
    // After its equals, an element stands elsewhere than before them, if it has any.
    let flat = among.reshape(&[among.numel()])?;
    let (sorted, _) = sort(op, &flat, 0, false)?;
    let before = searchsorted(op, &sorted, &x, None, false)?;
    let after = searchsorted(op, &sorted, &x, None, true)?;
    let test = if invert { Op::Eq } else { Op::Ne };
    let found = pointwise(test, &[Arg::Tensor(&before), Arg::Tensor(&after)])?;
    if common.is_float() {
        // NaN equals nothing, not even what stands among the others.
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

/// How a quantile between two elements is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// In proportion to the distances.
    #[default]
    Linear,
    /// The lower of both.
    Lower,
    /// The higher of both.
    Higher,
    /// The middle of both.
    Midpoint,
    /// The nearer of both; the even one where both are as near.
    Nearest,
}

/// Quantiles of the elements along a dim, which becomes a first dim of as many as `q` has. NaN
/// where there is one, unless those are left out.
///
/// # Errors
/// A `q` outside of 0 to 1, of another dtype or of more dims; no elements; missing memory.
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
            refuse(ErrorKind::Index, op, x, "no elements to choose from")
                .hint("take a tensor that has some"),
        );
    }
    let outside = |q: &Scalar| !(0.0..=1.0).contains(&q.to_f64());
    same_device(op.name(), &[x, q])?;
    if !x.device().is_cpu() {
        return by_host("quantile", &[x, q], |host| {
            quantile(op, &host[0], &host[1], dim, by)
        });
    }
    if let Some(q) = q.try_scalars()?.find(outside) {
        return Err(refuse(ErrorKind::Argument, op, x, format!("`q` is {q}"))
            .hint("give numbers from 0 to 1"));
    }
    // In order along the last dim, which `q`'s numbers are then places in.
    let mut last: Vec<usize> = (0..x.rank()).filter(|&d| d != dim).collect();
    last.push(dim);
    let (sorted, _) = sort(op, &x.permute(&last)?, x.rank() - 1, false)?;
    let (sorted, q) = (contiguous(&sorted)?, contiguous(q)?);
    let n = x.shape()[dim];
    let lines = x.numel() / n;
    let ignore = op == Op::Nanquantile;
    let mut shape: Vec<usize> = q.shape().to_vec();
    shape.extend(last[..last.len() - 1].iter().map(|&d| x.shape()[d]));
    let missing = |error: NoMemory| error.in_op(op.name());
    if x.dtype() == DType::F64 {
        let (all, q) = (elements::<f64>(op, &sorted)?, elements::<f64>(op, &q)?);
        let found = of_lines(all, q, n, lines, ignore, by).map_err(missing)?;
        Raw::from_vec(found, &shape)
    } else {
        let (sorted, q) = (to_dtype(&sorted, DType::F32)?, to_dtype(&q, DType::F32)?);
        let (all, q) = (elements::<f32>(op, &sorted)?, elements::<f32>(op, &q)?);
        let found = of_lines(all, q, n, lines, ignore, by).map_err(missing)?;
        to_dtype(&Raw::from_vec(found, &shape)?, x.dtype())
    }
}

/// The arithmetic of quantiles, in a dtype's own precision.
trait Quantile: nomina_core::Element + PartialOrd {
    fn of(line: &[Self], q: Self, ignore: bool, by: Interpolation) -> Self;
}

macro_rules! quantiles {
    ($($t:ty)*) => {$(
        impl Quantile for $t {
            fn of(line: &[Self], q: Self, ignore: bool, by: Interpolation) -> Self {
                // NaN stand last.
                let numbers = line.partition_point(|x| !x.is_nan());
                if numbers == 0 || (numbers < line.len() && !ignore) {
                    return <$t>::NAN;
                }
                let place = q * (numbers - 1) as $t;
                let place = match by {
                    Interpolation::Lower => place.floor(),
                    Interpolation::Higher => place.ceil(),
                    Interpolation::Nearest => place.round_ties_even(),
                    _ => place,
                };
                let low = place.floor() as usize;
                let high = (place.ceil() as usize).min(numbers - 1);
                let (a, b) = (line[low], line[high]);
                let weight = match by {
                    Interpolation::Midpoint => 0.5,
                    _ => place - place.floor(),
                };
                // Between equal infinities there is no distance.
                if a == b {
                    a
                } else if weight < 0.5 {
                    a + weight * (b - a)
                } else {
                    b - (b - a) * (1.0 - weight)
                }
            }
        }
    )*};
}
quantiles!(f32 f64);

fn of_lines<T: Quantile>(
    sorted: &[T],
    q: &[T],
    n: usize,
    lines: usize,
    ignore: bool,
    by: Interpolation,
) -> Result<Vec<T>, NoMemory> {
    let mut all = room(q.len() * lines)?;
    for &q in q {
        all.extend(
            sorted
                .chunks_exact(n)
                .map(|line| T::of(line, q, ignore, by)),
        );
    }
    Ok(all)
}
