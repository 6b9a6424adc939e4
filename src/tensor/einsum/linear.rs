//! Linear layers with a fused activation.
//!
//! [`Tensor::linear_with`].

use nomina_core::dims::{Broadcast, Dim, DimOf, Dims, Linear, Sum, Vector};
use nomina_core::{Element, Numeric, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::LinearOptions;

use crate::tensor::Tensor;

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Like [`linear`](Self::linear), but applies an activation to the results while they are in
    /// the cache. The numbers are those of the separate operator, without a separate pass.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, In, Out }
    /// let x = tensor!([[1., -2.]]; N, In);
    /// let w = tensor!([[1., 0.], [0., 1.], [1., 1.]]; Out, In);
    /// let options = LinearOptions { activation: Some(Activation::Relu) };
    /// let y: Tensor<(N, Out)> = x.linear_with(&w, &tensor!([0., 0., 10.]; Out), options);
    /// assert_eq!(y.to_vec(), [1.0, 0.0, 9.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match, or the activation does not support the dtype, or gives another.
    #[twin]
    pub fn try_linear_with<O: Dim, I: DimOf<D>, B: Dims + Vector>(
        &self,
        weight: &Tensor<(O, I), T>,
        bias: &Tensor<B, T>,
        options: LinearOptions,
    ) -> Result<Tensor<Sum<Linear<D, O, I>, B>, T>>
    where
        T: Numeric,
        Linear<D, O, I>: nomina_core::dims::Distinct + Broadcast<B>,
    {
        Tensor::try_from_erased(self.layer(weight, bias, options))
    }
}
