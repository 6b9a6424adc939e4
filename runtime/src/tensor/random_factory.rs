//! New tensors of random numbers.
//!
//! Every method that draws from the default generator has a form with `_from` in its name, whose
//! last argument is a generator.

use std::ops::RangeBounds;

use nomina_core::op::Op;
use nomina_core::{DType, Result};
use nomina_macros::forms;

use super::{DynTensor, IntoNames, Options, family};
use crate::call;
use crate::random::{Distribution, Generator, range_of, with_generator};
use crate::raw::Raw;

impl Options {
    /// Draws uniform random numbers between 0 and 1, excluding 1.
    ///
    /// # Errors
    /// If names do not fit the sizes, memory runs out, or the dtype is not a float.
    #[forms(from)]
    pub fn rand_from(
        self,
        size: &[usize],
        names: impl IntoNames,
        generator: Option<&mut Generator>,
    ) -> Result<DynTensor> {
        let (dtype, device) = (self.float(), self.place());
        self.build("rand", size, names, || {
            with_generator(generator, |g| call::rand(size, dtype, device, g))
        })
    }

    /// Draws random numbers from the standard normal distribution.
    ///
    /// # Errors
    /// If names do not fit the sizes, memory runs out, or the dtype is neither float nor complex.
    #[forms(from)]
    pub fn randn_from(
        self,
        size: &[usize],
        names: impl IntoNames,
        generator: Option<&mut Generator>,
    ) -> Result<DynTensor> {
        let (dtype, device) = (self.float(), self.place());
        self.build("randn", size, names, || {
            with_generator(generator, |g| call::randn(size, dtype, device, g))
        })
    }

    /// Draws normally distributed random numbers.
    ///
    /// # Errors
    /// Like [`Options::randn`]; also if `std` is below zero.
    #[forms(from)]
    pub fn normal_from(
        self,
        mean: f64,
        std: f64,
        size: &[usize],
        names: impl IntoNames,
        generator: Option<&mut Generator>,
    ) -> Result<DynTensor> {
        let (dtype, device) = (self.float(), self.place());
        self.build("normal", size, names, || {
            let what = Distribution::Normal { mean, std };
            with_generator(generator, |g| {
                call::sampled("normal", size, dtype, device, what, g)
            })
        })
    }

    /// Draws random whole numbers in a range, which must have an end; i64 by default.
    ///
    /// # Errors
    /// If names do not fit the sizes, memory runs out, or the dtype does not hold the range.
    #[forms(from)]
    pub fn randint_from(
        self,
        range: impl RangeBounds<i64>,
        size: &[usize],
        names: impl IntoNames,
        generator: Option<&mut Generator>,
    ) -> Result<DynTensor> {
        let (dtype, device) = (self.dtype.unwrap_or(DType::I64), self.place());
        let range = range_of("randint", &range, dtype)?;
        self.build("randint", size, names, || {
            with_generator(generator, |g| call::randint(size, range, dtype, device, g))
        })
    }

    /// Returns the numbers from 0 to `n`, excluding `n`, in random order; i64 by default.
    ///
    /// # Errors
    /// If memory runs out, or the dtype does not hold the numbers.
    #[forms(from)]
    pub fn randperm_from(
        self,
        n: usize,
        names: impl IntoNames,
        generator: Option<&mut Generator>,
    ) -> Result<DynTensor> {
        let (dtype, device) = (self.dtype.unwrap_or(DType::I64), self.place());
        self.build("randperm", &[n], names, || {
            with_generator(generator, |g| call::randperm(n, dtype, device, g))
        })
    }

    fn build(
        self,
        op: &'static str,
        size: &[usize],
        names: impl IntoNames,
        make: impl FnOnce() -> Result<Raw>,
    ) -> Result<DynTensor> {
        let names = names.into_names(op, size.len())?;
        let made = make().and_then(|raw| self.laid_out(op, raw));
        let raw = made.map_err(|e| {
            let e = e.in_op(op);
            if e.operands().is_empty() {
                e.operand(&names, size)
            } else {
                e.with_names([&names])
            }
        })?;
        Ok(DynTensor::new(raw, names))
    }
}

impl DynTensor {
    /// Draws uniform random numbers between 0 and 1, excluding 1.
    ///
    /// # Errors
    /// Like [`Options::rand`].
    pub fn rand(size: &[usize], names: impl IntoNames) -> Result<Self> {
        Self::options().rand(size, names)
    }

    /// Like [`DynTensor::rand`], but draws from a generator.
    ///
    /// # Errors
    /// Like [`Options::rand`].
    pub fn rand_from(
        size: &[usize],
        names: impl IntoNames,
        generator: &mut Generator,
    ) -> Result<Self> {
        Self::options().rand_from(size, names, generator)
    }

