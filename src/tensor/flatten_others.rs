//! Merging of all dims that are not mentioned, and splitting.
//!
//! [`Tensor::flatten_others`], [`Tensor::unflatten_as`].

use nomina_core::dims::{
    Dims, FlattenOthers, Inserted, OneDim, UnflattenAs, places, position, positions,
};
use nomina_core::{Element, Result};
use nomina_macros::twin;

use super::Tensor;
use crate::erased::{Known, view};

/// # Flatten and unflatten all other dims
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Merges all dims except these into one first dim. A view if strides allow, otherwise a copy.
    ///
    /// A function on a few dims then needs no bounds for the others: between this and
    /// [`unflatten_as`](Self::unflatten_as) all dims are known.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, Seq, Embed, Heads, Batch }
    /// fn first_step<D: Dims + Has<Seq> + Has<Embed>>(x: &Tensor<D>) -> Tensor<D> {
    ///     let rows: Tensor<(Batch, Seq, Embed)> = x.flatten_others((Seq, Embed), Batch);
    ///     rows.narrow(Seq, 0..1).unflatten_as(Batch, x)
    /// }
    /// let x = Tensor::<(Seq, N, Heads, Embed)>::ones([5, 2, 3, 4]);
    /// assert_eq!(first_step(&x).shape(), [1, 2, 3, 4]);
    /// ```
    ///
    /// # Errors
    /// If the new dim has a constant size that is not the product of the others, or memory runs
    /// out.
    #[twin]
    pub fn try_flatten_others<A: FlattenOthers<D, X>, X: OneDim>(
        &self,
        dims: A,
        to: X,
    ) -> Result<Tensor<Inserted<A::List, X>, T>> {
        let _ = (dims, to);
        let (stay, out) = (positions::<A, D>(), <Inserted<A::List, X>>::STATIC);
        Tensor::try_from_erased(view::flatten_others(self.erased(), stay, out))
    }

    /// Splits a dim into the dims of another tensor that this one lacks, with their sizes there;
    /// the result has the other's dims in its order. The inverse of
    /// [`flatten_others`](Self::flatten_others).
    ///
    /// # Errors
    /// If the sizes do not multiply up.
    #[twin]
    pub fn try_unflatten_as<X: OneDim + UnflattenAs<D, E>, E: Dims, U: Element>(
        &self,
        dim: X,
        other: &Tensor<E, U>,
    ) -> Result<Tensor<E, T>> {
        let _ = dim;
        let (at, places) = (position::<X, D>(), places::<D, E>());
        Tensor::try_from_erased(view::unflatten_as(
            self.erased(),
            at,
            places,
            other.erased(),
        ))
    }
}
