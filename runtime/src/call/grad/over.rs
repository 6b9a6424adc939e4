//! Products, norms and running results over dims.

use nomina_core::op::{Op, class};
use nomina_core::{Result, Scalar};

use super::arithmetic::{
    add, apply, choose, conj, div, is_zero, mul, number, scaled, sub, sum, sum_from, with_number,
};
use super::by::{by, by_result};
use super::lines::narrow;
use super::read::widened;
use crate::SmallVec;
use crate::call::{cat, full, pointwise, scan, to_dtype};
use crate::raw::Raw;
use crate::shape::Shape;

type Dims = SmallVec<[usize; 8]>;

/// The product over dims, which are of size 1 in `kept`.
pub(in crate::call) fn prod(out: Raw, x: &Raw, kept: &[usize], dims: &[usize]) -> Result<Raw> {
    by(Op::Prod, out, [x], || {
        let (x, kept, dims) = (x.clone(), Shape::from_slice(kept), Dims::from_slice(dims));
        move |back, _| {
            let grad = widened(&back.grad()?.reshape(&kept)?)?;
            others(&widened(&x)?, &dims)
                .and_then(|others| mul(&grad, &conj(&others)?))
                .map(Some)
        }
    })
}

/// One number chosen among all elements: those that are equal to it share its gradient.
pub(in crate::call) fn evenly(op: Op, out: Raw, x: &Raw) -> Result<Raw> {
    by_result(op, out, [x], || {
        let x = x.clone().detach();
        move |back, _| {
            let chosen = back.result()?.detach();
            // NaN as NaN.
            let both = [(&x).into(), (&chosen).into(), number(0.0), number(0.0)];
            let equal = pointwise(Op::IscloseNan, &both)?;
            let dims: Dims = (0..x.rank()).collect();
            let share = div(&back.grad()?, &sum(&equal, &dims, false)?)?;
            choose(&equal, (&share).into(), number(0.0)).map(Some)
        }
    })
}

/// For each element the product of all others over the dims: of those before it and those behind it, so that zeros divide
/// nothing.
fn others(x: &Raw, dims: &[usize]) -> Result<Raw> {
    if dims.is_empty() {
        return full(x.shape(), Scalar::Int(1), x.dtype(), x.device());
    }
    let outer = (0..x.rank()).filter(|dim| !dims.contains(dim));
    let order: Dims = outer.chain(dims.iter().copied()).collect();
    let mut back = Dims::from_elem(0, order.len());
    (0..order.len()).for_each(|at| back[order[at]] = at);
    let turned = x.permute(&order)?;
    let split = x.rank() - dims.len();
    let mut shape = Shape::from_slice(&turned.shape()[..split]);
    shape.push(crate::shape::count(&turned.shape()[split..]));
    let line = turned.reshape(&shape)?;
    let before = exclusive(&line, split)?;
    let behind = exclusive(&line.flip(split)?, split)?.flip(split)?;
    mul(&before, &behind)?
        .reshape(turned.shape())?
        .permute(&back)
}

/// The product of all before each place along the last dim.
fn exclusive(line: &Raw, last: usize) -> Result<Raw> {
    let Some(rest) = line.shape()[last].checked_sub(1) else {
        return Ok(line.clone());
    };
    let mut first = Shape::from_slice(line.shape());
    first[last] = 1;
    let one = full(&first, Scalar::Int(1), line.dtype(), line.device())?;
    let running = scan(Op::Cumprod, &line.narrow(last, 0, rest)?, last, None)?;
    cat(&[&one, &running], last)
}

/// A scan of the table along a dim.
pub(in crate::call) fn scanned(op: class::Scan, out: Raw, x: &Raw, dim: usize) -> Result<Raw> {
    match op {
        class::Scan::Cumsum => by(Op::Cumsum, out, [x], || {
            move |back, _| sum_from(&back.grad()?, dim).map(Some)
        }),
        class::Scan::Cumprod => by_result(Op::Cumprod, out, [x], || {
            let x = x.clone();
            move |back, _| {
                let (x, grad) = (widened(&x)?, widened(&back.grad()?)?);
                if back.records() {
                    return running_product_recorded(&x, &grad, dim).map(Some);
                }
                let result = match narrow(back.result()?.dtype()) {
                    Some(_) => scan(Op::Cumprod, &x, dim, None)?,
                    None => back.result()?,
                };
                running_product(&x, &grad, &result, dim).map(Some)
            }
        }),
        class::Scan::Logcumsumexp => by_result(Op::Logcumsumexp, out, [x], || {
            let x = x.clone();
            move |back, _| {
                // A 16-bit result is computed once more: its exponential would have its rounding.
                let (x, grad) = (widened(&x)?, widened(&back.grad()?)?);
                let result = match narrow(back.result()?.dtype()) {
                    Some(_) => scan(Op::Logcumsumexp, &x, dim, None)?,
                    None => back.result()?,
                };
                if !back.records() {
                    return running_exponents(&x, &grad, &result, dim).map(Some);
                }
                // A logarithm has no slope at a gradient of zero, where this, which is linear in it, has one.
                let more = to_dtype(&is_zero(&grad)?, grad.dtype())?;
                let all = running_exponents(&x, &add(&grad, &more)?, &result, dim)?;
                sub(&all, &running_exponents(&x, &more, &result, dim)?).map(Some)
            }
        }),
    }
}

