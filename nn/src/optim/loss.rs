//! Losses that helpers differentiate.

use nomina::{DynTensor, Element, Result, Tensor};

/// A loss: a number, or the error that prevented its computation.
pub trait Loss {
    /// Returns the number.
    ///
    /// # Errors
    /// The error that prevented its computation.
    fn into_loss(self) -> Result<DynTensor>;
}

impl<T: Element> Loss for Tensor<(), T> {
    fn into_loss(self) -> Result<DynTensor> {
        Ok(self.to_dyn())
    }
}

impl Loss for DynTensor {
    fn into_loss(self) -> Result<DynTensor> {
        Ok(self)
    }
}

impl<L: Loss> Loss for Result<L> {
    fn into_loss(self) -> Result<DynTensor> {
        self?.into_loss()
    }
}
