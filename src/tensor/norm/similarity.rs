//! Lengths and angles along dims.
//!
//! [`Tensor::normalize`], [`Tensor::cosine_similarity`], [`Tensor::pairwise_distance`].

use nomina_core::dims::{AxesOf, Broadcast, DimOf, Dims, Sum, Without, position};
use nomina_core::rule::DimArg;
use nomina_core::{Element, Float, Result};
use nomina_runtime::tensor::{CosineSimilarityOptions, NormalizeOptions, PairwiseDistanceOptions};

use crate::call::{Known, compose, ok};
use crate::tensor::{Tensor, picked};

/// # Distances and similarity
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Divided by the norm along dims.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[3., 4.], [0., 2.]]; N, C);
    /// assert_eq!(x.normalize(C).to_vec(), [0.6, 0.8, 0.0, 1.0]);
    /// let y: Tensor<(N,)> = x.cosine_similarity(&x, C);
    /// ```
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn normalize<A: AxesOf<D>>(&self, dims: A) -> Self
    where
        T: Float,
    {
        ok(self.try_normalize(dims))
    }

    /// [`normalize`](Self::normalize) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_normalize<A: AxesOf<D>>(&self, dims: A) -> Result<Self>
    where
        T: Float,
    {
        self.try_normalize_with(dims, NormalizeOptions::default())
    }

    /// [`normalize`](Self::normalize) with a norm of choice.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn normalize_with<A: AxesOf<D>>(&self, dims: A, options: NormalizeOptions) -> Self
    where
        T: Float,
    {
        ok(self.try_normalize_with(dims, options))
    }

    /// [`normalize_with`](Self::normalize_with) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_normalize_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: NormalizeOptions,
    ) -> Result<Self>
    where
        T: Float,
    {
        let at = picked::<A, D>(&dims).at;
        Tensor::give(compose::one(&[self.look()], D::STATIC, |given| {
            given[0].normalize_with(at, options)
        }))
    }

    /// The cosine of the angle to `other` along a dim, which goes.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn cosine_similarity<E: Dims, X: DimOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dim: X,
    ) -> Tensor<Without<Sum<D, E>, X>, T>
    where
        D: Broadcast<E>,
        T: Float,
    {
        ok(self.try_cosine_similarity(other, dim))
    }

    /// [`cosine_similarity`](Self::cosine_similarity) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_cosine_similarity<E: Dims, X: DimOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dim: X,
    ) -> Result<Tensor<Without<Sum<D, E>, X>, T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        self.try_cosine_similarity_with(other, dim, CosineSimilarityOptions::default())
    }

    /// [`cosine_similarity`](Self::cosine_similarity) with a least length of choice.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn cosine_similarity_with<E: Dims, X: DimOf<D>>(
        &self,
        other: &Tensor<E, T>,
        _dim: X,
        options: CosineSimilarityOptions,
    ) -> Tensor<Without<Sum<D, E>, X>, T>
    where
        D: Broadcast<E>,
        T: Float,
    {
        ok(self.try_cosine_similarity_with(other, _dim, options))
    }

    /// [`cosine_similarity_with`](Self::cosine_similarity_with) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_cosine_similarity_with<E: Dims, X: DimOf<D>>(
        &self,
        other: &Tensor<E, T>,
        _dim: X,
        options: CosineSimilarityOptions,
    ) -> Result<Tensor<Without<Sum<D, E>, X>, T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        let at = position::<X, Sum<D, E>>();
        let looks = [self.look(), other.look()];
        Tensor::give(compose::one(
            &looks,
            <Without<Sum<D, E>, X>>::STATIC,
            |given| given[0].cosine_similarity_with(&given[1], at, options),
        ))
    }

    /// The norm of the difference to `other` along dims, which go unless kept.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn pairwise_distance<E: Dims, A: AxesOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: A,
    ) -> Tensor<Without<Sum<D, E>, A>, T>
    where
        D: Broadcast<E>,
        T: Float,
    {
        ok(self.try_pairwise_distance(other, dims))
    }

    /// [`pairwise_distance`](Self::pairwise_distance) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_pairwise_distance<E: Dims, A: AxesOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: A,
    ) -> Result<Tensor<Without<Sum<D, E>, A>, T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        self.try_pairwise_distance_with(other, dims, PairwiseDistanceOptions::default())
    }

    /// [`pairwise_distance`](Self::pairwise_distance) with a norm of choice.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn pairwise_distance_with<E: Dims, A: AxesOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: A,
        options: PairwiseDistanceOptions,
    ) -> Tensor<Without<Sum<D, E>, A>, T>
    where
        D: Broadcast<E>,
        T: Float,
    {
        ok(self.try_pairwise_distance_with(other, dims, options))
    }

    /// [`pairwise_distance_with`](Self::pairwise_distance_with) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_pairwise_distance_with<E: Dims, A: AxesOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: A,
        options: PairwiseDistanceOptions,
    ) -> Result<Tensor<Without<Sum<D, E>, A>, T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        let picked = picked::<A, Sum<D, E>>(&dims);
        let looks = [self.look(), other.look()];
        Tensor::give(compose::one(
            &looks,
            <Without<Sum<D, E>, A>>::STATIC,
            |given| {
                let dims = DimArg::list(picked.at.iter().copied()).with_keepdim(picked.keepdim);
                given[0].pairwise_distance_with(&given[1], dims, options)
            },
        ))
    }
}

// Forms in place and with an out tensor.
include!("similarity/forms.rs");
