//! Parts of a dim, to be reduced to an element each.
//!
//! [`Windows::std`], [`GroupBy::count`].

use std::marker::PhantomData;

use nomina_core::dims::Dims;
use nomina_core::{Element, Inexact, Real, Result};
use nomina_macros::twin;
use nomina_runtime::tensor;

use super::Tensor;
use crate::call::typed;

/// The windows or blocks of a dim, each of which a reduction makes one element: of
/// [`rolling`](Tensor::rolling) and [`resample`](Tensor::resample).
#[derive(Clone, Debug)]
pub struct Windows<D: Dims, T: Element> {
    pub(super) of: tensor::Windows,
    pub(super) types: PhantomData<fn() -> (D, T)>,
}

/// The elements along a dim in groups, each of which a reduction makes one element of a new dim: of
/// [`group_by`](Tensor::group_by). `D` are the result's dims.
#[derive(Clone, Debug)]
pub struct GroupBy<D: Dims, T: Element> {
    pub(super) of: tensor::GroupBy,
    pub(super) types: PhantomData<fn() -> (D, T)>,
}

macro_rules! reductions {
    ($parts:ident) => {
        impl<D: Dims, T: Element> $parts<D, T> {
            /// The sum of each, 0 of no elements; integers and bool add up in i64.
            ///
            /// # Errors
            /// Missing memory.
            #[twin]
            pub fn try_sum(&self) -> Result<Tensor<D, T::Sum>> {
                Tensor::try_from_dyn(self.of.sum())
            }

            /// The mean of each, NaN of no elements; that of integers and bool is an `f32`.
            ///
            /// # Errors
            /// Missing memory.
            #[twin]
            pub fn try_mean(&self) -> Result<Tensor<D, T::Float>> {
                Tensor::try_from_dyn(typed(|| self.of.mean()))
            }

            /// The greatest element of each.
            ///
            /// # Errors
            /// A group without elements.
            #[twin]
            pub fn try_max(&self) -> Result<Tensor<D, T>>
            where
                T: Real,
            {
                Tensor::try_from_dyn(self.of.max())
            }

            /// The smallest element of each.
            ///
            /// # Errors
            /// A group without elements.
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
    /// The standard deviation of each, with a correction of 1.
    ///
    /// # Errors
    /// Missing memory.
    #[twin]
    pub fn try_std(&self) -> Result<Tensor<D, T::Real>>
    where
        T: Inexact,
    {
        Tensor::try_from_dyn(self.of.std())
    }
}

impl<D: Dims, T: Element> GroupBy<D, T> {
    /// How many elements of each group are not NaN.
    ///
    /// # Errors
    /// Missing memory.
    #[twin]
    pub fn try_count(&self) -> Result<Tensor<D, i64>> {
        Tensor::try_from_dyn(self.of.count())
    }
}