    /// Draws random numbers from the standard normal distribution.
    ///
    /// # Errors
    /// Like [`Options::randn`].
    pub fn randn(size: &[usize], names: impl IntoNames) -> Result<Self> {
        Self::options().randn(size, names)
    }

    /// Like [`DynTensor::randn`], but draws from a generator.
    ///
    /// # Errors
    /// Like [`Options::randn`].
    pub fn randn_from(
        size: &[usize],
        names: impl IntoNames,
        generator: &mut Generator,
    ) -> Result<Self> {
        Self::options().randn_from(size, names, generator)
    }

    /// Draws random whole numbers of i64 in a range, which must have an end.
    ///
    /// # Errors
    /// Like [`Options::randint`].
    pub fn randint(
        range: impl RangeBounds<i64>,
        size: &[usize],
        names: impl IntoNames,
    ) -> Result<Self> {
        Self::options().randint(range, size, names)
    }

    /// Like [`DynTensor::randint`], but draws from a generator.
    ///
    /// # Errors
    /// Like [`Options::randint`].
    pub fn randint_from(
        range: impl RangeBounds<i64>,
        size: &[usize],
        names: impl IntoNames,
        generator: &mut Generator,
    ) -> Result<Self> {
        Self::options().randint_from(range, size, names, generator)
    }

    /// Returns the numbers of i64 from 0 to `n`, excluding `n`, in random order.
    ///
    /// # Errors
    /// Like [`Options::randperm`].
    pub fn randperm(n: usize, names: impl IntoNames) -> Result<Self> {
        Self::options().randperm(n, names)
    }

    /// Like [`DynTensor::randperm`], but draws from a generator.
    ///
    /// # Errors
    /// Like [`Options::randperm`].
    pub fn randperm_from(
        n: usize,
        names: impl IntoNames,
        generator: &mut Generator,
    ) -> Result<Self> {
        Self::options().randperm_from(n, names, generator)
    }

    /// Draws uniform random numbers in the shape, names and dtype of `self`, from a generator.
    ///
    /// # Errors
    /// If memory runs out, or the dtype does not hold them.
    pub fn rand_like_from(&self, generator: &mut Generator) -> Result<Self> {
        Options::default().like_by(Op::RandLike, self, |dtype, device| {
            call::rand(self.shape(), dtype, device, generator)
        })
    }

    /// Draws normal random numbers in the shape, names and dtype of `self`, from a generator.
    ///
    /// # Errors
    /// If memory runs out, or the dtype does not hold them.
    pub fn randn_like_from(&self, generator: &mut Generator) -> Result<Self> {
        Options::default().like_by(Op::RandnLike, self, |dtype, device| {
            call::randn(self.shape(), dtype, device, generator)
        })
    }

    /// Like [`DynTensor::randint`], but writes to `out`, in its dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::randint`]; also if `out` has names and other sizes.
    pub fn randint_out(
        range: impl RangeBounds<i64>,
        size: &[usize],
        names: impl IntoNames,
        out: &mut Self,
    ) -> Result<()> {
        let made = Self::options()
            .dtype(out.dtype())
            .device(out.device())
            .randint(range, size, names)?;
        family::store(Op::Randint, made, out)
    }

    /// Like [`DynTensor::randperm`], but writes to `out`, in its dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::randperm`]; also if `out` has names and other sizes.
    pub fn randperm_out(n: usize, names: impl IntoNames, out: &mut Self) -> Result<()> {
        let made = Self::options()
            .dtype(out.dtype())
            .device(out.device())
            .randperm(n, names)?;
        family::store(Op::Randperm, made, out)
    }

    /// Draws random whole numbers of a range in the shape, names and dtype of `self`.
    ///
    /// # Errors
    /// If memory runs out, or the dtype does not hold the range.
    #[forms(with = "but in the given dtype and on the given device.")]
    pub fn randint_like_with(
        &self,
        range: impl RangeBounds<i64>,
        options: Options,
    ) -> Result<Self> {
        self.randint_like_by(range, options, None)
    }

    /// Like [`DynTensor::randint_like`], but draws from a generator.
    ///
    /// # Errors
    /// Like [`DynTensor::randint_like`].
    pub fn randint_like_from(
        &self,
        range: impl RangeBounds<i64>,
        generator: &mut Generator,
    ) -> Result<Self> {
        self.randint_like_by(range, Options::default(), Some(generator))
    }

    fn randint_like_by(
        &self,
        range: impl RangeBounds<i64>,
        options: Options,
        generator: Option<&mut Generator>,
    ) -> Result<Self> {
        options.like_by(Op::RandintLike, self, |dtype, device| {
            let range = range_of("randint_like", &range, dtype)?;
            with_generator(generator, |g| {
                call::randint(self.shape(), range, dtype, device, g)
            })
        })
    }
}
