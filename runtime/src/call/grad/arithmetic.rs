//! Recorded arithmetic, in which rules are written.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use crate::call::product::conjugated;
use crate::call::{Arg, ReduceOptions, pointwise, reduce, scan};
use crate::raw::Raw;

pub(super) fn apply<const N: usize>(op: Op, args: [Arg<'_>; N]) -> Result<Raw> {
    pointwise(op, &args)
}

pub(super) fn number<'a>(number: f64) -> Arg<'a> {
    Arg::Scalar(Scalar::Float(number))
}

pub(super) fn add(a: &Raw, b: &Raw) -> Result<Raw> {
    pointwise(Op::Add, &[Arg::Tensor(a), Arg::Tensor(b)])
}

pub(super) fn sub(a: &Raw, b: &Raw) -> Result<Raw> {
    pointwise(Op::Sub, &[Arg::Tensor(a), Arg::Tensor(b)])
}

pub(super) fn mul(a: &Raw, b: &Raw) -> Result<Raw> {
    pointwise(Op::Mul, &[Arg::Tensor(a), Arg::Tensor(b)])
}

pub(super) fn div(a: &Raw, b: &Raw) -> Result<Raw> {
    pointwise(Op::Div, &[Arg::Tensor(a), Arg::Tensor(b)])
}

pub(super) fn neg(x: &Raw) -> Result<Raw> {
    pointwise(Op::Neg, &[Arg::Tensor(x)])
}

/// Times a number.
pub(super) fn scaled(x: &Raw, factor: f64) -> Result<Raw> {
    pointwise(
        Op::Mul,
        &[Arg::Tensor(x), Arg::Scalar(Scalar::Float(factor))],
    )
}

/// A number where `mask` holds, else the elements.
pub(super) fn replaced(mask: &Raw, number: f64, x: &Raw) -> Result<Raw> {
    let number = Arg::Scalar(Scalar::Float(number));
    pointwise(Op::Where, &[Arg::Tensor(mask), number, Arg::Tensor(x)])
}

/// Where elements are zero.
pub(super) fn is_zero(x: &Raw) -> Result<Raw> {
    pointwise(Op::Eq, &[Arg::Tensor(x), Arg::Scalar(Scalar::Int(0))])
}

pub(super) fn sum(x: &Raw, dims: &[usize], keepdim: bool) -> Result<Raw> {
    reduce(Op::Sum, x, dims, keepdim, ReduceOptions::default())
}

/// The last two dims in turn.
pub(super) fn turned(x: &Raw) -> Result<Raw> {
    x.transpose(x.rank() - 2, x.rank() - 1)
}

/// The conjugate transpose of the last two dims.
pub(super) fn adjoint(x: &Raw) -> Result<Raw> {
    turned(&conjugated(x)?)
}

/// The conjugate; of real numbers themselves.
pub(super) fn conj(x: &Raw) -> Result<Raw> {
    conjugated(x)
}

pub(super) fn choose(condition: &Raw, a: Arg<'_>, b: Arg<'_>) -> Result<Raw> {
    apply(Op::Where, [condition.into(), a, b])
}

/// An operator of elements and a number.
pub(super) fn with_number(op: Op, x: &Raw, other: f64) -> Result<Raw> {
    apply(op, [x.into(), number(other)])
}

/// The sum of all from each place on to the end of a dim.
pub(super) fn sum_from(x: &Raw, dim: usize) -> Result<Raw> {
    scan(Op::Cumsum, &x.flip(dim)?, dim, None)?.flip(dim)
}
