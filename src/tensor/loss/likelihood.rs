//! Losses that are likelihoods.
//!
//! [`Tensor::kl_div`], [`Tensor::poisson_nll_loss`], [`Tensor::hinge_embedding_loss`].

use nomina_core::dims::{Broadcast, Dims, Sum};
use nomina_core::{Element, Float, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::{HingeEmbeddingLossOptions, KlDivOptions, PoissonNllLossOptions};

use super::reduction::{Mean, Reduce};
use crate::call::{Known, compose};
use crate::tensor::Tensor;

/// # Losses of distributions
impl<D: Dims, T: Element> Tensor<D, T> {
    /// The Kullback-Leibler divergence of logarithms of probabilities from a target.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_kl_div<E: Dims>(&self, target: &Tensor<E, T>) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        self.try_kl_div_with(target, Mean, KlDivOptions::default())
    }

    /// [`kl_div`](Self::kl_div) with a reduction and options of choice.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_kl_div_with<E: Dims, R: Reduce>(
        &self,
        target: &Tensor<E, T>,
        reduction: R,
        options: KlDivOptions,
    ) -> Result<Tensor<R::Of<Sum<D, E>>, T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        let _ = reduction;
        let operands = [self.erased(), target.erased()];
        Tensor::try_from_erased(compose::one(
            &operands,
            <R::Of<Sum<D, E>>>::STATIC,
            |given| given[0].kl_div_with(&given[1], R::REDUCTION, options),
        ))
    }

    /// The negative logarithm of the likelihood of a target under a Poisson distribution.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_poisson_nll_loss<E: Dims>(&self, target: &Tensor<E, T>) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        self.try_poisson_nll_loss_with(target, Mean, PoissonNllLossOptions::default())
    }

    /// [`poisson_nll_loss`](Self::poisson_nll_loss) with a reduction and options of choice.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_poisson_nll_loss_with<E: Dims, R: Reduce>(
        &self,
        target: &Tensor<E, T>,
        reduction: R,
        options: PoissonNllLossOptions,
    ) -> Result<Tensor<R::Of<Sum<D, E>>, T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        let _ = reduction;
        let operands = [self.erased(), target.erased()];
        Tensor::try_from_erased(compose::one(
            &operands,
            <R::Of<Sum<D, E>>>::STATIC,
            |given| given[0].poisson_nll_loss_with(&given[1], R::REDUCTION, options),
        ))
    }

    /// The element where the target is 1, what it lacks of the margin where it is -1.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_hinge_embedding_loss<E: Dims>(&self, target: &Tensor<E, T>) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        self.try_hinge_embedding_loss_with(target, Mean, HingeEmbeddingLossOptions::default())
    }

    /// [`hinge_embedding_loss`](Self::hinge_embedding_loss) with a reduction and options of choice.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_hinge_embedding_loss_with<E: Dims, R: Reduce>(
        &self,
        target: &Tensor<E, T>,
        reduction: R,
        options: HingeEmbeddingLossOptions,
    ) -> Result<Tensor<R::Of<Sum<D, E>>, T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        let _ = reduction;
        let operands = [self.erased(), target.erased()];
        Tensor::try_from_erased(compose::one(
            &operands,
            <R::Of<Sum<D, E>>>::STATIC,
            |given| given[0].hinge_embedding_loss_with(&given[1], R::REDUCTION, options),
        ))
    }
}
