//! The gamma function's relatives.
//!
//! [`Tensor::polygamma`], [`Tensor::mvlgamma`].

use nomina_core::dims::Dims;
use nomina_core::{Element, Real, Result};
use nomina_macros::twin;

use crate::call::{Known, compose};
use crate::tensor::Tensor;

/// # Gamma functions and kin
impl<D: Dims, T: Element> Tensor<D, T> {
    /// The derivative of order `n` of [`digamma`](Self::digamma).
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_polygamma(&self, n: i64) -> Result<Tensor<D, T::Float>>
    where
        T: Real,
    {
        let found = compose::one(&[self.erased()], D::STATIC, |given| given[0].polygamma(n));
        Tensor::try_from_erased(found)
    }

    /// The logarithm of the gamma function of `p` dimensions, of numbers above (p - 1) / 2.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_mvlgamma(&self, p: i64) -> Result<Tensor<D, T::Float>>
    where
        T: Real,
    {
        let found = compose::one(&[self.erased()], D::STATIC, |given| given[0].mvlgamma(p));
        Tensor::try_from_erased(found)
    }
}

// Forms in place and with an out tensor.
include!("gamma/forms.rs");
