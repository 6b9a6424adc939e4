//! Merging of several dims into one, and splitting.
//!
//! [`Tensor::flatten`], [`Tensor::unflatten`].

use nomina_core::dims::{
    Dims, Flatten, FlattenArg, Flattened, OneDim, Sizes, Unflatten, Unflattened, position,
};
use nomina_core::{Element, Result};
use nomina_macros::twin;

use super::Tensor;
use crate::erased::{Erased, Known, view};

/// # Flatten and unflatten
/// # Dims in another order or number
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Merges adjacent dims into one. A view if strides allow, otherwise a copy.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, H, W, Features }
    /// let x = Tensor::<(N, C, H, W)>::zeros([2, 3, 4, 5]);
    /// let flat: Tensor<(N, Features)> = x.flatten((C, H, W), Features);
    /// assert_eq!(flat.shape(), [2, 60]);
    /// ```
    ///
    /// If all of them have constant sizes, rustc multiplies: `dims! { H = 4, W = 3, Pixels = 16 }`
    /// and `x.flatten((H, W), Pixels)` do not compile.
    ///
    /// # Errors
    /// If the new dim has a constant size that is not the product, or memory runs out.
    #[twin]
    pub fn try_flatten<F: FlattenArg + Flatten<D, X>, X: OneDim>(
        &self,
        dims: F,
        to: X,
    ) -> Result<Tensor<Flattened<D, F, X>, T>> {
        let _ = (dims, to);
        Tensor::try_from_erased(self.flattened::<F, X>())
    }

    #[inline(always)]
    fn flattened<F: FlattenArg + Flatten<D, X>, X: OneDim>(&self) -> Result<Erased> {
        view::flatten(
            self.erased.erased(D::STATIC),
            F::NAMES,
            <Flattened<D, F, X>>::STATIC,
        )
    }

    /// Splits a dim into several, whose sizes multiply to its own. Always a view.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, H, Features }
    /// let x = Tensor::<(N, Features)>::zeros([2, 12]);
    /// let y: Tensor<(N, C, H)> = x.unflatten(Features, (C.of(3), H.of(4)));
    /// assert_eq!(y.shape(), [2, 3, 4]);
    /// ```
    ///
    /// Like for [`flatten`](Self::flatten), rustc multiplies constant sizes.
    ///
    /// # Errors
    /// If the sizes do not multiply up.
    #[twin]
    pub fn try_unflatten<X: OneDim + Unflatten<D, S>, S: Sizes>(
        &self,
        dim: X,
        sizes: S,
    ) -> Result<Tensor<Unflattened<D, X, S>, T>> {
        let _ = dim;
        Tensor::try_from_erased(self.unflattened::<X, S>(&sizes))
    }

    #[inline(always)]
    fn unflattened<X: OneDim, S: Sizes>(&self, sizes: &S) -> Result<Erased> {
        let out = <Unflattened<D, X, S>>::STATIC;
        view::unflatten(
            self.erased.erased(D::STATIC),
            position::<X, D>(),
            &sizes.sizes(),
            out,
        )
    }
}
