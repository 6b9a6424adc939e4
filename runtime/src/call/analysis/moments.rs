//! Covariances and correlations of two tensors over dims.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar};

use super::pairs::in_one_pass;
use super::parts::with_room_for_squares;
use super::{
    Arg, ReduceOptions, is_present, number, pointwise, pointwise_owned, present, reduce, refuse,
    to_dtype,
};
use crate::call::{clamp, full};
use crate::dispatch::accumulator;
use crate::job::Pairing;
use crate::raw::Raw;

/// Computes the covariance or the correlation of two tensors over dims. Sizes of `y` are those of `x`, or 1. The
/// `nan…` forms leave out the pairs in which either is NaN. Deviations are from the means, in a wide dtype.
pub(crate) fn moment(
    op: Op,
    x: &Raw,
    y: &Raw,
    (dims, keepdim): (&[usize], bool),
    correction: f64,
) -> Result<Raw> {
    let (result, wide) = (x.dtype(), accumulator(x.dtype()));
    op.row()
        .check_dtype(result)
        .map_err(|error| error.operand(&Names::default(), x.shape()))?;
    if y.dtype() != result {
        let what = format!("a tensor of {result} and one of {}", y.dtype());
        return Err(
            refuse(ErrorKind::DType, op, &[x, y], what).hint("convert one of them with `to`")
        );
    }
    let mut sizes = x.shape().iter().zip(y.shape());
    if let Some(dim) = sizes.position(|(&x, &y)| x != y && y != 1) {
        let error = Error::sizes(op.name(), [x.shape(), y.shape()], [(0, dim), (1, dim)]);
        return Err(error.hint("the other tensor has a dim's size, or lacks the dim"));
    }
    let correlates = matches!(op, Op::Corr | Op::Nancorr);
    let by = if correlates {
        Pairing::Correlation
    } else {
        Pairing::Covariance(correction)
    };
    if squares_fit(x)?
        && squares_fit(y)?
        && let Some(found) = in_one_pass(op, by, [x, y], (dims, keepdim))?
    {
        return to_dtype(&found, result);
    }
    let mask = match op {
        Op::Nancorr | Op::Nancovar => Some(pointwise(
            Op::LogicalAnd,
            &[Arg::Tensor(&is_present(x)?), Arg::Tensor(&is_present(y)?)],
        )?),
        _ => None,
    };
    let total = |x: &Raw, keepdim| reduce(Op::Sum, x, dims, keepdim, ReduceOptions::default());
    let pairs = |keepdim| match &mask {
        Some(mask) => to_dtype(&total(mask, keepdim)?, wide),
        None => {
            let count: f64 = dims.iter().map(|&dim| x.shape()[dim] as f64).product();
            full(&[], Scalar::Float(count), wide, x.device())
        }
    };
    let count = pairs(true)?;
    let deviations = |x: &Raw, shape: &[usize]| {
        let mut x = to_dtype(&x.expand(shape)?, wide)?;
        if let Some(mask) = &mask {
            x = present(&x, mask)?;
        }
        if correlates {
            // A factor changes no correlation.
            x = with_room_for_squares(x, result)?.0;
        }
        let mean = pointwise_owned(Op::Div, total(&x, true)?, &[Arg::Tensor(&count)])?;
        let off = pointwise_owned(Op::Sub, x, &[Arg::Tensor(&mean)])?;
        match &mask {
            Some(mask) => present(&off, mask),
            None => Ok(off),
        }
    };
    let (a, b) = (deviations(x, x.shape())?, deviations(y, x.shape())?);
    let product = |a: &Raw, b: &Raw| {
        total(
            &pointwise(Op::Mul, &[Arg::Tensor(a), Arg::Tensor(b)])?,
            keepdim,
        )
    };
    let together = product(&a, &b)?;
    if correlates {
        let root = |x: &Raw| pointwise_owned(Op::Sqrt, product(x, x)?, &[]);
        let scale = pointwise_owned(Op::Mul, root(&a)?, &[Arg::Tensor(&root(&b)?)])?;
        let found = pointwise_owned(Op::Div, together, &[Arg::Tensor(&scale)])?;
        // Rounding may lead beyond 1.
        return to_dtype(
            &clamp(&found, Some(number(-1.0)), Some(number(1.0)))?,
            result,
        );
    }
    let freedom = pointwise_owned(Op::Sub, pairs(keepdim)?, &[number(correction)])?;
    let freedom = clamp(&freedom, Some(number(0.0)), None)?;
    to_dtype(
        &pointwise_owned(Op::Div, together, &[Arg::Tensor(&freedom)])?,
        result,
    )
}

/// Returns whether squares and sums of the elements are in the range of `f64`.
fn squares_fit(x: &Raw) -> Result<bool> {
    if x.dtype() != DType::F64 {
        return Ok(true);
    }
    let x = x.clone().detach();
    let present = present(&x, &is_present(&x)?)?;
    Ok(with_room_for_squares(present, DType::F64)?.1.is_none())
}
