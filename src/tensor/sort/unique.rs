//! Equal elements, and positions in sorted sequences.
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
use crate::erased::{Known, sort};

/// The distinct elements of a tensor, or its distinct slices along a dim: with dims `D`, positions
/// of dims `I`, and counts of dims `C`.
#[derive(Clone, Debug)]
pub struct Unique<D: Dims, T: Element, I: Dims, C: Dims> {
    /// The distinct values, in order.
    pub values: Tensor<D, T>,
    /// The index of each element, or slice, among the values.
    pub inverse: Tensor<I, i64>,
    /// The number of occurrences of each value.
    pub counts: Tensor<C, i64>,
}

/// # Unique values
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns the distinct elements in order, in one unnamed dim.
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
    /// If memory runs out.
    #[twin]
    pub fn try_unique(&self) -> Result<Tensor<(Wild,), T>>
    where
        T: Real,
    {
        Ok(self.try_unique_all()?.values)
    }

    /// Like [`unique`](Self::unique), but also returns the index of each element among them, and
    /// their counts.
    ///
    /// # Errors
    /// If memory runs out.
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

    /// Returns the distinct slices along a dim, in order. All names stay; the counts along the dim
    /// have its name.
    ///
    /// # Errors
    /// If memory runs out.
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

    /// Returns the elements that differ from their predecessor, in one unnamed dim.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_unique_consecutive(&self) -> Result<Tensor<(Wild,), T>>
    where
        T: Real,
    {
        Ok(self.try_unique_consecutive_all()?.values)
    }

    /// Like [`unique_consecutive`](Self::unique_consecutive), but also returns the index of each
    /// element among them, and their counts.
    ///
    /// # Errors
    /// If memory runs out.
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

    /// Returns the slices along a dim that differ from their predecessor. All names stay; the
    /// counts along the dim have its name.
    ///
    /// # Errors
    /// If memory runs out.
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
    /// Returns the positions at which values would be inserted in this sorted sequence, before
    /// equal elements. One sequence for each row of values has their dims, except for the last.
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
    /// If the sizes of rows differ.
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

    /// Like [`searchsorted`](Self::searchsorted), but in a sequence that is sorted in the order of
    /// `sorter`, a result of [`argsort`](Self::argsort).
    ///
    /// # Errors
    /// If sizes differ, or the sorter points out of a sequence.
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

    /// Returns the index of the bucket between sorted boundaries that each element belongs to; a
    /// boundary belongs to the bucket below it.
    ///
    /// # Errors
    /// If the device does not exist.
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

// The forms in place and with an out tensor.
include!("unique/forms.rs");
