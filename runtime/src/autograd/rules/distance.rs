//! Gradients of distances between rows.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use crate::call::arithmetic::{div, is_zero, mul, neg, replaced, sub, sum, turned};
use crate::call::{Arg, matmul, pointwise, to_dtype};
use crate::raw::Raw;
use crate::tape::{Backward, DistanceSaved, Upstream};

impl Backward for DistanceSaved {
    fn gradient(&self, upstream: &Upstream<'_>, operand: usize) -> Result<Option<Raw>> {
        if self.by_product {
            return euclidean(upstream, &self.a, &self.b, operand).map(Some);
        }
        differences(upstream, &self.a, &self.b, self.p, operand)
    }
}

/// Divides by distances; zero where a distance is zero.
fn divide_by_distance(g: &Raw, y: &Raw) -> Result<Raw> {
    let zero = is_zero(y)?;
    replaced(&zero, 0.0, &div(g, &replaced(&zero, 1.0, y)?)?)
}

/// With weights `g / y`: each row times the sum of its weights, minus the weighted sum of the other rows.
fn euclidean(upstream: &Upstream<'_>, a: &Raw, b: &Raw, operand: usize) -> Result<Raw> {
    let weights = divide_by_distance(&upstream.grad()?, &upstream.result()?)?;
    let (own, other, weights) = match operand {
        0 => (a, b, weights),
        _ => (b, a, turned(&weights)?),
    };
    let all = sum(&weights, &[2], true)?;
    sub(&mul(own, &all)?, &matmul(&weights, other)?)
}

/// Sums the gradient of a norm at the differences of rows.
fn differences(
    upstream: &Upstream<'_>,
    a: &Raw,
    b: &Raw,
    p: f64,
    operand: usize,
) -> Result<Option<Raw>> {
    if p == 0.0 {
        return Ok(None);
    }
    let apart = sub(&a.unsqueeze(2)?, &b.unsqueeze(1)?)?;
    let (g, y) = (
        upstream.grad()?.unsqueeze(3)?,
        upstream.result()?.unsqueeze(3)?,
    );
    let apply = |op: Op, x: &Raw| pointwise(op, &[Arg::Tensor(x)]);
    let each = if p == 2.0 {
        mul(&divide_by_distance(&apart, &y)?, &g)?
    } else if p == 1.0 {
        mul(&g, &apply(Op::Sgn, &apart)?)?
    } else if p == f64::INFINITY {
        let sizes = apply(Op::Abs, &apart)?;
        let mask = pointwise(Op::Eq, &[Arg::Tensor(&sizes), Arg::Tensor(&y)])?;
        let mask = to_dtype(&mask, g.dtype())?;
        let shares = div(&mask, &sum(&mask, &[3], true)?)?;
        mul(&mul(&g, &shares)?, &apply(Op::Sgn, &apart)?)?
    } else {
        let power = |x: &Raw, exponent: f64| {
            let zero = is_zero(x)?;
            let exponent = Arg::Scalar(Scalar::Float(exponent));
            let rest = replaced(&zero, 1.0, x)?;
            replaced(
                &zero,
                0.0,
                &pointwise(Op::Pow, &[Arg::Tensor(&rest), exponent])?,
            )
        };
        let sizes = power(&divide_by_distance(&apply(Op::Abs, &apart)?, &y)?, p - 1.0)?;
        mul(&mul(&g, &sizes)?, &apply(Op::Sgn, &apart)?)?
    };
    match operand {
        0 => sum(&each, &[2], false).map(Some),
        _ => neg(&sum(&each, &[1], false)?).map(Some),
    }
}
