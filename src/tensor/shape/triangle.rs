//! Triangles: zeros on one side of a diagonal.
//!
//! [`Tensor::tril`], [`Tensor::triu`].

use nomina_core::dims::{Dims, Holds};
use nomina_core::op::Op;
use nomina_core::{Element, Result, StoreAs};
use nomina_macros::twin;
use nomina_runtime::tensor::DiagonalOptions;

use crate::erased::{Known, shape};
use crate::tensor::Tensor;

/// # Triangles
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns the elements on and below the diagonal of the last two dims, with zeros elsewhere.
    ///
    /// # Errors
    /// If there are fewer than two dims, or memory runs out.
    #[twin(with = "but with the diagonal `options.offset`.")]
    pub fn try_tril_with(&self, options: DiagonalOptions) -> Result<Self> {
        Self::try_from_erased(shape::same(self.erased(), D::STATIC, |x| {
            x.tril_with(options)
        }))
    }

    /// Like [`tril`](Self::tril), but in place.
    ///
    /// # Errors
    /// If there are fewer than two dims. Nothing is changed in that case.
    #[twin(with = "but with the diagonal `options.offset`.")]
    pub fn try_tril_with_(&mut self, options: DiagonalOptions) -> Result<&mut Self> {
        shape::triangle(Op::Tril, self.dest(), options.offset, false)?;
        Ok(self)
    }

    /// Returns the elements on and above the diagonal of the last two dims, with zeros elsewhere.
    ///
    /// # Errors
    /// If there are fewer than two dims, or memory runs out.
    #[twin(with = "but with the diagonal `options.offset`.")]
    pub fn try_triu_with(&self, options: DiagonalOptions) -> Result<Self> {
        Self::try_from_erased(shape::same(self.erased(), D::STATIC, |x| {
            x.triu_with(options)
        }))
    }

    /// Like [`triu`](Self::triu), but in place.
    ///
    /// # Errors
    /// If there are fewer than two dims. Nothing is changed in that case.
    #[twin(with = "but with the diagonal `options.offset`.")]
    pub fn try_triu_with_(&mut self, options: DiagonalOptions) -> Result<&mut Self> {
        shape::triangle(Op::Triu, self.dest(), options.offset, true)?;
        Ok(self)
    }
}

// The forms in place and with an out tensor.
include!("triangle/forms.rs");
