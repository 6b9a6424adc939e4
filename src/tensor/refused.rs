//! What Rust's operators cannot be for tensors: the error says what to write.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::ops::Index;

use nomina_core::Element;
use nomina_core::dims::Dims;

use super::Tensor;

/// Nothing indexes a tensor by brackets, which would have to lend an element that another dtype or a device holds.
#[diagnostic::on_unimplemented(
    message = "a tensor is not indexed by brackets",
    label = "write `.at(..)` for a part, `.get(..)` for an element",
    note = "with dims (N, C): `x.at(N.i(0))`, `x.at((N.i(0), C.i(1..)))`, `x.get((N.i(0), C.i(2)))`"
)]
pub trait Brackets {
    /// There is no such index.
    fn none(&self) -> Infallible;
}

impl<D: Dims, T: Element, I: Brackets> Index<I> for Tensor<D, T> {
    type Output = T;
    fn index(&self, index: I) -> &T {
        match index.none() {}
    }
}

/// Nothing is compared with a tensor by an operator, whose result is one bool.
#[diagnostic::on_unimplemented(
    message = "tensors are not compared by operators, whose result is one bool",
    label = "write `.equal(&y)` for one bool; `.eq(..)`, `.lt(..)`, `.gt(..)` and their kin for one of each element",
    note = "for example `x.gt(0.5)`, or `x.allclose(&y)` up to rounding"
)]
pub trait Compared {
    /// There is nothing of this kind.
    fn none(&self) -> Infallible;
}

impl<D: Dims, T: Element, U: Compared> PartialEq<U> for Tensor<D, T> {
    fn eq(&self, other: &U) -> bool {
        match other.none() {}
    }
}

impl<D: Dims, T: Element, U: Compared> PartialOrd<U> for Tensor<D, T> {
    fn partial_cmp(&self, other: &U) -> Option<Ordering> {
        match other.none() {}
    }
}

impl<D: Dims, T: Element, U: Compared> PartialEq<U> for &Tensor<D, T> {
    fn eq(&self, other: &U) -> bool {
        match other.none() {}
    }
}

impl<D: Dims, T: Element, U: Compared> PartialOrd<U> for &Tensor<D, T> {
    fn partial_cmp(&self, other: &U) -> Option<Ordering> {
        match other.none() {}
    }
}
