//! Losses.
//!
//! [`Tensor::mse_loss`], [`Tensor::l1_loss`], [`Tensor::smooth_l1_loss`], [`Tensor::huber_loss`],
//! [`Tensor::soft_margin_loss`].

pub mod embedding;
pub mod entropy;
pub mod likelihood;
pub mod reduction;

use nomina_core::dims::{Broadcast, Dims, Sum};
use nomina_core::{Element, Float, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::{HuberLossOptions, SmoothL1LossOptions};

use super::Tensor;
use crate::call::{Known, compose};
use reduction::{Mean, Reduce};

pub use entropy::{BinaryCrossEntropyOptions, CrossEntropyOptions, Targets};

/// # Losses
impl<D: Dims, T: Element> Tensor<D, T> {
    /// The mean of the squares of the differences.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// use nomina::reduction;
    /// dims! { N }
    /// let (x, y) = (tensor!([1., 2.]; N), tensor!([1., 4.]; N));
    /// assert_eq!(x.mse_loss(&y).item(), 2.0);
    /// let each: Tensor<(N,)> = x.mse_loss_with(&y, reduction::None);
    /// assert_eq!(each.to_vec(), [0.0, 4.0]);
    /// ```
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_mse_loss<E: Dims>(&self, target: &Tensor<E, T>) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        self.try_mse_loss_with(target, Mean)
    }

    /// [`mse_loss`](Self::mse_loss) with a reduction of choice.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_mse_loss_with<E: Dims, R: Reduce>(
        &self,
        target: &Tensor<E, T>,
        reduction: R,
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
            |given| given[0].mse_loss_with(&given[1], R::REDUCTION),
        ))
    }

    /// The mean of the magnitudes of the differences.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_l1_loss<E: Dims>(&self, target: &Tensor<E, T>) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        self.try_l1_loss_with(target, Mean)
    }

    /// [`l1_loss`](Self::l1_loss) with a reduction of choice.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_l1_loss_with<E: Dims, R: Reduce>(
        &self,
        target: &Tensor<E, T>,
        reduction: R,
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
            |given| given[0].l1_loss_with(&given[1], R::REDUCTION),
        ))
    }

    /// Half the square of small differences, the magnitude of great ones.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_smooth_l1_loss<E: Dims>(&self, target: &Tensor<E, T>) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        self.try_smooth_l1_loss_with(target, Mean, SmoothL1LossOptions::default())
    }

    /// [`smooth_l1_loss`](Self::smooth_l1_loss) with a reduction and options of choice.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_smooth_l1_loss_with<E: Dims, R: Reduce>(
        &self,
        target: &Tensor<E, T>,
        reduction: R,
        options: SmoothL1LossOptions,
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
            |given| given[0].smooth_l1_loss_with(&given[1], R::REDUCTION, options),
        ))
    }

    /// Half the square of small differences, a line beyond.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_huber_loss<E: Dims>(&self, target: &Tensor<E, T>) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        self.try_huber_loss_with(target, Mean, HuberLossOptions::default())
    }

    /// [`huber_loss`](Self::huber_loss) with a reduction and options of choice.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_huber_loss_with<E: Dims, R: Reduce>(
        &self,
        target: &Tensor<E, T>,
        reduction: R,
        options: HuberLossOptions,
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
            |given| given[0].huber_loss_with(&given[1], R::REDUCTION, options),
        ))
    }

    /// ln(1 + exp(-x y)), for targets of 1 and -1.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_soft_margin_loss<E: Dims>(&self, target: &Tensor<E, T>) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        self.try_soft_margin_loss_with(target, Mean)
    }

    /// [`soft_margin_loss`](Self::soft_margin_loss) with a reduction of choice.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_soft_margin_loss_with<E: Dims, R: Reduce>(
        &self,
        target: &Tensor<E, T>,
        reduction: R,
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
            |given| given[0].soft_margin_loss_with(&given[1], R::REDUCTION),
        ))
    }
}
