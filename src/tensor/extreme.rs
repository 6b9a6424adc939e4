//! Extremes and their indices.
//!
//! [`Tensor::max`], [`Tensor::min`], [`Tensor::argmax`], [`Tensor::argmin`].

use nomina_core::dims::{AxesOf, Dims, OneOrAll, Without};
use nomina_core::op::Op;
use nomina_core::{Element, Real, Result};
use nomina_macros::twin;

use super::{Tensor, picked};
use crate::erased::{Erased, Known, reduce};

/// The result of `max` and `min` over the dims `A`: values and indices, or for `..` only the value.
pub type Extremes<D, T, A> =
    <A as OneOrAll>::Found<Tensor<Without<D, A>, T>, Tensor<Without<D, A>, i64>>;

/// # Largest and smallest
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Converts the two results of an extreme to its result type.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(super) fn extremes<A: OneOrAll>((values, indices): (Erased, Erased)) -> Extremes<D, T, A> {
        #[cfg(debug_assertions)]
        let indices = indices.here();
        A::found(Tensor::from_erased(values), || Tensor::kept(indices))
    }

    /// Returns the greatest element along a dim and its index; for `..`, only the element. For
    /// several dims, see [`amax`](Self::amax).
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 5.], [7., 2.]]; N, C);
    /// let (values, indices) = x.max(C);
    /// assert_eq!((values.to_vec(), indices.to_vec()), (vec![5.0, 7.0], vec![1, 0]));
    /// assert_eq!(x.max(..).item(), 7.0);
    /// ```
    ///
    /// # Errors
    /// If the dim has no elements.
    #[twin]
    pub fn try_max<A: OneOrAll + AxesOf<D>>(&self, dim: A) -> Result<Extremes<D, T, A>>
    where
        T: Real,
    {
        let found = reduce::extreme(
            Op::Max,
            self.erased(),
            picked::<A, D>(&dim),
            <Without<D, A>>::STATIC,
        );
        Ok(Self::extremes::<A>(found?))
    }

    /// Returns the smallest element along a dim and its index; for `..`, only the element. For
    /// several dims, see [`amin`](Self::amin).
    ///
    /// # Errors
    /// If the dim has no elements.
    #[twin]
    pub fn try_min<A: OneOrAll + AxesOf<D>>(&self, dim: A) -> Result<Extremes<D, T, A>>
    where
        T: Real,
    {
        let found = reduce::extreme(
            Op::Min,
            self.erased(),
            picked::<A, D>(&dim),
            <Without<D, A>>::STATIC,
        );
        Ok(Self::extremes::<A>(found?))
    }

    /// Returns the index of the greatest element along a dim; for `..`, the row-major index.
    ///
    /// # Errors
    /// If the dim has no elements.
    #[twin]
    pub fn try_argmax<A: OneOrAll + AxesOf<D>>(&self, dim: A) -> Result<Tensor<Without<D, A>, i64>>
    where
        T: Real,
    {
        let picked = picked::<A, D>(&dim);
        Tensor::try_from_erased(reduce::place(
            Op::Argmax,
            self.erased(),
            picked,
            <Without<D, A>>::STATIC,
        ))
    }

    /// Returns the index of the smallest element along a dim; for `..`, the row-major index.
    ///
    /// # Errors
    /// If the dim has no elements.
    #[twin]
    pub fn try_argmin<A: OneOrAll + AxesOf<D>>(&self, dim: A) -> Result<Tensor<Without<D, A>, i64>>
    where
        T: Real,
    {
        let picked = picked::<A, D>(&dim);
        Tensor::try_from_erased(reduce::place(
            Op::Argmin,
            self.erased(),
            picked,
            <Without<D, A>>::STATIC,
        ))
    }
}
