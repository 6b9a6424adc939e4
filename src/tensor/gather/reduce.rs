//! Adding and reducing at an index with the dims of the tensor.
//!
//! [`Tensor::scatter_add`], [`Tensor::scatter_reduce`].

use nomina_core::dims::{Broadcast, DimOf, Dims, Holds, SameRankAs, Sum, position};
use nomina_core::op::Op;
use nomina_core::{Element, IndexElement, Result, StoreAs};
use nomina_macros::twin;
use nomina_runtime::tensor::{ScatterReduce, ScatterReduceOptions};

use crate::Tensor;
use crate::erased::Known;
use crate::erased::gather::{self, at};

/// # Scatter with a reduction
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Adds values at the positions that [`gather`](Self::gather) would read, always in the order
    /// of the index, so that the result does not depend on the number of threads.
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match.
    #[twin]
    pub fn try_scatter_add<X: DimOf<D>, E: Dims, I: IndexElement, S: Dims>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        src: &Tensor<S, T>,
    ) -> Result<Tensor<Sum<D, E>, T>>
    where
        D: Broadcast<E> + SameRankAs<E> + Broadcast<S> + SameRankAs<S>,
    {
        let _ = dim;
        let out = <Sum<D, E>>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), index.erased(), src.erased()],
            out,
            |given| given[0].scatter_add(at(position::<X, D>()), &given[1], &given[2]),
        ))
    }

    /// Like [`scatter_add`](Self::scatter_add), but in place.
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match. Nothing is changed in that case.
    #[twin]
    pub fn try_scatter_add_<X: DimOf<D>, E: Dims, I: IndexElement, S: Dims>(
        &mut self,
        dim: X,
        index: &Tensor<E, I>,
        src: &Tensor<S, T>,
    ) -> Result<&mut Self>
    where
        D: Broadcast<E> + SameRankAs<E> + Broadcast<S> + SameRankAs<S>,
    {
        let _ = dim;
        gather::in_place(
            &mut self.erased,
            D::STATIC,
            &[index.erased(), src.erased()],
            |own, given| {
                own.scatter_add_(at(position::<X, D>()), &given[0], &given[1])
                    .map(drop)
            },
        )?;
        Ok(self)
    }

    /// Reduces values into the positions that [`gather`](Self::gather) would read.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let (x, ids) = (tensor!([1., 2.]; N), tensor!([0, 0, 1]; N));
    /// let least = x.scatter_reduce(N, &ids, &tensor!([5., 0.5, 3.]; N), ScatterReduce::Amin);
    /// assert_eq!(least.to_vec(), [0.5, 2.0]);
    /// ```
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match.
    #[twin(with = "but with options.")]
    pub fn try_scatter_reduce_with<X: DimOf<D>, E: Dims, I: IndexElement, S: Dims>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        src: &Tensor<S, T>,
        reduce: ScatterReduce,
        options: ScatterReduceOptions,
    ) -> Result<Tensor<Sum<D, E>, T>>
    where
        D: Broadcast<E> + SameRankAs<E> + Broadcast<S> + SameRankAs<S>,
    {
        let _ = dim;
        let out = <Sum<D, E>>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), index.erased(), src.erased()],
            out,
            |given| {
                given[0].scatter_reduce_with(
                    at(position::<X, D>()),
                    &given[1],
                    &given[2],
                    reduce,
                    options,
                )
            },
        ))
    }

    /// Like [`scatter_reduce`](Self::scatter_reduce), but in place.
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match. Nothing is changed in that case.
    #[twin(with = "but with options.")]
    pub fn try_scatter_reduce_with_<X: DimOf<D>, E: Dims, I: IndexElement, S: Dims>(
        &mut self,
        dim: X,
        index: &Tensor<E, I>,
        src: &Tensor<S, T>,
        reduce: ScatterReduce,
        options: ScatterReduceOptions,
    ) -> Result<&mut Self>
    where
        D: Broadcast<E> + SameRankAs<E> + Broadcast<S> + SameRankAs<S>,
    {
        let _ = dim;
        gather::in_place(
            &mut self.erased,
            D::STATIC,
            &[index.erased(), src.erased()],
            |own, given| {
                own.scatter_reduce_with_(
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
include!("reduce/forms.rs");
