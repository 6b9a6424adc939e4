//! Names and order of dims.
//!
//! [`Tensor::align_to`], [`Tensor::align_as`], [`Tensor::permute`], [`Tensor::transpose`],
//! [`Tensor::t`], [`Tensor::rename`], [`Tensor::refine_names`], [`Tensor::drop_names`], [`Tensor::to_dims`],
//! [`Tensor::into_dims`].

use nomina_core::dims::{
    AlignTarget, Aligned, DimOf, Dims, DropNames, Flat, Flipped, Order, OrderSpec, Refine, Refined,
    Rename, RenameArg, Renamed, SameRankAs, SpelledAs, Transposed, places, position,
};
use nomina_core::{Element, Result};
use nomina_macros::twin;

use super::Tensor;
use crate::erased::{Erased, ErasedRef, Known, order, view};

/// # Order and names of dims
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Reorders dims. `..` covers those that are not mentioned, in their order; dims that the
    /// tensor lacks get size 1.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, H, W }
    /// let images = Tensor::<(N, H, W, C)>::zeros([2, 4, 5, 3]);
    /// assert_eq!(images.align_to((N, C, H, W)).shape(), [2, 3, 4, 5]);
    /// assert_eq!(images.align_to((W, ..)).shape(), [5, 2, 4, 3]);
    /// ```
    ///
    /// # Errors
    /// If a `Wild` dim has a name at run time that the order gives to another.
    #[twin]
    pub fn try_align_to<O: OrderSpec + Order<D>>(
        &self,
        order: O,
    ) -> Result<Tensor<Aligned<D, O>, T>> {
        let _ = order;
        Tensor::try_from_erased(self.aligned::<Aligned<D, O>>("align_to", None))
    }

    #[inline(always)]
    pub(super) fn aligned<E: Dims>(
        &self,
        op: &'static str,
        like: Option<ErasedRef<'_>>,
    ) -> Result<Erased> {
        let x = self.erased.erased(D::STATIC);
        order::align(op, x, places::<D, E>(), like, E::STATIC)
    }

    /// Orders dims as in another tensor; dims of only the other get size 1.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, H, W }
    /// let images = Tensor::<(N, C, H, W)>::ones([2, 3, 4, 5]);
    /// let scale = tensor!([1., 2., 3.]; C);
    /// assert_eq!(scale.align_as(&images).shape(), [1, 3, 1, 1]);
    /// let scaled = &images * scale.align_as(&images);
    /// assert_eq!(scaled.shape(), [2, 3, 4, 5]);
    /// ```
    ///
    /// # Errors
    /// If a `Wild` dim has a name at run time that the other tensor has too.
    #[twin]
    pub fn try_align_as<E: AlignTarget<D>, U: Element>(
        &self,
        other: &Tensor<E, U>,
    ) -> Result<Tensor<E, T>> {
        Tensor::try_from_erased(self.aligned::<E>("align_as", Some(other.erased())))
    }

    /// Reorders all dims: [`align_to`](Self::align_to) without new dims.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2., 3.]]; N, C);
    /// assert_eq!(x.permute((C, N)).shape(), [3, 1]);
    /// ```
    ///
    /// # Errors
    /// If a `Wild` dim has a name at run time that the order gives to another.
    #[twin]
    pub fn try_permute<O: OrderSpec + Order<D>>(&self, order: O) -> Result<Tensor<Aligned<D, O>, T>>
    where
        D: SameRankAs<Aligned<D, O>>,
    {
        let _ = order;
        Tensor::try_from_erased(self.aligned::<Aligned<D, O>>("permute", None))
    }

    /// Swaps two dims.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2., 3.]]; N, C);
    /// let y: Tensor<(C, N)> = x.transpose(N, C);
    /// assert_eq!(y.shape(), [3, 1]);
    /// ```
    ///
    /// # Errors
    /// If a `Wild` dim has a name at run time that types give to another.
    #[twin]
    pub fn try_transpose<X: DimOf<D>, Y: DimOf<D>>(
        &self,
        dim0: X,
        dim1: Y,
    ) -> Result<Tensor<Transposed<D, X, Y>, T>> {
        let _ = (dim0, dim1);
        let out = <Transposed<D, X, Y>>::STATIC;
        let (a, b) = (position::<X, D>(), position::<Y, D>());
        Tensor::try_from_erased(view::transpose(self.erased.erased(D::STATIC), a, b, out))
    }

    /// Swaps the dims of a matrix; leaves vectors and zero-dim tensors unchanged.
    ///
    /// # Errors
    /// Never at present.
    #[twin]
    pub fn try_t(&self) -> Result<Tensor<Flipped<D>, T>>
    where
        D: Flat,
    {
        if D::RANK < 2 {
            return Ok(Tensor::from_erased(self.erased.clone()));
        }
        Tensor::try_from_erased(view::transpose(
            self.erased.erased(D::STATIC),
            0,
            1,
            <Flipped<D>>::STATIC,
        ))
    }

    /// Renames dims: one, several, or with `..` all. Moves no elements.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, H, W, Height, Width, Rows, Columns }
    /// let x = Tensor::<(N, H, W)>::zeros([2, 4, 5]);
    /// let _: Tensor<(N, Height, W)> = x.rename(H, Height);
    /// let _: Tensor<(N, W, H)> = x.rename((H, W), (W, H));
    /// let _: Tensor<(C, Rows, Columns)> = x.rename(.., (C, Rows, Columns));
    /// ```
    ///
    /// # Errors
    /// If a new name has a constant size that is not the dim's.
    #[twin]
    pub fn try_rename<F: RenameArg + Rename<D, X>, X: RenameArg>(
        &self,
        from: F,
        to: X,
    ) -> Result<Tensor<Renamed<D, F, X>, T>> {
        let _ = (from, to);
        Tensor::try_from_erased(order::rename(
            self.erased.erased(D::STATIC),
            <Renamed<D, F, X>>::STATIC,
        ))
    }

    /// Names `Wild` dims, checked at run time: a dim without a name accepts any, one with a name
    /// only its own. Names that types know stay; `..` covers dims that stay unchanged.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x: Tensor<(Wild, C)> = tensor!([[1., 2.]]; N, C).drop_names().refine_names((Wild, C));
    /// let y: Tensor<(N, C)> = x.refine_names((N, ..));
    /// assert_eq!(y.sum(N).to_vec(), [1.0, 2.0]);
    /// ```
    ///
    /// # Errors
    /// If a dim has another name at run time, or a constant size that is not the dim's.
    #[twin]
    pub fn try_refine_names<O: OrderSpec + Refine<D>>(
        &self,
        names: O,
    ) -> Result<Tensor<Refined<D, O>, T>> {
        let _ = names;
        Tensor::try_from_erased(order::refine(
            self.erased.erased(D::STATIC),
            <Refined<D, O>>::STATIC,
        ))
    }

    /// Removes all names, in types and at run time.
    #[must_use]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn drop_names(&self) -> Tensor<DropNames<D>, T> {
        Tensor::from_erased(Erased::new(self.erased.raw.clone()))
    }

    /// Converts to the markers of another crate, spelled alike: for a function that takes its own
    /// `Tensor<(N, C)>`. Copies no elements.
    ///
    /// Operators and relations need no such call: dims of equal spelling are one dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// mod model {
    ///     use nomina::prelude::*;
    ///     dims! { pub N, pub C }
    ///     pub fn rows(x: &Tensor<(N, C)>) -> usize {
    ///         x.size(N)
    ///     }
    /// }
    /// dims! { N, C }
    /// let x = Tensor::<(N, C)>::zeros([2, 3]);
    /// assert_eq!(model::rows(&x.to_dims()), 2);
    /// ```
    ///
    /// # Errors
    /// If a marker has a constant size that is not the dim's.
    #[twin]
    pub fn try_to_dims<E: Dims>(&self) -> Result<Tensor<E, T>>
    where
        D: SpelledAs<E>,
    {
        self.clone().try_into_dims()
    }

    /// Like [`to_dims`](Self::to_dims), but by value: the tensor is moved and nothing else happens.
    ///
    /// # Errors
    /// If a marker has a constant size that is not the dim's.
    #[twin]
    pub fn try_into_dims<E: Dims>(self) -> Result<Tensor<E, T>>
    where
        D: SpelledAs<E>,
    {
        Tensor::try_from_erased(order::same_names("into_dims", self.erased, E::STATIC))
    }
}
