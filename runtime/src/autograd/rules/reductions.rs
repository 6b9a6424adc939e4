//! Gradients of products, norms, extremes and scans.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::evaluation::widened;
use crate::call::arithmetic::{
    add, apply, choose, conj, div, is_zero, mul, number, scaled, sub, sum, sum_from, with_number,
};
use crate::call::{cat, full, pointwise, scan, to_dtype};
use crate::raw::Raw;
use crate::shape::Shape;
use crate::tape::{
    Backward, CumprodSaved, CumsumSaved, Dims, ExtremeSaved, LogcumsumexpSaved, NormSaved,
    ProdSaved, Upstream, narrow,
};

impl Backward for ProdSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let grad = widened(&upstream.grad()?.reshape(&self.kept)?)?;
        let others = product_of_others(&widened(&self.x)?, &self.dims)?;
        mul(&grad, &conj(&others)?).map(Some)
    }
}

impl Backward for ExtremeSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let (x, chosen) = (&self.x, upstream.result()?.detach());
        // NaN counts as equal to NaN.
        let both = [x.into(), (&chosen).into(), number(0.0), number(0.0)];
        let equal = pointwise(Op::IscloseNan, &both)?;
        let dims: Dims = (0..x.rank()).collect();
        let share = div(&upstream.grad()?, &sum(&equal, &dims, false)?)?;
        choose(&equal, (&share).into(), number(0.0)).map(Some)
    }
}

/// Computes for each element the product of all others over the dims: of those before it and those after it, so that nothing is
/// divided by zero.
fn product_of_others(x: &Raw, dims: &[usize]) -> Result<Raw> {
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

/// Computes the product of all elements before each position along the last dim.
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

impl Backward for CumsumSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        sum_from(&upstream.grad()?, self.dim).map(Some)
    }
}

impl Backward for CumprodSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let (x, grad) = (widened(&self.x)?, widened(&upstream.grad()?)?);
        if upstream.records() {
            return running_product_recorded(&x, &grad, self.dim).map(Some);
        }
        let result = wide_result(upstream, Op::Cumprod, &x, self.dim)?;
        running_product(&x, &grad, &result, self.dim).map(Some)
    }
}

impl Backward for LogcumsumexpSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let (x, grad) = (widened(&self.x)?, widened(&upstream.grad()?)?);
        let result = wide_result(upstream, Op::Logcumsumexp, &x, self.dim)?;
        if !upstream.records() {
            return running_exponents(&x, &grad, &result, self.dim).map(Some);
        }
        // A logarithm has no slope at a gradient of zero, but this function is linear in the gradient.
        let more = to_dtype(&is_zero(&grad)?, grad.dtype())?;
        let all = running_exponents(&x, &add(&grad, &more)?, &result, self.dim)?;
        sub(&all, &running_exponents(&x, &more, &result, self.dim)?).map(Some)
    }
}

/// Returns the result of a scan of `x`. A 16-bit result is computed again, since its rounding would affect the gradient.
fn wide_result(upstream: &Upstream<'_>, op: Op, x: &Raw, dim: usize) -> Result<Raw> {
    let result = upstream.result()?;
    match narrow(result.dtype()) {
        Some(_) => scan(op, x, dim, None),
        None => Ok(result),
    }
}

/// Computes the gradient of a running product: before the first zero of a line, sums the products from each position on without its
/// own factor; at the zero, those that it alone makes zero; after it, zero.
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

/// Like [`running_product`], but without selecting elements, which would have no slope near zeros: from the end on, adds the gradient
/// and the next factor times the sum so far.
fn running_product_recorded(x: &Raw, grad: &Raw, dim: usize) -> Result<Raw> {
    let Some(last) = x.shape().get(dim).and_then(|size| size.checked_sub(1)) else {
        return Ok(grad.clone());
    };
    let x = conj(x)?;
    let mut grads = vec![grad.narrow(dim, last, 1)?];
    for at in (0..last).rev() {
        let more = mul(&x.narrow(dim, at + 1, 1)?, &grads[grads.len() - 1])?;
        grads.push(add(&grad.narrow(dim, at, 1)?, &more)?);
    }
    let grads: Vec<&Raw> = grads.iter().rev().collect();
    mul(&cat(&grads, dim)?, &exclusive(&x, dim)?)
}

/// Computes the gradient of `logcumsumexp` in logarithms, so that nothing overflows, and separately for positive and negative gradients.
fn running_exponents(x: &Raw, grad: &Raw, result: &Raw, dim: usize) -> Result<Raw> {
    // A sum of zeros has no slope.
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

impl Backward for NormSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let grad = upstream.grad()?.reshape(&self.kept)?;
        let norm = upstream.result()?.reshape(&self.kept)?;
        let (x, grad, norm) = (widened(&self.x)?, widened(&grad)?, widened(&norm)?);
        norm_gradient(&x, &grad, &norm, &self.dims, self.p)
    }
}

/// Computes the gradient of the norm over `dims`; `None` is zero.
fn norm_gradient(x: &Raw, grad: &Raw, norm: &Raw, dims: &[usize], p: f64) -> Result<Option<Raw>> {
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
    // The slope of a zero norm is zero.
    let zero = with_number(Op::Eq, norm, 0.0)?;
    let some = choose(&zero, number(1.0), norm.into())?;
    let share = choose(&zero, number(0.0), grad.into())?;
    // Elements are divided by the norm first, so that they are at most one.
    if p == 2.0 {
        return mul(&div(x, &some)?, &share).map(Some);
    }
    let nothing = with_number(Op::Eq, x, 0.0)?;
    let own = choose(&nothing, number(1.0), (&div(&absolute, &some)?).into())?;
    let power = mul(&sign, &with_number(Op::Pow, &own, p - 1.0)?)?;
    mul(&power, &share).map(Some)
}
