//! Normalisations.
//!
//! [`Tensor::layer_norm`], [`Tensor::rms_norm`], [`Tensor::instance_norm`], [`Tensor::group_norm`].

pub mod batch;
pub mod options;
pub mod similarity;

use nomina_core::dims::{AxesOf, DimOf, Dims};
use nomina_core::{Element, Float, Result};
use nomina_macros::twin;
use nomina_runtime::tensor as dynamic;

use super::{Tensor, at, picked};
use crate::erased::{Known, compose, norm};

pub use options::{BatchNormOptions, LayerNormOptions, RmsNormOptions};

/// # Normalisation
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Normalises to mean 0 and variance 1 over dims.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 3.], [2., 6.]]; N, C);
    /// let y = x.layer_norm(C);
    /// assert!((y.to_vec()[1] - 1.0).abs() < 1e-4);
    /// let (w, b) = (tensor!([2., 1.]; C), tensor!([0., 5.]; C));
    /// let options = LayerNormOptions { weight: Some(&w), bias: Some(&b), ..default() };
    /// assert!((x.layer_norm_with(C, options).to_vec()[3] - 6.0).abs() < 1e-4);
    /// ```
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with a weight and a bias along the dims.")]
    pub fn try_layer_norm_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: LayerNormOptions<'_, A::List, T>,
    ) -> Result<Self>
    where
        T: Float,
    {
        let at = picked::<A, D>(&dims).at;
        Tensor::try_from_erased(norm::affine(
            self.erased(),
            options.operands(),
            D::STATIC,
            |x, weight, bias| x.layer_norm_with(at, options.dynamic(weight, bias)),
        ))
    }

    /// Normalises to mean square 1 over dims.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with a weight along the dims.")]
    pub fn try_rms_norm_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: RmsNormOptions<'_, A::List, T>,
    ) -> Result<Self>
    where
        T: Float,
    {
        let (at, eps) = (picked::<A, D>(&dims).at, options.eps);
        let operands = [options.weight.map(Tensor::erased), None];
        Tensor::try_from_erased(norm::affine(
            self.erased(),
            operands,
            D::STATIC,
            |x, weight, _| x.rms_norm_with(at, dynamic::RmsNormOptions { weight, eps }),
        ))
    }

    /// Normalises each channel of each sample to mean 0 and variance 1:
    /// [`layer_norm`](Self::layer_norm) over the other dims.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_instance_norm<A: AxesOf<D>>(&self, dims: A) -> Result<Self>
    where
        T: Float,
    {
        let at = picked::<A, D>(&dims).at;
        Tensor::try_from_erased(compose::call_for_tensor(
            &[self.erased()],
            D::STATIC,
            |given| given[0].instance_norm(at),
        ))
    }

    /// Like [`instance_norm`](Self::instance_norm), but with a weight and a bias per channel.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_instance_norm_with<A: AxesOf<D>, X: DimOf<D>>(
        &self,
        dims: A,
        channel: X,
        options: LayerNormOptions<'_, (X,), T>,
    ) -> Result<Self>
    where
        T: Float,
    {
        let (dims, channel) = (picked::<A, D>(&dims).at, at(&channel, self));
        Tensor::try_from_erased(norm::affine(
            self.erased(),
            options.operands(),
            D::STATIC,
            |x, weight, bias| x.instance_norm_along(dims, channel, options.dynamic(weight, bias)),
        ))
    }

    /// Normalises groups of channels along `channel`, together with `dims`, to mean 0 and variance
    /// 1.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with a weight and a bias per channel.")]
    pub fn try_group_norm_with<X: DimOf<D>, A: AxesOf<D>>(
        &self,
        channel: X,
        dims: A,
        groups: usize,
        options: LayerNormOptions<'_, (X,), T>,
    ) -> Result<Self>
    where
        T: Float,
    {
        let (channel, dims) = (at(&channel, self), picked::<A, D>(&dims).at);
        Tensor::try_from_erased(norm::affine(
            self.erased(),
            options.operands(),
            D::STATIC,
            |x, weight, bias| {
                x.group_norm_with(channel, dims, groups, options.dynamic(weight, bias))
            },
        ))
    }
}
