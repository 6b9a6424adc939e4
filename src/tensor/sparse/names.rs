//! Names and order of dims.
//!
//! [`Sparse::transpose`], [`Sparse::t`], [`Sparse::permute`], [`Sparse::align_to`],
//! [`Sparse::rename`], [`Sparse::refine_names`], [`Sparse::drop_names`].

use nomina_core::dims::{
    Aligned, DimOf, Dims, DropNames, Flat, Flipped, Order, OrderSpec, Refine, Refined, Rename,
    RenameArg, Renamed, SameRankAs, Transposed, places, position,
};
use nomina_core::{Element, Result};
use nomina_macros::twin;

use super::Sparse;
use crate::erased::{Known, sparse};

impl<D: Dims, T: Element> Sparse<D, T> {
    twins! {
        /// Swaps two dims.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_transpose [X: DimOf<D>, Y: DimOf<D>] (self, dim0: X, dim1: Y) -> Sparse<Transposed<D, X, Y>, T> [] {
            let _ = (dim0, dim1);
            let (a, b) = (position::<X, D>() as i64, position::<Y, D>() as i64);
            self.inner.transpose(a, b).map(Sparse::from_erased)
        }

        /// Swaps the dims of a matrix; leaves vectors and zero-dim tensors unchanged.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_t [] (self) -> Sparse<Flipped<D>, T> [D: Flat] {
            self.inner.t().map(Sparse::from_erased)
        }

        /// Reorders all dims.
        ///
        /// # Errors
        /// If names known only at run time do not match, or memory runs out.
        fn try_permute [O: OrderSpec + Order<D>] (self, order: O) -> Sparse<Aligned<D, O>, T>
            [D: SameRankAs<Aligned<D, O>>]
        {
            let _ = order;
            sparse::permute(&self.inner, places::<D, Aligned<D, O>>()).map(Sparse::from_erased)
        }

        /// Reorders dims; `..` covers those that are not mentioned. A sparse tensor gets no new
        /// dims.
        ///
        /// # Errors
        /// If names known only at run time do not match, or memory runs out.
        fn try_align_to [O: OrderSpec + Order<D>] (self, order: O) -> Sparse<Aligned<D, O>, T>
            [D: SameRankAs<Aligned<D, O>>]
        {
            self.try_permute(order)
        }

        /// Renames dims: one, several, or with `..` all.
        ///
        /// # Errors
        /// If names known only at run time do not match, or memory runs out.
        fn try_rename [F: RenameArg + Rename<D, X>, X: RenameArg] (self, from: F, to: X) -> Sparse<Renamed<D, F, X>, T> [] {
            let _ = (from, to);
            sparse::rename(&self.inner, <Renamed<D, F, X>>::STATIC).map(Sparse::from_erased)
        }

        /// Names `Wild` dims, checked at run time.
        ///
        /// # Errors
        /// If names known only at run time do not match, or memory runs out.
        fn try_refine_names [O: OrderSpec + Refine<D>] (self, names: O) -> Sparse<Refined<D, O>, T> [] {
            let _ = names;
            sparse::refine(&self.inner, <Refined<D, O>>::STATIC).map(Sparse::from_erased)
        }
    }

    /// Removes all names, in types and at run time.
    #[must_use]
    pub fn drop_names(&self) -> Sparse<DropNames<D>, T> {
        Sparse::from_erased(self.inner.drop_names())
    }
}
