//! Interpolation along a dim with coordinates.

use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind, Result};

use super::{
    Arg, ReduceOptions, chosen, index_select, is_present, number, pointwise, pointwise_owned,
    reduce, refuse, to_dtype,
};
use crate::call::{clamp, searchsorted, sort};
use crate::dispatch::accumulator;
use crate::raw::Raw;
use crate::shape::Shape;

/// How a value between two coordinates follows from the values at both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterpMethod {
    /// On the line through both values.
    #[default]
    Linear,
    /// The value at the nearer coordinate, at the lower one if both are equally near.
    Nearest,
}

/// Interpolates along a dim at the coordinates `at`, whose dims replace the dim. `coords` are the coordinates of the
/// dim's elements, in any order.
///
/// # Errors
/// If the number of coordinates differs from the dim's size, a coordinate is NaN, or the dtype is refused.
pub(crate) fn interp(
    x: &Raw,
    dim: usize,
    coords: &Raw,
    at: &Raw,
    (method, extrapolate): (InterpMethod, bool),
) -> Result<Raw> {
    let (op, size) = (Op::Interp, x.shape()[dim]);
    let given = [x, coords, at];
    op.row()
        .check_dtype(x.dtype())
        .map_err(|error| error.operand(&Default::default(), x.shape()))?;
    if coords.shape() != [size] {
        let what = format!(
            "coordinates of sizes {:?} for a dim of {size}",
            coords.shape()
        );
        let hint = "give one coordinate for each element of the dim";
        return Err(refuse(ErrorKind::Shape, op, &given, what)
            .at(0, dim)
            .hint(hint));
    }
    if let Some(complex) = [coords, at].into_iter().find(|x| x.dtype().is_complex()) {
        let what = format!("coordinates of {}", complex.dtype());
        return Err(refuse(ErrorKind::DType, op, &given, what).hint("coordinates are real numbers"));
    }
    if size == 0 {
        let what = "an empty dim has no values".to_owned();
        return Err(refuse(ErrorKind::Shape, op, &given, what)
            .at(0, dim)
            .hint("give at least one element along it"));
    }
    let (x, coords) = ordered(x, dim, &to_dtype(&coords.clone().detach(), DType::F64)?)?;
    if !all(&is_present(&coords)?)? {
        let what = "a coordinate is NaN".to_owned();
        let hint = "select the elements with a coordinate: `index_select`";
        return Err(refuse(ErrorKind::Argument, op, &given, what).hint(hint));
    }

    // The two neighbours of each place, and its position between them: 0 at the lower, 1 at the upper.
    let places = to_dtype(at, DType::F64)?;
    let upper = searchsorted(
        Op::Searchsorted,
        &coords,
        &places.clone().detach(),
        None,
        false,
    )?;
    let upper = clamp(&upper, Some(integer(1)), Some(integer(size.max(2) - 1)))?;
    let lower = pointwise(Op::Sub, &[Arg::Tensor(&upper), integer(1)])?;
    let upper = clamp(&upper, None, Some(integer(size - 1)))?;
    let [from, to] = [&lower, &upper].map(|index| index_select(op, &coords, 0, index));
    let (from, to) = (from?, to?);
    let off = pointwise(Op::Sub, &[Arg::Tensor(&places), Arg::Tensor(&from)])?;
    let distance = pointwise(Op::Sub, &[Arg::Tensor(&to), Arg::Tensor(&from)])?;
    let is_same = pointwise(Op::Eq, &[Arg::Tensor(&distance), number(0.0)])?;
    let distance = chosen(&is_same, number(1.0), Arg::Tensor(&distance))?;
    let part = pointwise_owned(Op::Div, off, &[Arg::Tensor(&distance)])?;

    let found = match method {
        InterpMethod::Nearest => {
            let is_upper = pointwise(Op::Gt, &[Arg::Tensor(&part), number(0.5)])?;
            let nearest = chosen(&is_upper, Arg::Tensor(&upper), Arg::Tensor(&lower))?;
            index_select(op, &x, dim, &nearest)?
        }
        InterpMethod::Linear => {
            let wide = accumulator(x.dtype());
            let select = |index| to_dtype(&index_select(op, &x, dim, index)?, wide);
            let (a, b) = (select(&lower)?, select(&upper)?);
            let part = along(&to_dtype(&part, wide.to_real())?, x.rank(), dim)?;
            let slope = pointwise(Op::Sub, &[Arg::Tensor(&b), Arg::Tensor(&a)])?;
            let step = pointwise_owned(Op::Mul, slope, &[Arg::Tensor(&part)])?;
            let between = pointwise_owned(Op::Add, step, &[Arg::Tensor(&a)])?;
            // At a coordinate, the neighbour does not count, which may be NaN.
            let is_at = |part: &Raw, value| pointwise(Op::Eq, &[Arg::Tensor(part), number(value)]);
            let found = chosen(&is_at(&part, 1.0)?, Arg::Tensor(&b), Arg::Tensor(&between))?;
            let found = chosen(&is_at(&part, 0.0)?, Arg::Tensor(&a), Arg::Tensor(&found))?;
            to_dtype(&found, x.dtype())?
        }
    };
    // Beyond the ends, and at NaN, which no comparison holds for.
    let ends = [coords.narrow(0, 0, 1)?, coords.narrow(0, size - 1, 1)?];
    let [low, high] = [ends[0].reshape(&[])?, ends[1].reshape(&[])?];
    let is_inside = if extrapolate && (size > 1 || method == InterpMethod::Nearest) {
        is_present(&places)?
    } else {
        let above = pointwise(Op::Ge, &[Arg::Tensor(&places), Arg::Tensor(&low)])?;
        let below = pointwise(Op::Le, &[Arg::Tensor(&places), Arg::Tensor(&high)])?;
        pointwise(Op::LogicalAnd, &[Arg::Tensor(&above), Arg::Tensor(&below)])?
    };
    let is_inside = along(&is_inside, x.rank(), dim)?;
    chosen(&is_inside, Arg::Tensor(&found), number(f64::NAN))
}

/// Orders the elements of a dim by their coordinates, if they are not in order.
fn ordered(x: &Raw, dim: usize, coords: &Raw) -> Result<(Raw, Raw)> {
    let count = coords.numel() - 1;
    let (before, after) = (coords.narrow(0, 0, count)?, coords.narrow(0, 1, count)?);
    if all(&pointwise(
        Op::Le,
        &[Arg::Tensor(&before), Arg::Tensor(&after)],
    )?)? {
        return Ok((x.clone(), coords.clone()));
    }
    let (coords, order) = sort(Op::Sort, coords, 0, false)?;
    Ok((index_select(Op::Interp, x, dim, &order)?, coords))
}

/// Returns whether all elements of a mask are true.
fn all(mask: &Raw) -> Result<bool> {
    let dims: Shape = (0..mask.rank()).collect();
    let all = reduce(Op::All, mask, &dims, false, ReduceOptions::default())?;
    Ok(all.item()?.to_f64() != 0.0)
}

/// Returns places as a tensor that varies along the dims that replace `dim` of a tensor of `rank` dims.
fn along(places: &Raw, rank: usize, dim: usize) -> Result<Raw> {
    let mut shape = Shape::from_slice(places.shape());
    shape.resize(places.rank() + rank - 1 - dim, 1);
    places.reshape(&shape)
}

fn integer(value: usize) -> Arg<'static> {
    Arg::Scalar(nomina_core::Scalar::Int(value as i64))
}
