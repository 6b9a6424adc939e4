//! Equal elements, and places in sorted sequences.
//!
//! [`Tensor::unique`], [`Tensor::unique_all`], [`Tensor::unique_dim`],
//! [`Tensor::unique_consecutive`], [`Tensor::unique_consecutive_all`],
//! [`Tensor::unique_consecutive_dim`], [`Tensor::searchsorted`], [`Tensor::searchsorted_by`],
//! [`Tensor::bucketize`].

use nomina_core::dims::{Axis, DimOf, Dims, Resizable, Sequences, SizeOf, Wild};
use nomina_core::op::Op;
use nomina_core::{Element, Real, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::SearchOptions;

use super::super::Tensor;
use crate::call::{Known, sort};

/// The different elements of a tensor, or its different slices along a dim: of dims `D`, with
/// where they stand in dims `I`, counted along the dims `C`.
#[derive(Clone, Debug)]
pub struct Unique<D: Dims, T: Element, I: Dims, C: Dims> {
    /// They, in order.
    pub values: Tensor<D, T>,
    /// For each element, or slice, which of the values it is.
    pub inverse: Tensor<I, i64>,
    /// How often each value stands.
    pub counts: Tensor<C, i64>,
}

/// # Unique values
impl<D: Dims, T: Element> Tensor<D, T> {
    /// The different elements in order, in one dim without a name.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, Word }
    /// let x: Tensor<(N,), i64> = Tensor::from_array([3, 1, 3]);
    /// let words: Tensor<(Word,), i64> = x.unique().refine_names((Word,));
    /// assert_eq!(words.to_vec(), [1, 3]);
    /// let all = x.unique_all();
    /// assert_eq!((all.inverse.to_vec(), all.counts.to_vec()), (vec![1, 0, 1], vec![1, 2]));
    /// ```
    ///
    /// # Errors
    /// Missing memory.
    #[twin]
    pub fn try_unique(&self) -> Result<Tensor<(Wild,), T>>
    where
        T: Real,
    {
        Ok(self.try_unique_all()?.values)
    }

    /// [`unique`](Self::unique), for each element which of them it is, and how often each stands.
    ///
    /// # Errors
    /// Missing memory.
    #[twin]
    pub fn try_unique_all(&self) -> Result<Unique<(Wild,), T, D, (Wild,)>>
    where
        T: Real,
    {
        let found = sort::different(Op::Unique, self.erased(), None)?;
        let one = <(Wild,)>::STATIC;
        Ok(Unique {
            values: Tensor::from_erased(sort::named(found.values, one)),
            inverse: Tensor::from_erased(sort::named(found.inverse, D::STATIC)),
            counts: Tensor::from_erased(sort::named(found.counts, one)),
        })
    }

    /// The different slices along a dim, in order. All names stay; what is counted along the dim
    /// has its name.
    ///
    /// # Errors
    /// Missing memory.
    #[twin]
    pub fn try_unique_dim<X: DimOf<D>>(&self, dim: X) -> Result<Unique<D, T, (X,), (X,)>>
    where
        T: Real,
        SizeOf<X>: Resizable<X>,
    {
        let found = sort::different(
            Op::Unique,
            self.erased(),
            Some(super::super::at(&dim, self)),
        )?;
        let one = <(X,)>::STATIC;
        Ok(Unique {
            values: Tensor::from_erased(sort::named(found.values, D::STATIC)),
            inverse: Tensor::from_erased(sort::named(found.inverse, one)),
            counts: Tensor::from_erased(sort::named(found.counts, one)),
        })
    }

    /// The elements that differ from the one before, in one dim without a name.
    ///
    /// # Errors
    /// Missing memory.
    #[twin]
    pub fn try_unique_consecutive(&self) -> Result<Tensor<(Wild,), T>>
    where
        T: Real,
    {
        Ok(self.try_unique_consecutive_all()?.values)
    }

    /// [`unique_consecutive`](Self::unique_consecutive), for each element which of them it is, and
    /// how often each stands.
    ///
    /// # Errors
    /// Missing memory.
    #[twin]
    pub fn try_unique_consecutive_all(&self) -> Result<Unique<(Wild,), T, D, (Wild,)>>
    where
        T: Real,
    {
        let found = sort::different(Op::UniqueConsecutive, self.erased(), None)?;
        let one = <(Wild,)>::STATIC;
        Ok(Unique {
            values: Tensor::from_erased(sort::named(found.values, one)),
            inverse: Tensor::from_erased(sort::named(found.inverse, D::STATIC)),
            counts: Tensor::from_erased(sort::named(found.counts, one)),
        })
    }

    /// The slices along a dim that differ from the one before. All names stay; what is counted
    /// along the dim has its name.
    ///
    /// # Errors
    /// Missing memory.
    #[twin]
    pub fn try_unique_consecutive_dim<X: DimOf<D>>(
        &self,
        dim: X,
    ) -> Result<Unique<D, T, (X,), (X,)>>
    where
        T: Real,
        SizeOf<X>: Resizable<X>,
    {
        let found = sort::different(
            Op::UniqueConsecutive,
            self.erased(),
            Some(super::super::at(&dim, self)),
        )?;
        let one = <(X,)>::STATIC;
        Ok(Unique {
            values: Tensor::from_erased(sort::named(found.values, D::STATIC)),
            inverse: Tensor::from_erased(sort::named(found.inverse, one)),
            counts: Tensor::from_erased(sort::named(found.counts, one)),
        })
    }
}

impl<B: Dims, T: Element> Tensor<B, T> {
    /// Where values would stand in this sorted sequence, before their equals; a sequence for each
    /// row of values has their dims, but for the last.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Edge, N }
    /// let edges: Tensor<(Edge,)> = Tensor::from_array([1.0, 3.0, 5.0]);
    /// let x: Tensor<(N,)> = Tensor::from_array([0.0, 3.0, 4.0]);
    /// assert_eq!(edges.searchsorted(&x).to_vec(), [0, 1, 2]);
    /// assert_eq!(x.bucketize(&edges).to_vec(), [0, 1, 2]);
    /// ```
    ///
    /// # Errors
    /// Sizes of rows that differ.
    #[twin(with = "but returns the position after equal elements if `options.right` is set.")]
    pub fn try_searchsorted_with<E: Dims>(
        &self,
        values: &Tensor<E, T>,
        options: SearchOptions,
    ) -> Result<Tensor<E, i64>>
    where
        T: Real,
        B: Sequences<E>,
    {
        let found = sort::searchsorted(self.erased(), values.erased(), None, options, E::STATIC);
        Tensor::try_from_erased(found)
    }

    /// [`searchsorted`](Self::searchsorted) in a sequence that is sorted in the order of `sorter`,
    /// which [`argsort`](Self::argsort) gives.
    ///
    /// # Errors
    /// Sizes that differ; a sorter that points out of a sequence.
    #[twin]
    pub fn try_searchsorted_by<E: Dims>(
        &self,
        sorter: &Tensor<B, i64>,
        values: &Tensor<E, T>,
        options: SearchOptions,
    ) -> Result<Tensor<E, i64>>
    where
        T: Real,
        B: Sequences<E>,
    {
        let (x, sorter) = (self.erased(), Some(sorter.erased()));
        Tensor::try_from_erased(sort::searchsorted(
            x,
            values.erased(),
            sorter,
            options,
            E::STATIC,
        ))
    }

    /// Which of the buckets between sorted boundaries each element belongs to: a boundary belongs
    /// to the bucket below it.
    ///
    /// # Errors
    /// A device that is not there.
    #[twin(with = "but puts a boundary in the bucket above it if `options.right` is set.")]
    pub fn try_bucketize_with<X: Axis>(
        &self,
        boundaries: &Tensor<(X,), T>,
        options: SearchOptions,
    ) -> Result<Tensor<B, i64>>
    where
        (X,): Dims,
        T: Real,
    {
        Tensor::try_from_erased(sort::bucketize(
            self.erased(),
            boundaries.erased(),
            options,
            B::STATIC,
        ))
    }
}

// Forms in place and with an out tensor.
include!("unique/forms.rs");
