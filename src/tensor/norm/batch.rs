//! Normalisations by channel.
//!
//! [`Tensor::batch_norm`], [`Tensor::batch_norm_eval`], [`Tensor::batch_norm_train`],
//! [`Tensor::local_response_norm`].

use nomina_core::dims::{DimOf, Dims};
use nomina_core::{Element, Float, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::LocalResponseNormOptions;

use super::options::BatchNormOptions;
use crate::erased::{Known, compose, norm};
use crate::tensor::{Tensor, at};

/// # Normalisation over a batch
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Normalises each index of a dim to mean 0 and variance 1 over all other dims.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 0.], [3., 0.]]; N, C);
    /// assert!((x.batch_norm(C).to_vec()[0] + 1.0).abs() < 1e-4);
    /// let (mut mean, mut var) = (Tensor::<(C,)>::zeros([2]), Tensor::<(C,)>::ones([2]));
    /// let _ = x.batch_norm_train(C, &mut mean, &mut var, default());
    /// assert_eq!(mean.to_vec(), [0.2, 0.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with a weight and a bias.")]
    pub fn try_batch_norm_with<X: DimOf<D>>(
        &self,
        dim: X,
        options: BatchNormOptions<'_, (X,), T>,
    ) -> Result<Self>
    where
        T: Float,
    {
        let at = at(&dim, self);
        Tensor::try_from_erased(norm::affine(
            self.erased(),
            options.operands(),
            D::STATIC,
            |x, weight, bias| x.batch_norm_with(at, options.dynamic(weight, bias)),
        ))
    }

    /// Subtracts a mean and divides by the square root of a variance, given for each index of a
    /// dim: batch norm for inference.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_batch_norm_eval<X: DimOf<D>>(
        &self,
        dim: X,
        mean: &Tensor<(X,), T>,
        var: &Tensor<(X,), T>,
        options: BatchNormOptions<'_, (X,), T>,
    ) -> Result<Self>
    where
        T: Float,
    {
        let at = at(&dim, self);
        let running = [mean.erased(), var.erased()];
        Tensor::try_from_erased(norm::running(
            self.erased(),
            running,
            options.operands(),
            D::STATIC,
            |x, [mean, var], [weight, bias]| {
                x.batch_norm_eval(at, mean, var, options.dynamic(weight, bias))
            },
        ))
    }

    /// Like [`batch_norm_with`](Self::batch_norm_with), but also updates running statistics, for
    /// training.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_batch_norm_train<X: DimOf<D>>(
        &self,
        dim: X,
        running_mean: &mut Tensor<(X,), T>,
        running_var: &mut Tensor<(X,), T>,
        options: BatchNormOptions<'_, (X,), T>,
    ) -> Result<Self>
    where
        T: Float,
    {
        let at = at(&dim, self);
        let running = [running_mean.erased(), running_var.erased()];
        let (found, [mean, var]) = norm::train(
            self.erased(),
            running,
            options.operands(),
            D::STATIC,
            |x, mean, var, [weight, bias]| {
                x.batch_norm_train(at, mean, var, options.dynamic(weight, bias))
            },
        )?;
        running_mean.erased.raw = mean;
        running_var.erased.raw = var;
        Ok(Tensor::from_erased(found))
    }

    /// Divides by a power of the scaled mean square of `size` neighbours along a dim.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with the given numbers.")]
    pub fn try_local_response_norm_with<X: DimOf<D>>(
        &self,
        dim: X,
        size: usize,
        options: LocalResponseNormOptions,
    ) -> Result<Self>
    where
        T: Float,
    {
        let at = at(&dim, self);
        Tensor::try_from_erased(compose::call_for_tensor(
            &[self.erased()],
            D::STATIC,
            |given| given[0].local_response_norm_with(at, size, options),
        ))
    }
}
