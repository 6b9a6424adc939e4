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
use crate::call::Known;
use crate::call::factory::{self, Fill, Place};

/// How a factory makes its tensor: dtype, device, order in memory, random numbers.
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
    place: Place,
    pub(super) generator: Option<&'g mut Generator>,
    types: PhantomData<fn() -> (D, T)>,
}

impl<D: Dims> Tensor<D> {
    /// Options for a factory: `f32`, row-major, on the CPU, unless they say otherwise.
    pub fn options<'g>() -> Options<'g, D> {
        Options {
            place: Place::of::<f32>(),
            generator: None,
            types: PhantomData,
        }
    }
}

impl<'g, D: Dims, T: Element> Options<'g, D, T> {
    /// With elements of type `U`.
    pub fn dtype<U: Element>(self) -> Options<'g, D, U> {
        let place = Place {
            dtype: U::DTYPE,
            ..self.place
        };
        Options {
            place,
            generator: self.generator,
            types: PhantomData,
        }
    }

    /// On a device.
    pub fn device(mut self, device: Device) -> Self {
        self.place.device = device;
        self
    }

    /// In an order in memory. [`MemoryFormat::ChannelsLast`] is for 4 dims,
    /// [`MemoryFormat::ChannelsLast3d`] for 5, by position.
    pub fn memory_format(mut self, format: MemoryFormat) -> Self {
        self.place.format = Some(format);
        self
    }

    /// With random numbers of a generator, instead of the default one's.
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
        Tensor::try_from_erased(factory::new(op, shape, D::STATIC, fill, self.place))
    }

    /// As [`Tensor::zeros`].
    ///
    /// # Errors
    /// Sizes that the dims cannot have, too little memory, a device that is not there.
    #[twin]
    pub fn try_zeros<S: ShapeFor<D>>(self, shape: S) -> Result<Tensor<D, T>>
    where
        D: Distinct,
    {
        self.make("zeros", &shape.sizes(), Fill::Zeros)
    }

    /// As [`Tensor::ones`].
    ///
    /// # Errors
    /// Sizes that the dims cannot have, too little memory, a device that is not there.
    #[twin]
    pub fn try_ones<S: ShapeFor<D>>(self, shape: S) -> Result<Tensor<D, T>>
    where
        D: Distinct,
    {
        self.make("ones", &shape.sizes(), Fill::Number(1.into()))
    }

    /// As [`Tensor::full`]; the value is converted to the options' dtype.
    ///
    /// # Errors
    /// Sizes that the dims cannot have, too little memory, a device that is not there.
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

    /// As [`Tensor::empty`].
    ///
    /// # Errors
    /// Sizes that the dims cannot have, too little memory, a device that is not there.
    #[twin]
    pub fn try_empty<S: ShapeFor<D>>(self, shape: S) -> Result<Tensor<D, T>>
    where
        D: Distinct,
    {
        self.make("empty", &shape.sizes(), Fill::Zeros)
    }

    /// As [`Tensor::eye`].
    ///
    /// # Errors
    /// Sizes that the dims cannot have, too little memory, a device that is not there.
    #[twin]
    pub fn try_eye<S: ShapeFor<D>>(self, shape: S) -> Result<Tensor<D, T>>
    where
        D: Distinct + Matrix,
    {
        self.make("eye", &shape.sizes(), Fill::Diagonal)
    }

    /// As [`Tensor::rand`].
    ///
    /// # Errors
    /// Sizes that the dims cannot have, too little memory, a device that is not there.
    #[twin]
    pub fn try_rand<S: ShapeFor<D>>(mut self, shape: S) -> Result<Tensor<D, T>>
    where
        D: Distinct,
        T: nomina_core::Float,
    {
        let generator = self.generator.take();
        self.make("rand", &shape.sizes(), Fill::Uniform(generator))
    }

    /// As [`Tensor::randn`].
    ///
    /// # Errors
    /// Sizes that the dims cannot have, too little memory, a device that is not there.
    #[twin]
    pub fn try_randn<S: ShapeFor<D>>(mut self, shape: S) -> Result<Tensor<D, T>>
    where
        D: Distinct,
        T: Inexact,
    {
        let generator = self.generator.take();
        self.make("randn", &shape.sizes(), Fill::Normal(generator))
    }

    /// As [`Tensor::arange`].
    ///
    /// # Errors
    /// When `step` is zero or leads away from `end`; a device that is not there.
    #[twin]
    pub fn try_arange<B: Bound<T>>(self, start: B, end: B, step: B) -> Result<Tensor<D, T>>
    where
        D: Distinct + Vector,
    {
        let [start, end, step] = [start, end, step].map(B::scalar);
        let raw = call::arange(start, end, step, T::DTYPE, self.place.device);
        Tensor::try_from_erased(raw.and_then(|raw| factory::from_raw(raw, D::STATIC, "arange")))
    }

    /// As [`Tensor::linspace`].
    ///
    /// # Errors
    /// When the dim has another constant size, memory is missing, or the device is not there.
    #[twin]
    pub fn try_linspace(self, start: T, end: T, steps: usize) -> Result<Tensor<D, T>>
    where
        D: Distinct + Vector,
    {
        let [start, end] = [start, end].map(T::to_scalar);
        let raw = call::linspace(start, end, steps, T::DTYPE, self.place.device);
        Tensor::try_from_erased(raw.and_then(|raw| factory::from_raw(raw, D::STATIC, "linspace")))
    }
}
