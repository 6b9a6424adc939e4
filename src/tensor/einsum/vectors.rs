//! Vectors along a dim.
//!
//! [`Tensor::vecdot`].

use nomina_core::dims::{Broadcast, DimOf, Dims, Sum, Without, position};
use nomina_core::{Element, Result};
use nomina_macros::twin;

use crate::erased::compose::call_for_tensor;
use crate::erased::{Erased, Known};
use crate::tensor::Tensor;

/// # Products of vectors
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes the inner products of vectors along a dim, conjugating the first; other dims
    /// broadcast and unify.
    ///
    /// # Errors
    /// If sizes do not broadcast.
    #[twin]
    pub fn try_vecdot<E: Dims, X: DimOf<Sum<D, E>>>(
        &self,
        other: &Tensor<E, T>,
        dim: X,
    ) -> Result<Tensor<Without<Sum<D, E>, X>, T>>
    where
        D: Broadcast<E>,
    {
        Tensor::try_from_erased(self.products_along(other, dim))
    }

    fn products_along<E: Dims, X: DimOf<Sum<D, E>>>(
        &self,
        other: &Tensor<E, T>,
        dim: X,
    ) -> Result<Erased> {
        let _ = dim;
        let at = position::<X, Sum<D, E>>();
        let out = <Without<Sum<D, E>, X>>::STATIC;
        call_for_tensor(&[self.erased(), other.erased()], out, |x| {
            x[0].vecdot(&x[1], at)
        })
    }
}

// The forms in place and with an out tensor.
include!("vectors/forms.rs");
