//! Other dtypes, devices and layouts.
//!
//! [`Tensor::to`], [`Tensor::to_device`], [`Tensor::cpu`], [`Tensor::contiguous`],
//! [`Tensor::clone_with`], [`Tensor::bool`], [`Tensor::byte`], [`Tensor::char`], [`Tensor::short`],
//! [`Tensor::int`], [`Tensor::long`], [`Tensor::half`], [`Tensor::bfloat16`], [`Tensor::float`],
//! [`Tensor::double`], [`Tensor::cfloat`], [`Tensor::cdouble`].

use half::{bf16, f16};
use nomina_core::dims::Dims;
use nomina_core::{Element, MemoryFormat, Result};
use nomina_macros::twin;
use nomina_runtime::Device;
use num_complex::Complex;

use super::Tensor;
use crate::erased::factory;

/// # Other dtypes, devices and layouts
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Converts the elements, with the casts of PyTorch: floats to integers truncate, numbers to
    /// `bool` compare with zero. Free if the dtype is the same.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// assert_eq!(tensor!([1.5, -2.5]; N).to::<i32>().to_vec(), [1, -2]);
    /// ```
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_to<U: Element>(&self) -> Result<Tensor<D, U>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), U::DTYPE))
    }

    /// Returns the tensor on a device; the tensor itself if it is already there.
    ///
    /// # Errors
    /// If the device does not exist, or its memory runs out.
    #[twin]
    pub fn try_to_device(&self, device: Device) -> Result<Self> {
        Self::try_from_erased(factory::to_device(self.erased(), device))
    }

    /// Returns the tensor on the CPU.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_cpu(&self) -> Result<Self> {
        self.try_to_device(Device::Cpu)
    }

    /// Returns the tensor in row-major order without gaps; the tensor itself if it already is.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_contiguous(&self) -> Result<Self> {
        Self::try_from_erased(factory::contiguous(self.erased()))
    }

    /// Returns the tensor without gaps in a memory format; the tensor itself if it already is.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, H, W }
    /// let images = Tensor::<(N, C, H, W)>::ones([2, 3, 4, 5]);
    /// let images = images.contiguous_with(MemoryFormat::ChannelsLast);
    /// assert_eq!(images.strides(), [60, 1, 15, 3]);
    /// assert!(images.exp().is_contiguous_with(MemoryFormat::ChannelsLast));
    /// ```
    ///
    /// # Errors
    /// If the format is for another number of dims, or memory runs out.
    #[twin]
    pub fn try_contiguous_with(&self, format: MemoryFormat) -> Result<Self> {
        Self::try_from_erased(factory::contiguous_in(self.erased(), format))
    }

    /// Returns a dense tensor of the same elements in a memory format; [`MemoryFormat::Preserve`]
    /// keeps the order of dims. Elements are shared if they already have this layout.
    ///
    /// # Errors
    /// If the format is for another number of dims, or memory runs out.
    #[twin]
    pub fn try_clone_with(&self, format: MemoryFormat) -> Result<Self> {
        Self::try_from_erased(factory::clone_in(self.erased(), format))
    }

    /// Like [`to`](Self::to), but in a memory format; returns the tensor itself if dtype and format
    /// are the same.
    ///
    /// # Errors
    /// If the format is for another number of dims, or memory runs out.
    #[twin]
    pub fn try_to_with<U: Element>(&self, format: MemoryFormat) -> Result<Tensor<D, U>> {
        Tensor::try_from_erased(factory::to_in(self.erased(), U::DTYPE, format))
    }
}

/// Conversions under the names of PyTorch.
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Converts to `bool`: [`to`](Self::to) under the name of PyTorch.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_bool(&self) -> Result<Tensor<D, bool>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <bool>::DTYPE))
    }

    /// Converts to `u8`: [`to`](Self::to) under the name of PyTorch.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_byte(&self) -> Result<Tensor<D, u8>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <u8>::DTYPE))
    }

    /// Converts to `i8`: [`to`](Self::to) under the name of PyTorch.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_char(&self) -> Result<Tensor<D, i8>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <i8>::DTYPE))
    }

    /// Converts to `i16`: [`to`](Self::to) under the name of PyTorch.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_short(&self) -> Result<Tensor<D, i16>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <i16>::DTYPE))
    }

    /// Converts to `i32`: [`to`](Self::to) under the name of PyTorch.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_int(&self) -> Result<Tensor<D, i32>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <i32>::DTYPE))
    }

    /// Converts to `i64`: [`to`](Self::to) under the name of PyTorch.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_long(&self) -> Result<Tensor<D, i64>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <i64>::DTYPE))
    }

    /// Converts to `f16`: [`to`](Self::to) under the name of PyTorch.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_half(&self) -> Result<Tensor<D, f16>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <f16>::DTYPE))
    }

    /// Converts to `bf16`: [`to`](Self::to) under the name of PyTorch.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_bfloat16(&self) -> Result<Tensor<D, bf16>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <bf16>::DTYPE))
    }

    /// Converts to `f32`: [`to`](Self::to) under the name of PyTorch.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_float(&self) -> Result<Tensor<D, f32>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <f32>::DTYPE))
    }

    /// Converts to `f64`: [`to`](Self::to) under the name of PyTorch.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_double(&self) -> Result<Tensor<D, f64>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <f64>::DTYPE))
    }

    /// Converts to `Complex<f32>`: [`to`](Self::to) under the name of PyTorch.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_cfloat(&self) -> Result<Tensor<D, Complex<f32>>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <Complex<f32>>::DTYPE))
    }

    /// Converts to `Complex<f64>`: [`to`](Self::to) under the name of PyTorch.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_cdouble(&self) -> Result<Tensor<D, Complex<f64>>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <Complex<f64>>::DTYPE))
    }
}
