//! Losses of three tensors.
//!
//! [`Tensor::margin_ranking_loss`], [`Tensor::cosine_embedding_loss`],
//! [`Tensor::triplet_margin_loss`], [`Tensor::gaussian_nll_loss`].

use nomina_core::dims::{Broadcast, DimOf, Dims, Sum, Without, position};
use nomina_core::{Element, Float, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::{GaussianNllLossOptions, MarginOptions, TripletMarginLossOptions};

use super::reduction::{Mean, Reduce};
use crate::erased::{Known, compose};
use crate::tensor::Tensor;

/// # Losses of embeddings
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes `max(0, -y (x1 - x2))` for `self` and another tensor: how far their order is from a target of 1 (`self`
    /// greater) or -1. Returns the mean.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_margin_ranking_loss<E: Dims, F: Dims>(
        &self,
        input2: &Tensor<E, T>,
        target: &Tensor<F, T>,
    ) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        Sum<D, E>: Broadcast<F>,
        T: Float,
    {
        self.try_margin_ranking_loss_with(input2, target, Mean, MarginOptions::default())
    }

    /// Like [`margin_ranking_loss`](Self::margin_ranking_loss), but with the given reduction and options.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_margin_ranking_loss_with<E: Dims, F: Dims, R: Reduce>(
        &self,
        input2: &Tensor<E, T>,
        target: &Tensor<F, T>,
        reduction: R,
        options: MarginOptions,
    ) -> Result<Tensor<R::Of<Sum<Sum<D, E>, F>>, T>>
    where
        D: Broadcast<E>,
        Sum<D, E>: Broadcast<F>,
        T: Float,
    {
        let _ = reduction;
        let operands = [self.erased(), input2.erased(), target.erased()];
        Tensor::try_from_erased(compose::call_for_tensor(
            &operands,
            <R::Of<Sum<Sum<D, E>, F>>>::STATIC,
            |given| given[0].margin_ranking_loss_with(&given[1], &given[2], R::REDUCTION, options),
        ))
    }

    /// Computes 1 minus the cosine of the angle to another tensor along a dim where the target is 1, and the cosine
    /// minus the margin, at least 0, where it is -1. The margin is 0; returns the mean.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_cosine_embedding_loss<E: Dims, F: Dims, X: DimOf<D>>(
        &self,
        input2: &Tensor<E, T>,
        target: &Tensor<F, T>,
        dim: X,
    ) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        Without<Sum<D, E>, X>: Broadcast<F>,
        T: Float,
    {
        self.try_cosine_embedding_loss_with(input2, target, dim, Mean, MarginOptions::default())
    }

    /// Like [`cosine_embedding_loss`](Self::cosine_embedding_loss), but with the given reduction and options.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_cosine_embedding_loss_with<E: Dims, F: Dims, X: DimOf<D>, R: Reduce>(
        &self,
        input2: &Tensor<E, T>,
        target: &Tensor<F, T>,
        dim: X,
        reduction: R,
        options: MarginOptions,
    ) -> Result<Tensor<R::Of<Sum<Without<Sum<D, E>, X>, F>>, T>>
    where
        D: Broadcast<E>,
        Without<Sum<D, E>, X>: Broadcast<F>,
        T: Float,
    {
        let _ = reduction;
        let _ = dim;
        let at = position::<X, Sum<D, E>>();
        let operands = [self.erased(), input2.erased(), target.erased()];
        Tensor::try_from_erased(compose::call_for_tensor(
            &operands,
            <R::Of<Sum<Without<Sum<D, E>, X>, F>>>::STATIC,
            |given| {
                given[0].cosine_embedding_loss_with(&given[1], &given[2], at, R::REDUCTION, options)
            },
        ))
    }

    /// Computes the distance to a positive example along a dim, minus that to a negative example, plus the margin, at
    /// least 0. The margin is 1; returns the mean.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_triplet_margin_loss<E: Dims, F: Dims, X: DimOf<D>>(
        &self,
        positive: &Tensor<E, T>,
        negative: &Tensor<F, T>,
        dim: X,
    ) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        Sum<D, E>: Broadcast<F>,
        T: Float,
    {
        self.try_triplet_margin_loss_with(
            positive,
            negative,
            dim,
            Mean,
            TripletMarginLossOptions::default(),
        )
    }

    /// Like [`triplet_margin_loss`](Self::triplet_margin_loss), but with the given reduction and options.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_triplet_margin_loss_with<E: Dims, F: Dims, X: DimOf<D>, R: Reduce>(
        &self,
        positive: &Tensor<E, T>,
        negative: &Tensor<F, T>,
        dim: X,
        reduction: R,
        options: TripletMarginLossOptions,
    ) -> Result<Tensor<R::Of<Without<Sum<Sum<D, E>, F>, X>>, T>>
    where
        D: Broadcast<E>,
        Sum<D, E>: Broadcast<F>,
        T: Float,
    {
        let _ = reduction;
        let _ = dim;
        let at = position::<X, D>() as i64 - D::RANK as i64;
        let operands = [self.erased(), positive.erased(), negative.erased()];
        Tensor::try_from_erased(compose::call_for_tensor(
            &operands,
            <R::Of<Without<Sum<Sum<D, E>, F>, X>>>::STATIC,
            |given| {
                given[0].triplet_margin_loss_with(&given[1], &given[2], at, R::REDUCTION, options)
            },
        ))
    }

    /// Computes the negative log-likelihood of a target under a normal distribution with this mean and a variance.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_gaussian_nll_loss<E: Dims, F: Dims>(
        &self,
        target: &Tensor<E, T>,
        var: &Tensor<F, T>,
    ) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        Sum<D, E>: Broadcast<F>,
        T: Float,
    {
        self.try_gaussian_nll_loss_with(target, var, Mean, GaussianNllLossOptions::default())
    }

    /// Like [`gaussian_nll_loss`](Self::gaussian_nll_loss), but with the given reduction and options.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_gaussian_nll_loss_with<E: Dims, F: Dims, R: Reduce>(
        &self,
        target: &Tensor<E, T>,
        var: &Tensor<F, T>,
        reduction: R,
        options: GaussianNllLossOptions,
    ) -> Result<Tensor<R::Of<Sum<Sum<D, E>, F>>, T>>
    where
        D: Broadcast<E>,
        Sum<D, E>: Broadcast<F>,
        T: Float,
    {
        let _ = reduction;
        let operands = [self.erased(), target.erased(), var.erased()];
        Tensor::try_from_erased(compose::call_for_tensor(
            &operands,
            <R::Of<Sum<Sum<D, E>, F>>>::STATIC,
            |given| given[0].gaussian_nll_loss_with(&given[1], &given[2], R::REDUCTION, options),
        ))
    }
}
