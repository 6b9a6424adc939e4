//! Distances between rows.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::arithmetic::{div, is_zero, mul, neg, replaced, sub, sum, turned};
use super::{Back, by_result};
use crate::call::{Arg, matmul, pointwise, to_dtype};
use crate::raw::Raw;

/// Records the distances of the rows of two batches of matrices; where products computed them, products compute what goes back.
pub(in crate::call) fn distances(
    out: Raw,
    [a, b]: [&Raw; 2],
    p: f64,
    by_product: bool,
) -> Result<Raw> {
    by_result(Op::Cdist, out, [a, b], || {
        let (a, b) = (a.clone(), b.clone());
        move |back, operand| match by_product {
            true => euclidean(back, &a, &b, operand).map(Some),
            false => by_differences(back, &a, &b, p, operand),
        }
    })
}

/// Something over distances, zero where they are.
fn over(g: &Raw, y: &Raw) -> Result<Raw> {
    let zero = is_zero(y)?;
    replaced(&zero, 0.0, &div(g, &replaced(&zero, 1.0, y)?)?)
}

/// With w of `g / y`, each row times the sum of its weights, less the sum of the others by them.
fn euclidean(back: &Back<'_>, a: &Raw, b: &Raw, operand: usize) -> Result<Raw> {
    let weights = over(&back.grad()?, &back.result()?)?;
    let (own, other, weights) = match operand {
        0 => (a, b, weights),
        _ => (b, a, turned(&weights)?),
    };
    let all = sum(&weights, &[2], true)?;
    sub(&mul(own, &all)?, &matmul(&weights, other)?)
}

/// The sum of a norm's gradient at the differences.
fn by_differences(
    back: &Back<'_>,
    a: &Raw,
    b: &Raw,
    p: f64,
    operand: usize,
) -> Result<Option<Raw>> {
    if p == 0.0 {
        return Ok(None);
    }
    let apart = sub(&a.unsqueeze(2)?, &b.unsqueeze(1)?)?;
    let (g, y) = (back.grad()?.unsqueeze(3)?, back.result()?.unsqueeze(3)?);
    let one = |op: Op, x: &Raw| pointwise(op, &[Arg::Tensor(x)]);
    let each = if p == 2.0 {
        mul(&over(&apart, &y)?, &g)?
    } else if p == 1.0 {
        mul(&g, &one(Op::Sgn, &apart)?)?
    } else if p == f64::INFINITY {
        let sizes = one(Op::Abs, &apart)?;
        let mask = pointwise(Op::Eq, &[Arg::Tensor(&sizes), Arg::Tensor(&y)])?;
        let mask = to_dtype(&mask, g.dtype())?;
        let shares = div(&mask, &sum(&mask, &[3], true)?)?;
        mul(&mul(&g, &shares)?, &one(Op::Sgn, &apart)?)?
    } else {
        let power = |x: &Raw, by: f64| {
            let zero = is_zero(x)?;
            let by = Arg::Scalar(Scalar::Float(by));
            let rest = replaced(&zero, 1.0, x)?;
            replaced(&zero, 0.0, &pointwise(Op::Pow, &[Arg::Tensor(&rest), by])?)
        };
        let sizes = power(&over(&one(Op::Abs, &apart)?, &y)?, p - 1.0)?;
        mul(&mul(&g, &sizes)?, &one(Op::Sgn, &apart)?)?
    };
    match operand {
        0 => sum(&each, &[2], false).map(Some),
        _ => neg(&sum(&each, &[1], false)?).map(Some),
    }
}