/// Before the first zero of a line all products from each place on, without its own factor; at the zero those that it alone
/// makes zero; none behind it.
fn running_product(x: &Raw, grad: &Raw, result: &Raw, dim: usize) -> Result<Raw> {
    let zero = with_number(Op::Eq, x, 0.0)?;
    let zeros = scan(Op::Cumsum, &zero, dim, None)?;
    let first = pointwise(
        Op::LogicalAnd,
        &[(&zero).into(), (&with_number(Op::Eq, &zeros, 1.0)?).into()],
    )?;
    let others = choose(&zero, number(1.0), x.into())?;
    let rest = div(
        &sum_from(&mul(grad, &conj(result)?)?, dim)?,
        &conj(&others)?,
    )?;
    let behind = with_number(Op::Gt, &zeros, 0.0)?;
    let rest = choose(&behind, number(0.0), (&rest).into())?;
    let without = scan(
        Op::Cumprod,
        &choose(&first, number(1.0), x.into())?,
        dim,
        None,
    )?;
    let at = sum_from(&mul(grad, &conj(&without)?)?, dim)?;
    choose(&first, (&at).into(), (&rest).into())
}

/// As [`running_product`], without a choice by elements, which would have no slope beside zeros: from the end on, what comes
/// is the gradient and the next factor times what has come.
fn running_product_recorded(x: &Raw, grad: &Raw, dim: usize) -> Result<Raw> {
    let Some(last) = x.shape().get(dim).and_then(|size| size.checked_sub(1)) else {
        return Ok(grad.clone());
    };
    let x = conj(x)?;
    let mut come = vec![grad.narrow(dim, last, 1)?];
    for at in (0..last).rev() {
        let more = mul(&x.narrow(dim, at + 1, 1)?, &come[come.len() - 1])?;
        come.push(add(&grad.narrow(dim, at, 1)?, &more)?);
    }
    let come: Vec<&Raw> = come.iter().rev().collect();
    mul(&cat(&come, dim)?, &exclusive(&x, dim)?)
}

/// In logarithms, so that nothing overflows, positive and negative gradients apart.
fn running_exponents(x: &Raw, grad: &Raw, result: &Raw, dim: usize) -> Result<Raw> {
    // A sum of nothing but zeros has no slope.
    let empty = with_number(Op::Eq, result, f64::NEG_INFINITY)?;
    let result = &choose(&empty, number(0.0), result.into())?;
    if grad.dtype().is_complex() || x.dtype().is_complex() {
        let zero = is_zero(grad)?;
        let own = choose(&zero, number(1.0), grad.into())?;
        let logs = sub(&pointwise(Op::Log, &[(&own).into()])?, &conj(result)?)?;
        let none = apply(Op::LogicalOr, [(&zero).into(), (&empty).into()])?;
        let logs = choose(&none, number(f64::NEG_INFINITY), (&logs).into())?;
        let sums = scan(Op::Logcumsumexp, &logs.flip(dim)?, dim, None)?.flip(dim)?;
        return pointwise(Op::Exp, &[(&add(&sums, &conj(x)?)?).into()]);
    }
    let full = pointwise(Op::LogicalNot, &[(&empty).into()])?;
    let part = |sign: f64| -> Result<Raw> {
        let own = scaled(grad, sign)?;
        let positive = with_number(Op::Gt, &own, 0.0)?;
        let own = choose(&positive, (&own).into(), number(1.0))?;
        let logs = sub(&pointwise(Op::Log, &[(&own).into()])?, result)?;
        let some = apply(Op::LogicalAnd, [(&positive).into(), (&full).into()])?;
        let logs = choose(&some, (&logs).into(), number(f64::NEG_INFINITY))?;
        let sums = scan(Op::Logcumsumexp, &logs.flip(dim)?, dim, None)?.flip(dim)?;
        pointwise(Op::Exp, &[(&add(&sums, x)?).into()])
    };
    sub(&part(1.0)?, &part(-1.0)?)
}

/// The norm of real numbers over dims, which are of size 1 in `kept`.
pub(in crate::call) fn norm(
    out: Raw,
    x: &Raw,
    kept: &[usize],
    dims: &[usize],
    p: f64,
) -> Result<Raw> {
    by_result(Op::Norm, out, [x], || {
        let (x, kept, dims) = (x.clone(), Shape::from_slice(kept), Dims::from_slice(dims));
        move |back, _| {
            let (grad, norm) = (back.grad()?.reshape(&kept)?, back.result()?.reshape(&kept)?);
            norm_back(&widened(&x)?, &widened(&grad)?, &widened(&norm)?, &dims, p)
        }
    })
}

pub(super) fn norm_back(
    x: &Raw,
    grad: &Raw,
    norm: &Raw,
    dims: &[usize],
    p: f64,
) -> Result<Option<Raw>> {
    if p == 0.0 {
        return Ok(None);
    }
    let sign = pointwise(Op::Sgn, &[x.into()])?;
    if p == 1.0 {
        return mul(grad, &sign).map(Some);
    }
    let absolute = pointwise(Op::Abs, &[x.into()])?;
    if p.is_infinite() {
        let equal = pointwise(Op::Eq, &[(&absolute).into(), norm.into()])?;
        let share = div(grad, &sum(&equal, dims, true)?)?;
        return mul(&choose(&equal, (&share).into(), number(0.0))?, &sign).map(Some);
    }
    // Where a norm is zero, so is its slope.
    let zero = with_number(Op::Eq, norm, 0.0)?;
    let some = choose(&zero, number(1.0), norm.into())?;
    let share = choose(&zero, number(0.0), grad.into())?;
    // Elements are divided by the norm before anything else, which leaves what is at most one.
    if p == 2.0 {
        return mul(&div(x, &some)?, &share).map(Some);
    }
    let nothing = with_number(Op::Eq, x, 0.0)?;
    let own = choose(&nothing, number(1.0), (&div(&absolute, &some)?).into())?;
    let power = mul(&sign, &with_number(Op::Pow, &own, p - 1.0)?)?;
    mul(&power, &share).map(Some)
}
