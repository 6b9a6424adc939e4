//! Lengths and angles along dims.
//!
//! [`Tensor::normalize`], [`Tensor::cosine_similarity`], [`Tensor::pairwise_distance`].

use nomina_core::dims::{AxesOf, Broadcast, DimOf, Dims, Sum, Without, position};
use nomina_core::rule::DimArg;
use nomina_core::{Element, Float, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::{CosineSimilarityOptions, NormalizeOptions, PairwiseDistanceOptions};

use crate::erased::{Known, compose};
use crate::tensor::{Tensor, picked};

/// # Distances and similarity
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Divides by the norm along dims.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[3., 4.], [0., 2.]]; N, C);
    /// assert_eq!(x.normalize(C).to_vec(), [0.6, 0.8, 0.0, 1.0]);
    /// let y: Tensor<(N,)> = x.cosine_similarity(&x, C);
    /// ```
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with the norm of the options.")]
    pub fn try_normalize_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: NormalizeOptions,
    ) -> Result<Self>
    where
        T: Float,
    {
        let at = picked::<A, D>(&dims).at;
        Tensor::try_from_erased(compose::call_for_tensor(
            &[self.erased()],
            D::STATIC,
            |given| given[0].normalize_with(at, options),
        ))
    }

    /// Computes the cosine of the angle to `other` along a dim, which is removed.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with a given least length.")]
    pub fn try_cosine_similarity_with<E: Dims, X: DimOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dim: X,
        options: CosineSimilarityOptions,
    ) -> Result<Tensor<Without<Sum<D, E>, X>, T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        let _ = dim;
        let at = position::<X, Sum<D, E>>();
        let operands = [self.erased(), other.erased()];
        Tensor::try_from_erased(compose::call_for_tensor(
            &operands,
            <Without<Sum<D, E>, X>>::STATIC,
            |given| given[0].cosine_similarity_with(&given[1], at, options),
        ))
    }

    /// Computes the norm of the difference to `other` along dims, which are removed unless kept.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with the norm of the options.")]
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
        let operands = [self.erased(), other.erased()];
        Tensor::try_from_erased(compose::call_for_tensor(
            &operands,
            <Without<Sum<D, E>, A>>::STATIC,
            |given| {
                let dims = DimArg::list(picked.at.iter().copied()).with_keepdim(picked.keepdim);
                given[0].pairwise_distance_with(&given[1], dims, options)
            },
        ))
    }
}

// The forms in place and with an out tensor.
include!("similarity/forms.rs");
