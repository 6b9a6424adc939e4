//! Sorting along a dim, selection, running extremes.
//!
//! [`Tensor::sort`], [`Tensor::argsort`], [`Tensor::msort`], [`Tensor::topk`],
//! [`Tensor::kthvalue`], [`Tensor::median`], [`Tensor::nanmedian`], [`Tensor::mode`],
//! [`Tensor::cummax`], [`Tensor::cummin`].

pub mod count;
pub mod unique;

use nomina_core::dims::{AxesOf, DimOf, Dims, OneOrAll, Resizable, SizeOf, Without};
use nomina_core::op::Op;
use nomina_core::{Element, Real, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::{SortOptions, TopkOptions};

use super::extreme::Extremes;
use super::{Tensor, at, picked};
pub use count::Weight;
pub use unique::Unique;

use crate::erased::{Erased, Known, sort};

/// Two tensors of the same dims: values and indices.
type Both<D, T> = (Tensor<D, T>, Tensor<D, i64>);

#[cfg_attr(debug_assertions, track_caller)]
fn both<D: Dims, T: Element>(found: Result<(Erased, Erased)>) -> Result<Both<D, T>> {
    let (values, indices) = found?;
    Ok((Tensor::from_erased(values), Tensor::from_erased(indices)))
}

/// # Sorting
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Sorts the elements along a dim and also returns their indices. NaN counts as the greatest;
    /// equal elements keep their order.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[3., 1., 2.]]; N, C);
    /// let (values, indices) = x.sort(C);
    /// assert_eq!((values.to_vec(), indices.to_vec()), (vec![1.0, 2.0, 3.0], vec![1, 2, 0]));
    /// let (top, _) = x.topk(2, C);
    /// assert_eq!(top.to_vec(), [3.0, 2.0]);
    /// let (low, place) = x.kthvalue(1, C);
    /// assert_eq!((low.to_vec(), place.to_vec()), (vec![1.0], vec![1]));
    /// assert_eq!(x.median(..).item(), 2.0);
    /// ```
    ///
    /// # Errors
    /// If memory runs out.
    #[twin(with = "but in descending order if `options.descending` is set.")]
    pub fn try_sort_with<X: DimOf<D>>(
        &self,
        dim: X,
        options: SortOptions,
    ) -> Result<(Self, Tensor<D, i64>)>
    where
        T: Real,
    {
        let dim = at(&dim, self);
        both(sort::sort(Op::Sort, self.erased(), dim, options))
    }

    /// Returns the indices that sort the elements along a dim.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin(with = "but in descending order if `options.descending` is set.")]
    pub fn try_argsort_with<X: DimOf<D>>(
        &self,
        dim: X,
        options: SortOptions,
    ) -> Result<Tensor<D, i64>>
    where
        T: Real,
    {
        let dim = at(&dim, self);
        let (_, indices) = sort::sort(Op::Argsort, self.erased(), dim, options)?;
        Ok(Tensor::from_erased(indices))
    }

    /// Sorts the elements along the first dim.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_msort(&self) -> Result<Self>
    where
        T: Real,
    {
        Self::try_from_erased(sort::msort(self.erased()))
    }

    /// Returns the `k` greatest elements along a dim, sorted, and their indices. The dim keeps its
    /// name, with size `k`.
    ///
    /// # Errors
    /// If `k` exceeds the size of the dim.
    #[twin(with = "but returns the smallest elements if `options.largest` is false.")]
    pub fn try_topk_with<X: DimOf<D>>(
        &self,
        k: usize,
        dim: X,
        options: TopkOptions,
    ) -> Result<(Self, Tensor<D, i64>)>
    where
        T: Real,
        SizeOf<X>: Resizable<X>,
    {
        let dim = at(&dim, self);
        both(sort::topk(self.erased(), k, dim, options))
    }

    /// Returns the `k`-th smallest element along a dim, counted from 1, and its index.
    ///
    /// # Errors
    /// If there is no `k`-th element.
    #[twin]
    pub fn try_kthvalue<X: OneOrAll<Found<(), ()> = ((), ())> + AxesOf<D>>(
        &self,
        k: usize,
        dim: X,
    ) -> Result<(Tensor<Without<D, X>, T>, Tensor<Without<D, X>, i64>)>
    where
        T: Real,
    {
        let picked = picked::<X, D>(&dim);
        both(sort::kthvalue(
            self.erased(),
            k,
            picked,
            <Without<D, X>>::STATIC,
        ))
    }

    /// Returns the median along a dim, the lower of two, and its index; for `..`, only the median.
    /// NaN if any element is NaN.
    ///
    /// # Errors
    /// If the dim has no elements.
    #[twin]
    pub fn try_median<A: OneOrAll + AxesOf<D>>(&self, dim: A) -> Result<Extremes<D, T, A>>
    where
        T: Real,
    {
        let out = <Without<D, A>>::STATIC;
        let found = sort::typical(Op::Median, self.erased(), picked::<A, D>(&dim), out)?;
        Ok(Self::extremes::<A>(found))
    }

    /// Returns the median along a dim of the elements that are not NaN, and its index; for `..`,
    /// only the median.
    ///
    /// # Errors
    /// If the dim has no elements.
    #[twin]
    pub fn try_nanmedian<A: OneOrAll + AxesOf<D>>(&self, dim: A) -> Result<Extremes<D, T, A>>
    where
        T: Real,
    {
        let out = <Without<D, A>>::STATIC;
        let found = sort::typical(Op::Nanmedian, self.erased(), picked::<A, D>(&dim), out)?;
        Ok(Self::extremes::<A>(found))
    }

    /// Returns the most frequent element along a dim, the smallest of several, and its last index.
    ///
    /// # Errors
    /// If the dim has no elements.
    #[twin]
    pub fn try_mode<X: OneOrAll<Found<(), ()> = ((), ())> + AxesOf<D>>(
        &self,
        dim: X,
    ) -> Result<(Tensor<Without<D, X>, T>, Tensor<Without<D, X>, i64>)>
    where
        T: Real,
    {
        let out = <Without<D, X>>::STATIC;
        both(sort::typical(
            Op::Mode,
            self.erased(),
            picked::<X, D>(&dim),
            out,
        ))
    }

    /// Returns the running maximum along a dim and its index, the last of equal ones.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_cummax<X: DimOf<D>>(&self, dim: X) -> Result<(Self, Tensor<D, i64>)>
    where
        T: Real,
    {
        let dim = at(&dim, self);
        both(sort::running(Op::Cummax, self.erased(), dim))
    }

    /// Returns the running minimum along a dim and its index, the last of equal ones.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_cummin<X: DimOf<D>>(&self, dim: X) -> Result<(Self, Tensor<D, i64>)>
    where
        T: Real,
    {
        let dim = at(&dim, self);
        both(sort::running(Op::Cummin, self.erased(), dim))
    }
}

// The forms in place and with an out tensor.
include!("forms.rs");
