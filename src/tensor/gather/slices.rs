//! Copying and reducing slices at the indices of a dim.
//!
//! [`Tensor::index_copy`], [`Tensor::index_reduce`].

use nomina_core::dims::{Broadcast, DimOf, Dims, Holds, IndexOf, SameRankAs, Selected, position};
use nomina_core::op::Op;
use nomina_core::{Element, IndexElement, Result, StoreAs};
use nomina_runtime::tensor::{ScatterReduce, ScatterReduceOptions};

use crate::Tensor;
use crate::call::gather::{self, at};
use crate::call::{Known, ok};

impl<D: Dims, T: Element> Tensor<D, T> {
    /// This tensor with the slices of `source` at the indices of a dim.
    ///
    /// # Panics
    /// When an index is out of range or sizes do not fit.
    #[track_caller]
    #[must_use]
    pub fn index_copy<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
    ) -> Self
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        ok(self.try_index_copy(dim, index, source))
    }

    /// [`index_copy`](Self::index_copy) that returns the error.
    ///
    /// # Errors
    /// When an index is out of range or sizes do not fit.
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
        Tensor::give(gather::one(
            &[self.look(), index.look(), source.look()],
            out,
            |given| given[0].index_copy(at(position::<X, D>()), &given[1], &given[2]),
        ))
    }

    /// [`index_copy`](Self::index_copy) in place.
    ///
    /// # Panics
    /// When an index is out of range or sizes do not fit.
    #[track_caller]
    pub fn index_copy_<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &mut self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
    ) -> &mut Self
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        ok(self.try_index_copy_(dim, index, source));
        self
    }

    /// [`index_copy_`](Self::index_copy_) that returns the error; then nothing has changed.
    ///
    /// # Errors
    /// When an index is out of range or sizes do not fit.
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
            &mut self.bare,
            D::STATIC,
            &[index.look(), source.look()],
            |own, given| {
                own.index_copy_(at(position::<X, D>()), &given[0], &given[1])
                    .map(drop)
            },
        )?;
        Ok(self)
    }

    /// [`index_copy`](Self::index_copy) into `out`.
    ///
    /// # Panics
    /// When an index is out of range or sizes do not fit.
    #[track_caller]
    pub fn index_copy_out<
        X: DimOf<D>,
        E: Dims + IndexOf<D, X>,
        I: IndexElement,
        S: Dims,
        O: Dims + Holds<D>,
        V: Element,
    >(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        out: &mut Tensor<O, V>,
    ) where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
        T: StoreAs<V>,
    {
        ok(self.try_index_copy_out(dim, index, source, out));
    }

    /// [`index_copy_out`](Self::index_copy_out) that returns the error.
    ///
    /// # Errors
    /// When an index is out of range or sizes do not fit.
    pub fn try_index_copy_out<
        X: DimOf<D>,
        E: Dims + IndexOf<D, X>,
        I: IndexElement,
        S: Dims,
        O: Dims + Holds<D>,
        V: Element,
    >(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        out: &mut Tensor<O, V>,
    ) -> Result<()>
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
        T: StoreAs<V>,
    {
        let result = self.try_index_copy(dim, index, source)?;
        let of = O::STATIC;
        crate::call::reduce::store(Op::IndexCopy, result.bare, <D>::STATIC, &mut out.bare, of)
    }

    /// This tensor with the slices of `source` reduced into it at the indices of a dim.
    ///
    /// # Panics
    /// When an index is out of range or sizes do not fit.
    #[track_caller]
    #[must_use]
    pub fn index_reduce<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        reduce: ScatterReduce,
    ) -> Self
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        ok(self.try_index_reduce(dim, index, source, reduce))
    }

    /// [`index_reduce`](Self::index_reduce) that returns the error.
    ///
    /// # Errors
    /// When an index is out of range or sizes do not fit.
    pub fn try_index_reduce<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        reduce: ScatterReduce,
    ) -> Result<Self>
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        let _ = dim;
        let out = <D>::STATIC;
        Tensor::give(gather::one(
            &[self.look(), index.look(), source.look()],
            out,
            |given| given[0].index_reduce(at(position::<X, D>()), &given[1], &given[2], reduce),
        ))
    }

    /// [`index_reduce`](Self::index_reduce) in place.
    ///
    /// # Panics
    /// When an index is out of range or sizes do not fit.
    #[track_caller]
    pub fn index_reduce_<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &mut self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        reduce: ScatterReduce,
    ) -> &mut Self
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        ok(self.try_index_reduce_(dim, index, source, reduce));
        self
    }

    /// [`index_reduce_`](Self::index_reduce_) that returns the error; then nothing has changed.
    ///
    /// # Errors
    /// When an index is out of range or sizes do not fit.
    pub fn try_index_reduce_<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &mut self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        reduce: ScatterReduce,
    ) -> Result<&mut Self>
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        let _ = dim;
        gather::in_place(
            &mut self.bare,
            D::STATIC,
            &[index.look(), source.look()],
            |own, given| {
                own.index_reduce_(at(position::<X, D>()), &given[0], &given[1], reduce)
                    .map(drop)
            },
        )?;
        Ok(self)
    }

    /// [`index_reduce`](Self::index_reduce) into `out`.
    ///
    /// # Panics
    /// When an index is out of range or sizes do not fit.
    #[track_caller]
    pub fn index_reduce_out<
        X: DimOf<D>,
        E: Dims + IndexOf<D, X>,
        I: IndexElement,
        S: Dims,
        O: Dims + Holds<D>,
        V: Element,
    >(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        reduce: ScatterReduce,
        out: &mut Tensor<O, V>,
    ) where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
        T: StoreAs<V>,
    {
        ok(self.try_index_reduce_out(dim, index, source, reduce, out));
    }

    /// [`index_reduce_out`](Self::index_reduce_out) that returns the error.
    ///
    /// # Errors
    /// When an index is out of range or sizes do not fit.
    pub fn try_index_reduce_out<
        X: DimOf<D>,
        E: Dims + IndexOf<D, X>,
        I: IndexElement,
        S: Dims,
        O: Dims + Holds<D>,
        V: Element,
    >(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        reduce: ScatterReduce,
        out: &mut Tensor<O, V>,
    ) -> Result<()>
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
        T: StoreAs<V>,
    {
        let result = self.try_index_reduce(dim, index, source, reduce)?;
        let of = O::STATIC;
        crate::call::reduce::store(Op::IndexReduce, result.bare, <D>::STATIC, &mut out.bare, of)
    }

    /// [`index_reduce`](Self::index_reduce) with options.
    ///
    /// # Panics
    /// When an index is out of range or sizes do not fit.
    #[track_caller]
    #[must_use]
    pub fn index_reduce_with<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        reduce: ScatterReduce,
        options: ScatterReduceOptions,
    ) -> Self
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        ok(self.try_index_reduce_with(dim, index, source, reduce, options))
    }

    /// [`index_reduce_with`](Self::index_reduce_with) that returns the error.
    ///
    /// # Errors
    /// When an index is out of range or sizes do not fit.
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
        Tensor::give(gather::one(
            &[self.look(), index.look(), source.look()],
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

    /// [`index_reduce_with`](Self::index_reduce_with) in place.
    ///
    /// # Panics
    /// When an index is out of range or sizes do not fit.
    #[track_caller]
    pub fn index_reduce_with_<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &mut self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        reduce: ScatterReduce,
        options: ScatterReduceOptions,
    ) -> &mut Self
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        ok(self.try_index_reduce_with_(dim, index, source, reduce, options));
        self
    }

    /// [`index_reduce_with_`](Self::index_reduce_with_) that returns the error; then nothing has changed.
    ///
    /// # Errors
    /// When an index is out of range or sizes do not fit.
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
            &mut self.bare,
            D::STATIC,
            &[index.look(), source.look()],
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
