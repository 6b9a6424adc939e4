//! Short names for recorded operators, in which rules are written.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::arg::Arg;
use super::pointwise::pointwise;
use super::product::conjugated;
use super::reduce::{ReduceOptions, reduce};
use super::scan::scan;
use crate::raw::Raw;

pub(crate) fn apply<const N: usize>(op: Op, args: [Arg<'_>; N]) -> Result<Raw> {
    pointwise(op, &args)
}

pub(crate) fn number<'a>(number: f64) -> Arg<'a> {
    Arg::Scalar(Scalar::Float(number))
}

pub(crate) fn add(a: &Raw, b: &Raw) -> Result<Raw> {
    pointwise(Op::Add, &[Arg::Tensor(a), Arg::Tensor(b)])
}

pub(crate) fn sub(a: &Raw, b: &Raw) -> Result<Raw> {
    pointwise(Op::Sub, &[Arg::Tensor(a), Arg::Tensor(b)])
}

pub(crate) fn mul(a: &Raw, b: &Raw) -> Result<Raw> {
    pointwise(Op::Mul, &[Arg::Tensor(a), Arg::Tensor(b)])
}

pub(crate) fn div(a: &Raw, b: &Raw) -> Result<Raw> {
    pointwise(Op::Div, &[Arg::Tensor(a), Arg::Tensor(b)])
}

pub(crate) fn neg(x: &Raw) -> Result<Raw> {
    pointwise(Op::Neg, &[Arg::Tensor(x)])
}

/// Multiplies by a number.
pub(crate) fn scaled(x: &Raw, factor: f64) -> Result<Raw> {
    pointwise(
        Op::Mul,
        &[Arg::Tensor(x), Arg::Scalar(Scalar::Float(factor))],
    )
}

/// Replaces the elements by a number where `mask` holds.
pub(crate) fn replaced(mask: &Raw, number: f64, x: &Raw) -> Result<Raw> {
    let number = Arg::Scalar(Scalar::Float(number));
    pointwise(Op::Where, &[Arg::Tensor(mask), number, Arg::Tensor(x)])
}

/// Returns a mask of the elements that are zero.
pub(crate) fn is_zero(x: &Raw) -> Result<Raw> {
    pointwise(Op::Eq, &[Arg::Tensor(x), Arg::Scalar(Scalar::Int(0))])
}

pub(crate) fn sum(x: &Raw, dims: &[usize], keepdim: bool) -> Result<Raw> {
    reduce(Op::Sum, x, dims, keepdim, ReduceOptions::default())
}

/// Transposes the last two dims.
pub(crate) fn turned(x: &Raw) -> Result<Raw> {
    x.transpose(x.rank() - 2, x.rank() - 1)
}

/// Computes the conjugate transpose of the last two dims.
pub(crate) fn adjoint(x: &Raw) -> Result<Raw> {
    turned(&conjugated(x)?)
}

/// Computes the conjugate; the identity for real numbers.
pub(crate) fn conj(x: &Raw) -> Result<Raw> {
    conjugated(x)
}

pub(crate) fn choose(condition: &Raw, a: Arg<'_>, b: Arg<'_>) -> Result<Raw> {
    apply(Op::Where, [condition.into(), a, b])
}

/// Applies an operator to elements and a number.
pub(crate) fn with_number(op: Op, x: &Raw, other: f64) -> Result<Raw> {
    apply(op, [x.into(), number(other)])
}

/// Sums the elements from each position to the end of a dim.
pub(crate) fn sum_from(x: &Raw, dim: usize) -> Result<Raw> {
    scan(Op::Cumsum, &x.flip(dim)?, dim, None)?.flip(dim)
}
