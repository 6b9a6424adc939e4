//! Random fills.
//!
//! Every fill draws from the default generator, which [`manual_seed`](crate::manual_seed) seeds,
//! and has a twin with `_from_` at its end that draws from a given generator.
//!
//! [`Tensor::uniform_`], [`Tensor::normal_`], [`Tensor::log_normal_`], [`Tensor::exponential_`],
//! [`Tensor::cauchy_`], [`Tensor::geometric_`], [`Tensor::random_`], [`Tensor::bernoulli_`];
//! [`Tensor::uniform_from_`], [`Tensor::normal_from_`], [`Tensor::log_normal_from_`],
//! [`Tensor::exponential_from_`], [`Tensor::cauchy_from_`], [`Tensor::geometric_from_`],
//! [`Tensor::random_from_`], [`Tensor::bernoulli_from_`].

use std::ops::RangeBounds;

use nomina_core::dims::{BroadcastWith, Dims, HoldsInPlace, Sum};
use nomina_core::op::Op;
use nomina_core::{Element, Float, Inexact, Numeric, Real, Result};
use nomina_macros::{parts, twin};
use nomina_runtime::random::{Distribution, Generator, range_of};

use super::{Tensor, TensorMut};
use crate::call::{OperandRef, random};

/// A probability for [`Tensor::bernoulli_`]: a number, or a tensor that broadcasts to dims `D`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no probability for dims {D}",
    label = "expected a float, or a tensor of floats whose dims broadcast to dims {D}"
)]
pub trait Probability<D> {
    #[doc(hidden)]
    fn probability(&self) -> OperandRef<'_>;
}

#[diagnostic::do_not_recommend]
impl<D> Probability<D> for f64 {
    fn probability(&self) -> OperandRef<'_> {
        OperandRef::Scalar((*self).into())
    }
}

#[diagnostic::do_not_recommend]
impl<D> Probability<D> for f32 {
    fn probability(&self) -> OperandRef<'_> {
        OperandRef::Scalar((*self).into())
    }
}

#[diagnostic::do_not_recommend]
impl<D, E, U> Probability<D> for &Tensor<E, U>
where
    D: Dims + BroadcastWith<E> + HoldsInPlace<Sum<D, E>>,
    E: Dims,
    U: Float,
{
    fn probability(&self) -> OperandRef<'_> {
        self.side()
    }
}

/// # Random numbers in place
#[parts]
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Random numbers, uniform from `from` to before `to`.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let mut x = Tensor::<(N, C)>::zeros([2, 3]);
    /// x.uniform_(-1.0, 1.0);
    /// let mut generator = Generator::new(7);
    /// x.uniform_from_(-1.0, 1.0, &mut generator).normal_from_(0.0, 1.0, &mut generator);
    /// ```
    ///
    /// # Errors
    /// When `from` is above `to`, or the dtype holds neither; then nothing has changed.
    #[twin(from)]
    pub fn try_uniform_from_(
        &mut self,
        from: f64,
        to: f64,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self>
    where
        T: Float,
    {
        random::fill(
            Op::Uniform,
            self.dest(),
            Distribution::Uniform { from, to },
            generator,
        )?;
        Ok(self)
    }

    /// Random numbers of a normal distribution; of a complex dtype, both parts with half the variance.
    ///
    /// # Errors
    /// When `std` is below zero; then nothing has changed.
    #[twin(from)]
    pub fn try_normal_from_(
        &mut self,
        mean: f64,
        std: f64,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self>
    where
        T: Inexact,
    {
        random::fill(
            Op::NormalInPlace,
            self.dest(),
            Distribution::Normal { mean, std },
            generator,
        )?;
        Ok(self)
    }

    /// Random numbers whose logarithms are normal, with this mean and standard deviation.
    ///
    /// # Errors
    /// When `std` is not above zero; then nothing has changed.
    #[twin(from)]
    pub fn try_log_normal_from_(
        &mut self,
        mean: f64,
        std: f64,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self>
    where
        T: Float,
    {
        random::fill(
            Op::LogNormal,
            self.dest(),
            Distribution::LogNormal { mean, std },
            generator,
        )?;
        Ok(self)
    }

    /// Random waiting times for what happens `lambd` times per unit of time; never zero.
    ///
    /// # Errors
    /// When `lambd` is not above zero; then nothing has changed.
    #[twin(from)]
    pub fn try_exponential_from_(
        &mut self,
        lambd: f64,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self>
    where
        T: Float,
    {
        random::fill(
            Op::Exponential,
            self.dest(),
            Distribution::Exponential { lambd },
            generator,
        )?;
        Ok(self)
    }

    /// Random numbers of a Cauchy distribution.
    ///
    /// # Errors
    /// When `sigma` is not above zero; then nothing has changed.
    #[twin(from)]
    pub fn try_cauchy_from_(
        &mut self,
        median: f64,
        sigma: f64,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self>
    where
        T: Float,
    {
        random::fill(
            Op::Cauchy,
            self.dest(),
            Distribution::Cauchy { median, sigma },
            generator,
        )?;
        Ok(self)
    }

    /// How many tries it takes until one of probability `p` succeeds; 1 at the least.
    ///
    /// # Errors
    /// When `p` is not between 0 and 1; then nothing has changed.
    #[twin(from)]
    pub fn try_geometric_from_(
        &mut self,
        p: f64,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self>
    where
        T: Real + Numeric,
    {
        random::fill(
            Op::Geometric,
            self.dest(),
            Distribution::Geometric { p },
            generator,
        )?;
        Ok(self)
    }

    /// Random whole numbers in a range; without an end, up to what the dtype holds, of floats with
    /// all digits: `x.random_(0..5)`.
    ///
    /// # Errors
    /// When the range is empty, or the dtype does not hold it; then nothing has changed.
    #[twin(from)]
    pub fn try_random_from_(
        &mut self,
        range: impl RangeBounds<i64>,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self>
    where
        T: Real,
    {
        range_of("random", &range, T::DTYPE).and_then(|(low, high)| {
            random::fill(
                Op::Random,
                self.dest(),
                Distribution::Integers { low, high },
                generator,
            )
        })?;
        Ok(self)
    }

    /// Ones with a probability, a number or a tensor that broadcasts, else zeros.
    ///
    /// # Errors
    /// When a number is no probability, or sizes do not fit; then nothing has changed.
    #[twin(from)]
    // On one line, because rustc quotes it in errors.
    #[rustfmt::skip]
    pub fn try_bernoulli_from_(&mut self, p: impl Probability<D>, generator: Option<&mut Generator>) -> Result<&mut Self>
    where
        T: Real,
    {
        random::bernoulli_(self.dest(), p.probability(), generator)?;
        Ok(self)
    }
}
