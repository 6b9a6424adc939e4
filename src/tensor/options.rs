//! Factories with options.
//!
//! [`Tensor::options`].

use std::marker::PhantomData;

use nomina_core::dims::{Dims, Distinct, Matrix, ShapeFor, Vector};
use nomina_core::{Element, Inexact, MemoryFormat, Result};
use nomina_macros::twin;
use nomina_runtime::random::Generator;
use nomina_runtime::{Device, call};

use super::Tensor;
use super::factory::Bound;
use crate::erased::Known;
use crate::erased::factory::{self, Fill, TensorOptions};

/// The options of a factory: dtype, device, memory order, random numbers.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N, C }
/// let x = Tensor::<(N, C)>::options().dtype::<f64>().device(Device::Cpu).ones([2, 3]);
/// assert_eq!(x.dtype(), DType::F64);
/// ```
#[derive(Debug)]
#[must_use = "options make a tensor only when a factory is called on them"]
pub struct Options<'g, D: Dims, T: Element = f32> {
    options: TensorOptions,
    pub(super) generator: Option<&'g mut Generator>,
    types: PhantomData<fn() -> (D, T)>,
}

impl<D: Dims> Tensor<D> {
    /// Returns the default options of a factory: `f32`, row-major, on the CPU.
    pub fn options<'g>() -> Options<'g, D> {
        Options {
            options: TensorOptions::on_cpu::<f32>(),
            generator: None,
            types: PhantomData,
        }
    }
}

impl<'g, D: Dims, T: Element> Options<'g, D, T> {
    /// Sets the element type to `U`.
    pub fn dtype<U: Element>(self) -> Options<'g, D, U> {
        let options = TensorOptions {
            dtype: U::DTYPE,
            ..self.options
        };
        Options {
            options,
            generator: self.generator,
            types: PhantomData,
        }
    }

    /// Sets the device.
    pub fn device(mut self, device: Device) -> Self {
        self.options.device = device;
        self
    }

    /// Sets the memory order. [`MemoryFormat::ChannelsLast`] is for 4 dims,
    /// [`MemoryFormat::ChannelsLast3d`] for 5, by position.
    pub fn memory_format(mut self, format: MemoryFormat) -> Self {
        self.options.format = Some(format);
        self
    }

    /// Draws random numbers from a generator instead of the default one.
    pub fn generator(mut self, generator: &'g mut Generator) -> Self {
        self.generator = Some(generator);
        self
    }

    #[cfg_attr(debug_assertions, track_caller)]
    pub(super) fn make(
        self,
        op: &'static str,
        shape: &[usize],
        fill: Fill<'_>,
    ) -> Result<Tensor<D, T>> {
        Tensor::try_from_erased(factory::new(op, shape, D::STATIC, fill, self.options))
    }

    /// Like [`Tensor::zeros`], with these options.
    ///
    /// # Errors
    /// If the dims cannot have the sizes, memory runs out, or the device does not exist.
    #[twin]
    pub fn try_zeros<S: ShapeFor<D>>(self, shape: S) -> Result<Tensor<D, T>>
    where
        D: Distinct,
    {
        self.make("zeros", &shape.sizes(), Fill::Zeros)
    }

    /// Like [`Tensor::ones`], with these options.
    ///
    /// # Errors
    /// If the dims cannot have the sizes, memory runs out, or the device does not exist.
    #[twin]
    pub fn try_ones<S: ShapeFor<D>>(self, shape: S) -> Result<Tensor<D, T>>
    where
        D: Distinct,
    {
        self.make("ones", &shape.sizes(), Fill::Number(1.into()))
    }

    /// Like [`Tensor::full`], with these options; converts the value to their dtype.
    ///
    /// # Errors
    /// If the dims cannot have the sizes, memory runs out, or the device does not exist.
    #[twin]
    pub fn try_full<S: ShapeFor<D>>(
        self,
        shape: S,
        value: impl Into<crate::Scalar>,
    ) -> Result<Tensor<D, T>>
    where
        D: Distinct,
    {
        self.make("full", &shape.sizes(), Fill::Number(value.into()))
    }

    /// Like [`Tensor::empty`], with these options.
    ///
    /// # Errors
    /// If the dims cannot have the sizes, memory runs out, or the device does not exist.
    #[twin]
    pub fn try_empty<S: ShapeFor<D>>(self, shape: S) -> Result<Tensor<D, T>>
    where
        D: Distinct,
    {
        self.make("empty", &shape.sizes(), Fill::Zeros)
    }

    /// Like [`Tensor::eye`], with these options.
    ///
    /// # Errors
    /// If the dims cannot have the sizes, memory runs out, or the device does not exist.
    #[twin]
    pub fn try_eye<S: ShapeFor<D>>(self, shape: S) -> Result<Tensor<D, T>>
    where
        D: Distinct + Matrix,
    {
        self.make("eye", &shape.sizes(), Fill::Diagonal)
    }

    /// Like [`Tensor::rand`], with these options.
    ///
    /// # Errors
    /// If the dims cannot have the sizes, memory runs out, or the device does not exist.
    #[twin]
    pub fn try_rand<S: ShapeFor<D>>(mut self, shape: S) -> Result<Tensor<D, T>>
    where
        D: Distinct,
        T: nomina_core::Float,
    {
        let generator = self.generator.take();
        self.make("rand", &shape.sizes(), Fill::Uniform(generator))
    }

    /// Like [`Tensor::randn`], with these options.
    ///
    /// # Errors
    /// If the dims cannot have the sizes, memory runs out, or the device does not exist.
    #[twin]
    pub fn try_randn<S: ShapeFor<D>>(mut self, shape: S) -> Result<Tensor<D, T>>
    where
        D: Distinct,
        T: Inexact,
    {
        let generator = self.generator.take();
        self.make("randn", &shape.sizes(), Fill::Normal(generator))
    }

    /// Like [`Tensor::arange`], with these options.
    ///
    /// # Errors
    /// If `step` is zero or leads away from `end`, or the device does not exist.
    #[twin]
    pub fn try_arange<B: Bound<T>>(self, start: B, end: B, step: B) -> Result<Tensor<D, T>>
    where
        D: Distinct + Vector,
    {
        let [start, end, step] = [start, end, step].map(B::scalar);
        let raw = call::arange(start, end, step, T::DTYPE, self.options.device);
        Tensor::try_from_erased(raw.and_then(|raw| factory::from_raw(raw, D::STATIC, "arange")))
    }

    /// Like [`Tensor::linspace`], with these options.
    ///
    /// # Errors
    /// If the dim has another constant size, memory runs out, or the device does not exist.
    #[twin]
    pub fn try_linspace(self, start: T, end: T, steps: usize) -> Result<Tensor<D, T>>
    where
        D: Distinct + Vector,
    {
        let [start, end] = [start, end].map(T::to_scalar);
        let raw = call::linspace(start, end, steps, T::DTYPE, self.options.device);
        Tensor::try_from_erased(raw.and_then(|raw| factory::from_raw(raw, D::STATIC, "linspace")))
    }
}
