//! Other dtypes, devices and layouts.
//!
//! [`Tensor::to`], [`Tensor::to_device`], [`Tensor::cpu`], [`Tensor::contiguous`],
//! [`Tensor::clone_with`], [`Tensor::bool`], [`Tensor::byte`], [`Tensor::char`], [`Tensor::short`],
//! [`Tensor::int`], [`Tensor::long`], [`Tensor::half`], [`Tensor::bfloat16`], [`Tensor::float`],
//! [`Tensor::double`], [`Tensor::cfloat`], [`Tensor::cdouble`].

use half::{bf16, f16};
use nomina_core::dims::Dims;
use nomina_core::{Element, MemoryFormat, Result};
use nomina_runtime::Device;
use num_complex::Complex;

use super::Tensor;
use crate::call::{done, factory};

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

    /// [`contiguous`](Self::contiguous) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_contiguous(&self) -> Result<Self> {
        Self::give(factory::contiguous(self.look()))
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
    /// # Panics
    /// When the format is for another number of dims, or memory is short.
    #[track_caller]
    #[must_use]
    pub fn contiguous_with(&self, format: MemoryFormat) -> Self {
        Self::wrap(done(factory::contiguous_in(self.look(), format)))
    }

    /// [`contiguous_with`](Self::contiguous_with) that returns the error.
    ///
    /// # Errors
    /// When the format is for another number of dims, or memory is short.
    pub fn try_contiguous_with(&self, format: MemoryFormat) -> Result<Self> {
        Self::give(factory::contiguous_in(self.look(), format))
    }

    /// A dense tensor of the same elements in a memory format; [`MemoryFormat::Preserve`] keeps the
    /// order of dims. Elements are shared where they lie so already.
    ///
    /// # Panics
    /// When the format is for another number of dims, or memory is short.
    #[track_caller]
    #[must_use]
    pub fn clone_with(&self, format: MemoryFormat) -> Self {
        Self::wrap(done(factory::clone_in(self.look(), format)))
    }

    /// [`clone_with`](Self::clone_with) that returns the error.
    ///
    /// # Errors
    /// When the format is for another number of dims, or memory is short.
    pub fn try_clone_with(&self, format: MemoryFormat) -> Result<Self> {
        Self::give(factory::clone_in(self.look(), format))
    }

    /// [`to`](Self::to) in a memory format; itself where dtype and format are these already.
    ///
    /// # Panics
    /// When the format is for another number of dims, or memory is short.
    #[track_caller]
    #[must_use]
    pub fn to_with<U: Element>(&self, format: MemoryFormat) -> Tensor<D, U> {
        Tensor::wrap(done(factory::to_in(self.look(), U::DTYPE, format)))
    }

    /// [`to_with`](Self::to_with) that returns the error.
    ///
    /// # Errors
    /// When the format is for another number of dims, or memory is short.
    pub fn try_to_with<U: Element>(&self, format: MemoryFormat) -> Result<Tensor<D, U>> {
        Tensor::give(factory::to_in(self.look(), U::DTYPE, format))
    }
}

/// Conversions by PyTorch's names.
impl<D: Dims, T: Element> Tensor<D, T> {
    /// The elements as `bool`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn bool(&self) -> Tensor<D, bool> {
        Tensor::wrap(done(factory::to_dtype(self.look(), <bool>::DTYPE)))
    }

    /// [`bool`](Self::bool) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_bool(&self) -> Result<Tensor<D, bool>> {
        self.try_to()
    }

    /// The elements as `u8`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn byte(&self) -> Tensor<D, u8> {
        Tensor::wrap(done(factory::to_dtype(self.look(), <u8>::DTYPE)))
    }

    /// [`byte`](Self::byte) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_byte(&self) -> Result<Tensor<D, u8>> {
        self.try_to()
    }

    /// The elements as `i8`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn char(&self) -> Tensor<D, i8> {
        Tensor::wrap(done(factory::to_dtype(self.look(), <i8>::DTYPE)))
    }

    /// [`char`](Self::char) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_char(&self) -> Result<Tensor<D, i8>> {
        self.try_to()
    }

    /// The elements as `i16`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn short(&self) -> Tensor<D, i16> {
        Tensor::wrap(done(factory::to_dtype(self.look(), <i16>::DTYPE)))
    }

    /// [`short`](Self::short) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_short(&self) -> Result<Tensor<D, i16>> {
        self.try_to()
    }

    /// The elements as `i32`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn int(&self) -> Tensor<D, i32> {
        Tensor::wrap(done(factory::to_dtype(self.look(), <i32>::DTYPE)))
    }

    /// [`int`](Self::int) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_int(&self) -> Result<Tensor<D, i32>> {
        self.try_to()
    }

    /// The elements as `i64`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn long(&self) -> Tensor<D, i64> {
        Tensor::wrap(done(factory::to_dtype(self.look(), <i64>::DTYPE)))
    }

    /// [`long`](Self::long) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_long(&self) -> Result<Tensor<D, i64>> {
        self.try_to()
    }

    /// The elements as `f16`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn half(&self) -> Tensor<D, f16> {
        Tensor::wrap(done(factory::to_dtype(self.look(), <f16>::DTYPE)))
    }

    /// [`half`](Self::half) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_half(&self) -> Result<Tensor<D, f16>> {
        self.try_to()
    }

    /// The elements as `bf16`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn bfloat16(&self) -> Tensor<D, bf16> {
        Tensor::wrap(done(factory::to_dtype(self.look(), <bf16>::DTYPE)))
    }

    /// [`bfloat16`](Self::bfloat16) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_bfloat16(&self) -> Result<Tensor<D, bf16>> {
        self.try_to()
    }

    /// The elements as `f32`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn float(&self) -> Tensor<D, f32> {
        Tensor::wrap(done(factory::to_dtype(self.look(), <f32>::DTYPE)))
    }

    /// [`float`](Self::float) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_float(&self) -> Result<Tensor<D, f32>> {
        self.try_to()
    }

    /// The elements as `f64`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn double(&self) -> Tensor<D, f64> {
        Tensor::wrap(done(factory::to_dtype(self.look(), <f64>::DTYPE)))
    }

    /// [`double`](Self::double) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_double(&self) -> Result<Tensor<D, f64>> {
        self.try_to()
    }

    /// The elements as `Complex<f32>`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn cfloat(&self) -> Tensor<D, Complex<f32>> {
        Tensor::wrap(done(factory::to_dtype(self.look(), <Complex<f32>>::DTYPE)))
    }

    /// [`cfloat`](Self::cfloat) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_cfloat(&self) -> Result<Tensor<D, Complex<f32>>> {
        self.try_to()
    }

    /// The elements as `Complex<f64>`: [`to`](Self::to) by PyTorch's name.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    #[must_use]
    pub fn cdouble(&self) -> Tensor<D, Complex<f64>> {
        Tensor::wrap(done(factory::to_dtype(self.look(), <Complex<f64>>::DTYPE)))
    }

    /// [`cdouble`](Self::cdouble) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_cdouble(&self) -> Result<Tensor<D, Complex<f64>>> {
        self.try_to()
    }
}
