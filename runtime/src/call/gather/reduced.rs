//! Scatters that reduce.

use std::str::FromStr;

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::indices::same_dtype;
use super::update::{index_update, scatter};
use crate::call::reduce::room_for_sums;
use crate::call::{Arg, clamp, full, pointwise, to_dtype};
use crate::dispatch::accumulator;
use crate::job::Update;
use crate::raw::{Raw, RawMut};

/// How `scatter_reduce` and `index_reduce` combine several numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScatterReduce {
    /// The sum.
    Sum,
    /// The product.
    Prod,
    /// The mean; of integers, rounded down.
    Mean,
    /// The greatest number; NaN if any is.
    Amax,
    /// The smallest number; NaN if any is.
    Amin,
}

impl FromStr for ScatterReduce {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "sum" | "add" => Ok(Self::Sum),
            "prod" | "multiply" => Ok(Self::Prod),
            "mean" => Ok(Self::Mean),
            "amax" => Ok(Self::Amax),
            "amin" => Ok(Self::Amin),
            other => {
                let what = format!("unknown reduction {other:?}");
                Err(Error::new(ErrorKind::Argument, "scatter_reduce", what)
                    .hint("use sum, prod, mean, amax or amin"))
            }
        }
    }
}

/// The destination of values.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The dim.
    pub dim: usize,
    /// The indices along it.
    pub index: &'a Raw,
    /// Whether there is an index for each slice, or else for each element.
    pub slices: bool,
}

impl Target<'_> {
    /// Writes values to the destination.
    ///
    /// # Errors
    /// The errors of [`scatter`] and [`index_update`].
    pub fn write(self, op: Op, dest: RawMut<'_>, src: &Raw, how: Update) -> Result<()> {
        if self.slices {
            index_update(op, dest, self.dim, self.index, src, how, false)
        } else {
            scatter(op, dest, self.dim, self.index, src, how)
        }
    }
}

/// Reduces values into `own`, and with `include_self` also the present elements. Nothing is written if it fails.
///
/// # Errors
/// The errors of [`scatter`] and [`index_update`].
pub fn reduced(
    op: Op,
    own: &mut Raw,
    at: Target<'_>,
    src: &Raw,
    reduce: ScatterReduce,
    include_self: bool,
) -> Result<()> {
    let how = match reduce {
        ScatterReduce::Sum | ScatterReduce::Mean => Update::Add,
        ScatterReduce::Prod => Update::Mul,
        ScatterReduce::Amax => Update::Max,
        ScatterReduce::Amin => Update::Min,
    };
    if include_self && reduce != ScatterReduce::Mean {
        return at.write(op, own.as_mut()?, src, how);
    }
    same_dtype(op, (own.shape(), own.dtype()), src)?;
    let dtype = own.dtype();
    let wide = match dtype {
        DType::Bool => dtype,
        _ if dtype.is_integral() => DType::I64,
        _ => accumulator(dtype),
    };
    if reduce == ScatterReduce::Mean && wide != dtype {
        // The sum may be out of range although the mean is not.
        let (mut sums, src) = (to_dtype(own, wide)?, to_dtype(src, wide)?);
        reduced(op, &mut sums, at, &src, reduce, include_self)?;
        *own = to_dtype(&sums, dtype)?;
        return Ok(());
    }
    if let (ScatterReduce::Mean, Some(factor)) = (reduce, room_for_sums(src)?) {
        let by = |x: &Raw, factor: f64| {
            let factor = Arg::Scalar(Scalar::Float(factor));
            pointwise(Op::Mul, &[Arg::Tensor(x), factor])
        };
        let (mut sums, src) = (by(own, factor)?, by(src, factor)?);
        reduced(op, &mut sums, at, &src, reduce, include_self)?;
        *own = by(&sums, factor.recip())?;
        return Ok(());
    }
    let number =
        |n: i64, dtype: DType| full(&[], Scalar::Int(n), dtype, own.device())?.expand(src.shape());
    let mut result = own.clone();
    if !include_self {
        // Extremes of integers start from any of the values, other reductions from a neutral element.
        match reduce {
            ScatterReduce::Sum | ScatterReduce::Mean => {
                at.write(op, result.as_mut()?, &number(0, own.dtype())?, Update::Set)?;
            }
            ScatterReduce::Prod => {
                at.write(op, result.as_mut()?, &number(1, own.dtype())?, Update::Set)?;
            }
            ScatterReduce::Amax | ScatterReduce::Amin if own.dtype().is_float() => {
                let least = match reduce {
                    ScatterReduce::Amax => f64::NEG_INFINITY,
                    _ => f64::INFINITY,
                };
                let least = full(&[], Scalar::Float(least), own.dtype(), own.device())?;
                let least = least.expand(src.shape())?;
                at.write(op, result.as_mut()?, &least, Update::Set)?;
            }
            ScatterReduce::Amax | ScatterReduce::Amin => {
                at.write(op, result.as_mut()?, src, Update::Set)?;
            }
        }
    }
    at.write(op, result.as_mut()?, src, how)?;
    if reduce == ScatterReduce::Mean {
        let start = Scalar::Int(i64::from(include_self));
        let mut counts = full(own.shape(), start, DType::I64, own.device())?;
        at.write(op, counts.as_mut()?, &number(1, DType::I64)?, Update::Add)?;
        result = divided(op, &result, &counts)?;
    }
    *own = result;
    Ok(())
}

/// Divides sums by counts; a count of 0 means that nothing was added.
fn divided(op: Op, sums: &Raw, counts: &Raw) -> Result<Raw> {
    let one = Arg::Scalar(Scalar::Int(1));
    let counts = clamp(counts, Some(one), None)?;
    let div = if sums.dtype().is_integral() {
        Op::FloorDivide
    } else {
        Op::Div
    };
    let each = [Arg::Tensor(sums), Arg::Tensor(&counts)];
    let means = pointwise(div, &each).map_err(|error| error.in_op(op.name()))?;
    to_dtype(&means, sums.dtype())
}
