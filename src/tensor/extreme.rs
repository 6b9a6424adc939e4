//! Extremes and where they stand.
//!
//! [`Tensor::max`], [`Tensor::min`], [`Tensor::argmax`], [`Tensor::argmin`].

use nomina_core::dims::{AxesOf, Dims, OneOrAll, Without};
use nomina_core::op::Op;
use nomina_core::{Element, Real, Result};
use nomina_macros::twin;

use super::{Tensor, picked};
use crate::call::{Erased, Known, reduce};

/// What `max` and `min` give over the dims `A`: values and indices, or over `..` the value alone.
pub type Extremes<D, T, A> =
    <A as OneOrAll>::Found<Tensor<Without<D, A>, T>, Tensor<Without<D, A>, i64>>;

/// # Largest and smallest
impl<D: Dims, T: Element> Tensor<D, T> {
    /// What an extreme's two results become.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(super) fn extremes<A: OneOrAll>((values, indices): (Erased, Erased)) -> Extremes<D, T, A> {
        #[cfg(debug_assertions)]
        let indices = indices.here();
        A::found(Tensor::from_erased(values), || Tensor::kept(indices))
    }

    /// The greatest element along a dim and where it stands; over `..`, the element alone. Over
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
    /// A dim without elements.
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

    /// The smallest element along a dim and where it stands; over `..`, the element alone. Over
    /// several dims, see [`amin`](Self::amin).
    ///
    /// # Errors
    /// A dim without elements.
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

    /// Where the greatest element stands along a dim; over `..`, in row-major order.
    ///
    /// # Errors
    /// A dim without elements.
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

    /// Where the smallest element stands along a dim; over `..`, in row-major order.
    ///
    /// # Errors
    /// A dim without elements.
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
