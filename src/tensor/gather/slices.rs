//! Copying and reducing slices at the indices of a dim.
//!
//! [`Tensor::index_copy`], [`Tensor::index_reduce`].

use nomina_core::dims::{Broadcast, DimOf, Dims, Holds, IndexOf, SameRankAs, Selected, position};
use nomina_core::op::Op;
use nomina_core::{Element, IndexElement, Result, StoreAs};
use nomina_macros::twin;
use nomina_runtime::tensor::{ScatterReduce, ScatterReduceOptions};

use crate::Tensor;
use crate::erased::Known;
use crate::erased::gather::{self, at};

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Copies the slices of `source` into this tensor at the indices of a dim.
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match.
    #[twin]
    pub fn try_index_copy<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
    ) -> Result<Self>
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        let _ = dim;
        let out = <D>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), index.erased(), source.erased()],
            out,
            |given| given[0].index_copy(at(position::<X, D>()), &given[1], &given[2]),
        ))
    }

    /// Like [`index_copy`](Self::index_copy), but in place.
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match. Nothing is changed in that case.
    #[twin]
    pub fn try_index_copy_<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &mut self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
    ) -> Result<&mut Self>
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        let _ = dim;
        gather::in_place(
            &mut self.erased,
            D::STATIC,
            &[index.erased(), source.erased()],
            |own, given| {
                own.index_copy_(at(position::<X, D>()), &given[0], &given[1])
                    .map(drop)
            },
        )?;
        Ok(self)
    }

    /// Reduces the slices of `source` into this tensor at the indices of a dim.
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match.
    #[twin(with = "but with options.")]
    pub fn try_index_reduce_with<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        reduce: ScatterReduce,
        options: ScatterReduceOptions,
    ) -> Result<Self>
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        let _ = dim;
        let out = <D>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), index.erased(), source.erased()],
            out,
            |given| {
                given[0].index_reduce_with(
                    at(position::<X, D>()),
                    &given[1],
                    &given[2],
                    reduce,
                    options,
                )
            },
        ))
    }

    /// Like [`index_reduce`](Self::index_reduce), but in place.
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match. Nothing is changed in that case.
    #[twin(with = "but with options.")]
    pub fn try_index_reduce_with_<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &mut self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        reduce: ScatterReduce,
        options: ScatterReduceOptions,
    ) -> Result<&mut Self>
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        let _ = dim;
        gather::in_place(
            &mut self.erased,
            D::STATIC,
            &[index.erased(), source.erased()],
            |own, given| {
                own.index_reduce_with_(
                    at(position::<X, D>()),
                    &given[0],
                    &given[1],
                    reduce,
                    options,
                )
                .map(drop)
            },
        )?;
        Ok(self)
    }
}

// The forms in place and with an out tensor.
include!("slices/forms.rs");
