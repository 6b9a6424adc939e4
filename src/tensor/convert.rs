//! Other dtypes, devices and layouts.

use nomina_core::dims::Dims;
use nomina_core::{Device, Element, Result};

use super::Tensor;
use crate::call::{done, factory};

impl<D: Dims, T: Element> Tensor<D, T> {
    /// The elements converted, as PyTorch casts: floats to integers truncate, numbers to `bool`
    /// compare with zero. Costs nothing where the dtype is the same.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// assert_eq!(tensor!([1.5, -2.5]; N).to::<i32>().to_vec(), [1, -2]);
    /// ```
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn to<U: Element>(&self) -> Tensor<D, U> {
        Tensor::wrap(done(factory::to_dtype(self.look(), U::DTYPE)))
    }

    /// [`to`](Self::to) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_to<U: Element>(&self) -> Result<Tensor<D, U>> {
        Tensor::give(factory::to_dtype(self.look(), U::DTYPE))
    }

    /// On a device; itself where it already is.
    ///
    /// # Panics
    /// When the device is not there, or its memory is short.
    #[track_caller]
    #[must_use]
    pub fn to_device(&self, device: Device) -> Self {
        Self::wrap(done(factory::to_device(self.look(), device)))
    }

    /// [`to_device`](Self::to_device) that returns the error.
    ///
    /// # Errors
    /// When the device is not there, or its memory is short.
    pub fn try_to_device(&self, device: Device) -> Result<Self> {
        Self::give(factory::to_device(self.look(), device))
    }

    /// On the CPU.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn cpu(&self) -> Self {
        self.to_device(Device::Cpu)
    }

    /// In row-major order without gaps; itself where it already is.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn contiguous(&self) -> Self {
        Self::wrap(done(factory::contiguous(self.look())))
    }
}
