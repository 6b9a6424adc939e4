//! Activation functions that are not generated from their rows.
//!
//! [`Tensor::prelu`], [`Tensor::glu`].

pub mod random;

use nomina_core::dims::{DimOf, Dims, Has, OneDim, Resizable, SizeOf, position};
use nomina_core::{Element, Float, Result};
use nomina_macros::twin;

use super::{Tensor, at};
use crate::erased::{Known, compose};

/// # Activations
/// # Networks, random numbers and gradients
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Multiplies negative elements by `weight`, which has one number for each index of its dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[-1., 2.], [-3., -4.]]; N, C);
    /// let slope = tensor!([0.5, 0.25]; C);
    /// assert_eq!(x.prelu(&slope).to_vec(), [-0.5, 2.0, -1.5, -1.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes differ.
    #[twin]
    pub fn try_prelu<X: OneDim>(&self, weight: &Tensor<(X,), T>) -> Result<Self>
    where
        D: Has<X>,
        T: Float,
    {
        let (operands, at) = ([self.erased(), weight.erased()], position::<X, D>());
        Tensor::try_from_erased(compose::call_for_tensor(&operands, D::STATIC, |given| {
            given[0].prelu_at(&given[1], at)
        }))
    }

    /// Multiplies the first half along a dim by the logistic function of the second half.
    ///
    /// # Errors
    /// If the size of the dim is odd.
    #[twin]
    pub fn try_glu<X: DimOf<D>>(&self, dim: X) -> Result<Self>
    where
        T: Float,
        SizeOf<X>: Resizable<X>,
    {
        let at = at(&dim, self) as i64;
        Tensor::try_from_erased(compose::call_for_tensor(
            &[self.erased()],
            D::STATIC,
            |given| given[0].glu(at),
        ))
    }
}

// The forms in place and with an out tensor.
include!("forms.rs");
