//! Methods that named tensors do not have, with errors that suggest replacements: `x[0]`, [`Tensor::reshape`],
//! [`Tensor::view`].

use std::ops::Index;

use nomina_core::Element;
use nomina_core::dims::Dims;

use super::Tensor;

// `==` and `>` keep std's errors: with impls of `PartialEq` and `PartialOrd`, even ones that never apply, `x.eq(&y)` on
// a `&mut Tensor` or a `Box<Tensor>` would find the methods of those traits first.

/// Refuses indexing by brackets, which would have to lend an element that has another dtype or is on a device.
#[diagnostic::on_unimplemented(
    message = "brackets do not index a tensor",
    label = "write `.at(..)` for a part, `.get(..)` for an element",
    note = "with dims (N, C): `x.at(N.i(0))`, `x.at((N.i(0), C.i(1..)))`, `x.get((N.i(0), C.i(2)))`"
)]
pub trait Brackets {
    /// Never called: no such index exists.
    fn none<R>(&self) -> R;
}

impl<D: Dims, T: Element, I: Brackets> Index<I> for Tensor<D, T> {
    type Output = T;
    fn index(&self, index: I) -> &T {
        index.none()
    }
}

/// Refuses reshaping by sizes, which do not determine where names go.
#[diagnostic::on_unimplemented(
    message = "a named tensor cannot be reshaped by sizes: they do not place the names",
    label = "write `.flatten(..)` or `.unflatten(..)`",
    note = "for example `x.flatten((H, W), P)` and `x.unflatten(P, (H.of(2), W.of(3)))`; without names: `x.into_dyn()`"
)]
pub trait Reshaped {
    /// Never called: no such shape exists.
    fn none<R>(&self) -> R;
}

impl<D: Dims, T: Element> Tensor<D, T> {
    #[doc(hidden)]
    #[must_use]
    pub fn reshape<S: Reshaped, R>(&self, sizes: S) -> R {
        sizes.none()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn view<S: Reshaped, R>(&self, sizes: S) -> R {
        sizes.none()
    }
}
