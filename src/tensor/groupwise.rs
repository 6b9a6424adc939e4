//! Parts of a dim, to be reduced to one element each.
//!
//! [`Windows::nanmean`], [`GroupBy::count`].

use std::marker::PhantomData;

use nomina_core::dims::Dims;
use nomina_core::{Element, Float, Inexact, Real, Result};
use nomina_macros::twin;
use nomina_runtime::tensor;

use super::Tensor;
use crate::erased::typed;

/// The windows or blocks of a dim, each of which a reduction turns into one element; from
/// [`rolling`](Tensor::rolling) and [`resample`](Tensor::resample).
#[derive(Clone, Debug)]
pub struct Windows<D: Dims, T: Element> {
    pub(super) of: tensor::Windows,
    pub(super) types: PhantomData<fn() -> (D, T)>,
}

/// Groups of elements along a dim, each of which a reduction turns into one element of a new dim;
/// from [`group_by`](Tensor::group_by). `D` are the dims of the result.
#[derive(Clone, Debug)]
pub struct GroupBy<D: Dims, T: Element> {
    pub(crate) of: tensor::GroupBy,
    pub(crate) types: PhantomData<fn() -> (D, T)>,
}

macro_rules! reductions {
    ($parts:ident) => {
        impl<D: Dims, T: Element> $parts<D, T> {
            /// Computes the sum of each part, 0 without elements; integers and bool are added in
            /// i64.
            ///
            /// # Errors
            /// If memory runs out.
            #[twin]
            pub fn try_sum(&self) -> Result<Tensor<D, T::Sum>> {
                Tensor::try_from_dyn(self.of.sum())
            }

            /// Computes the mean of each part, NaN without elements; for integers and bool an
            /// `f32`.
            ///
            /// # Errors
            /// If memory runs out.
            #[twin]
            pub fn try_mean(&self) -> Result<Tensor<D, T::Float>> {
                Tensor::try_from_dyn(typed(|| self.of.mean()))
            }

            /// Returns the greatest element of each part.
            ///
            /// # Errors
            /// If a group has no elements.
            #[twin]
            pub fn try_max(&self) -> Result<Tensor<D, T>>
            where
                T: Real,
            {
                Tensor::try_from_dyn(self.of.max())
            }

            /// Returns the smallest element of each part.
            ///
            /// # Errors
            /// If a group has no elements.
            #[twin]
            pub fn try_min(&self) -> Result<Tensor<D, T>>
            where
                T: Real,
            {
                Tensor::try_from_dyn(self.of.min())
            }

            /// Computes the variance of each part, with a correction of 1.
            ///
            /// # Errors
            /// If memory runs out.
            #[twin]
            pub fn try_var(&self) -> Result<Tensor<D, T::Real>>
            where
                T: Inexact,
            {
                Tensor::try_from_dyn(self.of.var())
            }

            /// Computes the standard deviation of each part, with a correction of 1.
            ///
            /// # Errors
            /// If memory runs out.
            #[twin]
            pub fn try_std(&self) -> Result<Tensor<D, T::Real>>
            where
                T: Inexact,
            {
                Tensor::try_from_dyn(self.of.std())
            }

            /// Computes the sum of the elements of each part that are not NaN, 0 if there are none.
            ///
            /// # Errors
            /// If memory runs out.
            #[twin]
            pub fn try_nansum(&self) -> Result<Tensor<D, T::Sum>> {
                Tensor::try_from_dyn(self.of.nansum())
            }

            /// Computes the mean of the elements of each part that are not NaN, NaN if there are none.
            ///
            /// # Errors
            /// If memory runs out.
            #[twin]
            pub fn try_nanmean(&self) -> Result<Tensor<D, T::Float>> {
                Tensor::try_from_dyn(typed(|| self.of.nanmean()))
            }

            /// Returns the greatest element of each part that is not NaN, NaN if there is none.
            ///
            /// # Errors
            /// If a group of integers has no elements.
            #[twin]
            pub fn try_nanmax(&self) -> Result<Tensor<D, T>>
            where
                T: Real,
            {
                Tensor::try_from_dyn(self.of.nanmax())
            }

            /// Returns the smallest element of each part that is not NaN, NaN if there is none.
            ///
            /// # Errors
            /// If a group of integers has no elements.
            #[twin]
            pub fn try_nanmin(&self) -> Result<Tensor<D, T>>
            where
                T: Real,
            {
                Tensor::try_from_dyn(self.of.nanmin())
            }

            /// Computes the variance of the elements of each part that are not NaN, with a
            /// correction of 1.
            ///
            /// # Errors
            /// If memory runs out.
            #[twin]
            pub fn try_nanvar(&self) -> Result<Tensor<D, T>>
            where
                T: Float,
            {
                Tensor::try_from_dyn(self.of.nanvar())
            }

            /// Computes the standard deviation of the elements of each part that are not NaN,
            /// with a correction of 1.
            ///
            /// # Errors
            /// If memory runs out.
            #[twin]
            pub fn try_nanstd(&self) -> Result<Tensor<D, T>>
            where
                T: Float,
            {
                Tensor::try_from_dyn(self.of.nanstd())
            }

            /// Counts the elements of each part that are not NaN.
            ///
            /// # Errors
            /// If memory runs out.
            #[twin]
            pub fn try_count(&self) -> Result<Tensor<D, i64>> {
                Tensor::try_from_dyn(self.of.count())
            }
        }
    };
}

reductions!(Windows);
reductions!(GroupBy);
