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
use crate::call::factory;

/// # Other dtypes, devices and layouts
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
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_to<U: Element>(&self) -> Result<Tensor<D, U>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), U::DTYPE))
    }

    /// On a device; itself where it already is.
    ///
    /// # Errors
    /// When the device is not there, or its memory is short.
    #[twin]
    pub fn try_to_device(&self, device: Device) -> Result<Self> {
        Self::try_from_erased(factory::to_device(self.erased(), device))
    }

    /// On the CPU.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_cpu(&self) -> Result<Self> {
        self.try_to_device(Device::Cpu)
    }

    /// In row-major order without gaps; itself where it already is.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_contiguous(&self) -> Result<Self> {
        Self::try_from_erased(factory::contiguous(self.erased()))
    }

    /// Without gaps in a memory format; itself where it already is.
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
    /// When the format is for another number of dims, or memory is short.
    #[twin]
    pub fn try_contiguous_with(&self, format: MemoryFormat) -> Result<Self> {
        Self::try_from_erased(factory::contiguous_in(self.erased(), format))
    }

    /// A dense tensor of the same elements in a memory format; [`MemoryFormat::Preserve`] keeps the
    /// order of dims. Elements are shared where they lie so already.
    ///
    /// # Errors
    /// When the format is for another number of dims, or memory is short.
    #[twin]
    pub fn try_clone_with(&self, format: MemoryFormat) -> Result<Self> {
        Self::try_from_erased(factory::clone_in(self.erased(), format))
    }

    /// [`to`](Self::to) in a memory format; itself where dtype and format are these already.
    ///
    /// # Errors
    /// When the format is for another number of dims, or memory is short.
    #[twin]
    pub fn try_to_with<U: Element>(&self, format: MemoryFormat) -> Result<Tensor<D, U>> {
        Tensor::try_from_erased(factory::to_in(self.erased(), U::DTYPE, format))
    }
}

/// Conversions by PyTorch's names.
impl<D: Dims, T: Element> Tensor<D, T> {
    /// The elements as `bool`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_bool(&self) -> Result<Tensor<D, bool>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <bool>::DTYPE))
    }

    /// The elements as `u8`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_byte(&self) -> Result<Tensor<D, u8>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <u8>::DTYPE))
    }

    /// The elements as `i8`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_char(&self) -> Result<Tensor<D, i8>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <i8>::DTYPE))
    }

    /// The elements as `i16`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_short(&self) -> Result<Tensor<D, i16>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <i16>::DTYPE))
    }

    /// The elements as `i32`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_int(&self) -> Result<Tensor<D, i32>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <i32>::DTYPE))
    }

    /// The elements as `i64`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_long(&self) -> Result<Tensor<D, i64>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <i64>::DTYPE))
    }

    /// The elements as `f16`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_half(&self) -> Result<Tensor<D, f16>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <f16>::DTYPE))
    }

    /// The elements as `bf16`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_bfloat16(&self) -> Result<Tensor<D, bf16>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <bf16>::DTYPE))
    }

    /// The elements as `f32`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_float(&self) -> Result<Tensor<D, f32>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <f32>::DTYPE))
    }

    /// The elements as `f64`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_double(&self) -> Result<Tensor<D, f64>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <f64>::DTYPE))
    }

    /// The elements as `Complex<f32>`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_cfloat(&self) -> Result<Tensor<D, Complex<f32>>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <Complex<f32>>::DTYPE))
    }

    /// The elements as `Complex<f64>`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_cdouble(&self) -> Result<Tensor<D, Complex<f64>>> {
        Tensor::try_from_erased(factory::to_dtype(self.erased(), <Complex<f64>>::DTYPE))
    }
}
