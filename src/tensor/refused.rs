//! What Rust's operators cannot be for tensors: the error says what to write.

use std::cmp::Ordering;
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
    fn none<R>(&self) -> R;
}

impl<D: Dims, T: Element, I: Brackets> Index<I> for Tensor<D, T> {
    type Output = T;
    fn index(&self, index: I) -> &T {
        index.none()
    }
}

/// Nothing is compared with a tensor by an operator, whose result is one bool.
#[diagnostic::on_unimplemented(
    message = "tensors are not compared by operators, whose result is one bool",
    label = "write `.equal(&y)` for one bool; `.eq(..)`, `.lt(..)`, `.gt(..)` and their kin for one of each element",
    note = "for example `x.gt(0.5)`, or `x.allclose(&y)` up to rounding"
)]
pub trait Compared {
    /// Nothing is compared, so nobody asks for it.
    const ORDER: Ordering = Ordering::Equal;
}

/// Two types that nobody has: of no impl or one, rustc would not wait for the type of the right side.
#[derive(Debug)]
pub enum Nobody {}

#[diagnostic::do_not_recommend]
impl Compared for (Nobody,) {}
#[diagnostic::do_not_recommend]
impl Compared for ([Nobody; 1],) {}

// In a tuple: rustc says std's text where what lacks a trait is the tensor, and knows that no crate can compare a
// borrowed thing, for which std speaks.
macro_rules! refused {
    ($($tensor:ty)*) => {$(
        impl<D: Dims, T: Element, U> PartialEq<U> for $tensor
        where
            (U,): Compared,
        {
            fn eq(&self, _: &U) -> bool {
                <(U,)>::ORDER.is_eq()
            }
        }

        impl<D: Dims, T: Element, U> PartialOrd<U> for $tensor
        where
            (U,): Compared,
        {
            fn partial_cmp(&self, _: &U) -> Option<Ordering> {
                Some(<(U,)>::ORDER)
            }
        }
    )*};
}
refused!(Tensor<D, T> &Tensor<D, T>);
