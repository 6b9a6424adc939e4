//! Parts of a dim, to be reduced to one element each.
//!
//! [`Windows::std`], [`GroupBy::count`].

use std::marker::PhantomData;

use nomina_core::dims::Dims;
use nomina_core::{Element, Inexact, Real, Result};
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
    pub(super) of: tensor::GroupBy,
    pub(super) types: PhantomData<fn() -> (D, T)>,
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
        }
    };
}

reductions!(Windows);
reductions!(GroupBy);

impl<D: Dims, T: Element> Windows<D, T> {
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
}

impl<D: Dims, T: Element> GroupBy<D, T> {
    /// Counts the elements of each group that are not NaN.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_count(&self) -> Result<Tensor<D, i64>> {
        Tensor::try_from_dyn(self.of.count())
    }
}
