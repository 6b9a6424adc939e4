//! Counting: elements into bins, quantiles, membership.
//!
//! [`Tensor::bincount`], [`Tensor::bincount_weighted`], [`Tensor::histc`], [`Tensor::isin`],
//! [`Tensor::quantile`], [`Tensor::quantiles`], [`Tensor::nanquantile`], [`Tensor::nanquantiles`].

use half::{bf16, f16};
use nomina_core::dims::{
    AxesOf, Axis, Broadcast, Dims, Insert, Inserted, OneDim, OneOrAll, SizedDim, Wild, Without,
};
use nomina_core::op::Op;
use nomina_core::{Element, Float, Integer, Real, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::{BincountOptions, HistcOptions, IsinOptions, QuantileOptions};

use super::super::{Tensor, picked};
use crate::erased::{Known, count};

/// A dtype of weights, and the dtype of their sums.
#[diagnostic::on_unimplemented(
    message = "dtype `{Self}` is not a weight dtype",
    label = "needs a dtype that is not complex"
)]
pub trait Weight: Real {
    /// The dtype of sums: `f32` for `f32`, else `f64`.
    type Total: Element;
}

macro_rules! weights {
    ($($t:ty: $total:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Weight for $t {
            type Total = $total;
        }
    )*};
}
weights! {
    bool: f64;
    u8: f64;
    i8: f64;
    i16: f64;
    i32: f64;
    i64: f64;
    f16: f64;
    bf16: f64;
    f32: f32;
    f64: f64;
}

impl<X: Axis, T: Integer> Tensor<(X,), T>
where
    (X,): Dims,
{
    /// Counts the occurrences of each whole number from 0 on, in one unnamed dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, Bin }
    /// let x: Tensor<(N,), i64> = Tensor::from_array([0, 2, 2]);
    /// let counts: Tensor<(Bin,), i64> = x.bincount().refine_names((Bin,));
    /// assert_eq!(counts.to_vec(), [1, 0, 2]);
    /// ```
    ///
    /// # Errors
    /// If a number is negative.
    #[twin(with = "but with at least `options.minlength` bins.")]
    pub fn try_bincount_with(&self, options: BincountOptions) -> Result<Tensor<(Wild,), i64>> {
        Tensor::try_from_erased(count::bincount(
            self.erased(),
            None,
            options,
            <(Wild,)>::STATIC,
        ))
    }

    /// Like [`bincount`](Self::bincount), but sums weights.
    ///
    /// # Errors
    /// If a number is negative, or the number of weights differs.
    #[twin]
    pub fn try_bincount_weighted<Y: Axis, W: Weight>(
        &self,
        weights: &Tensor<(Y,), W>,
        options: BincountOptions,
    ) -> Result<Tensor<(Wild,), W::Total>>
    where
        (Y,): Dims,
        (X,): Broadcast<(Y,)>,
    {
        let (weights, out) = (Some(weights.erased()), <(Wild,)>::STATIC);
        Tensor::try_from_erased(count::bincount(self.erased(), weights, options, out))
    }
}

