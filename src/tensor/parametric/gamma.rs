//! Functions related to the gamma function.
//!
//! [`Tensor::polygamma`], [`Tensor::mvlgamma`].

use nomina_core::dims::Dims;
use nomina_core::{Element, Real, Result};
use nomina_macros::twin;

use crate::erased::{Known, compose};
use crate::tensor::Tensor;

/// # Gamma functions
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes the derivative of order `n` of [`digamma`](Self::digamma).
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_polygamma(&self, n: i64) -> Result<Tensor<D, T::Float>>
    where
        T: Real,
    {
        let found =
            compose::call_for_tensor(&[self.erased()], D::STATIC, |given| given[0].polygamma(n));
        Tensor::try_from_erased(found)
    }

    /// Computes the logarithm of the gamma function of `p` dimensions, for numbers above (p - 1) /
    /// 2.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_mvlgamma(&self, p: i64) -> Result<Tensor<D, T::Float>>
    where
        T: Real,
    {
        let found =
            compose::call_for_tensor(&[self.erased()], D::STATIC, |given| given[0].mvlgamma(p));
        Tensor::try_from_erased(found)
    }
}

// The forms in place and with an out tensor.
include!("gamma/forms.rs");