/// # Counting and searching
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Counts the elements in equal bins from the smallest to the greatest element, along a new dim
    /// with a size: `x.histc(Bin)` if it is constant, else `x.histc(Bin.of(100))`.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, Bin }
    /// let x = tensor!([0., 1., 1.5, 4.]; N);
    /// let counts: Tensor<(Bin,)> = x.histc(Bin.of(2));
    /// assert_eq!(counts.to_vec(), [3.0, 1.0]);
    /// let options = HistcOptions { min: 1.0, max: 2.0 };
    /// assert_eq!(x.histc_with(Bin.of(2), options).to_vec(), [1.0, 1.0]);
    /// ```
    ///
    /// # Errors
    /// If there are no bins, elements or ends are not finite, `max` is less than `min`, or a count
    /// exceeds the range of `f16`.
    #[twin(with = "but with the range of the options.")]
    pub fn try_histc_with<S: SizedDim>(
        &self,
        bins: S,
        options: HistcOptions,
    ) -> Result<Tensor<(S::Dim,), T>>
    where
        (S::Dim,): Dims,
        T: Float,
    {
        let out = <(S::Dim,)>::STATIC;
        Tensor::try_from_erased(count::histc(self.erased(), bins.size(), options, out))
    }

    /// Returns whether each element is among others, regardless of their dims. NaN equals nothing.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin(with = "but inverts the result if the options say so.")]
    pub fn try_isin_with<E: Dims, U: Real>(
        &self,
        others: &Tensor<E, U>,
        options: IsinOptions,
    ) -> Result<Tensor<D, bool>>
    where
        T: Real,
    {
        Tensor::try_from_erased(count::isin(
            self.erased(),
            others.erased(),
            options,
            D::STATIC,
        ))
    }

    /// Returns the element at the fraction `q` of the sorted line along a dim, or of all elements
    /// for `..`. NaN if any element is NaN.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, Q }
    /// let x = tensor!([[1., 2., 4.], [3., 5., 9.]]; N, C);
    /// assert_eq!(x.quantile(0.5, C).to_vec(), [2.0, 5.0]);
    /// let q: Tensor<(Q,)> = Tensor::from_array([0.0, 1.0]);
    /// let ends: Tensor<(Q, N)> = x.quantiles(&q, C);
    /// assert_eq!(ends.to_vec(), [1.0, 3.0, 4.0, 9.0]);
    /// ```
    ///
    /// # Errors
    /// If `q` is not between 0 and 1, there are no elements, or `options.keepdim` is set: the type
    /// determines it.
    #[twin(with = "but with the interpolation of the options.")]
    pub fn try_quantile_with<A: OneOrAll + AxesOf<D>>(
        &self,
        q: f64,
        dim: A,
        options: QuantileOptions,
    ) -> Result<Tensor<Without<D, A>, T>>
    where
        T: Float,
    {
        let (picked, out) = (picked::<A, D>(&dim), <Without<D, A>>::STATIC);
        Tensor::try_from_erased(count::quantile(
            Op::Quantile,
            self.erased(),
            q,
            picked,
            options,
            out,
        ))
    }

    /// Like [`quantile`](Self::quantile), but at several fractions, along their own dim, which
    /// comes first.
    ///
    /// # Errors
    /// If `q` is not between 0 and 1, or there are no elements.
    #[twin]
    pub fn try_quantiles<Q: OneDim + Insert<Without<D, A>>, A: OneOrAll + AxesOf<D>>(
        &self,
        q: &Tensor<(Q,), T>,
        dim: A,
    ) -> Result<Tensor<Inserted<Without<D, A>, Q>, T>>
    where
        (Q,): Dims,
        T: Float,
    {
        let (picked, out) = (picked::<A, D>(&dim), <Inserted<Without<D, A>, Q>>::STATIC);
        let found = count::quantiles(Op::Quantile, self.erased(), q.erased(), picked, out);
        Tensor::try_from_erased(found)
    }

    /// Returns the element at the fraction `q` of the sorted line along a dim, or of all elements
    /// for `..`, ignoring NaN.
    ///
    /// # Errors
    /// If `q` is not between 0 and 1, there are no elements, or `options.keepdim` is set: the type
    /// determines it.
    #[twin(with = "but with the interpolation of the options.")]
    pub fn try_nanquantile_with<A: OneOrAll + AxesOf<D>>(
        &self,
        q: f64,
        dim: A,
        options: QuantileOptions,
    ) -> Result<Tensor<Without<D, A>, T>>
    where
        T: Float,
    {
        let (picked, out) = (picked::<A, D>(&dim), <Without<D, A>>::STATIC);
        Tensor::try_from_erased(count::quantile(
            Op::Nanquantile,
            self.erased(),
            q,
            picked,
            options,
            out,
        ))
    }

    /// Like [`nanquantile`](Self::nanquantile), but at several fractions, along their own dim,
    /// which comes first.
    ///
    /// # Errors
    /// If `q` is not between 0 and 1, or there are no elements.
    #[twin]
    pub fn try_nanquantiles<Q: OneDim + Insert<Without<D, A>>, A: OneOrAll + AxesOf<D>>(
        &self,
        q: &Tensor<(Q,), T>,
        dim: A,
    ) -> Result<Tensor<Inserted<Without<D, A>, Q>, T>>
    where
        (Q,): Dims,
        T: Float,
    {
        let (picked, out) = (picked::<A, D>(&dim), <Inserted<Without<D, A>, Q>>::STATIC);
        let found = count::quantiles(Op::Nanquantile, self.erased(), q.erased(), picked, out);
        Tensor::try_from_erased(found)
    }
}

// The forms in place and with an out tensor.
include!("count/forms.rs");
