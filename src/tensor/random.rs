//! Random fills.
//!
//! Every fill draws from the default generator, which [`manual_seed`](crate::manual_seed) seeds,
//! and has a form with `_from_` at the end of its name, which draws from a given generator.
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
use crate::erased::{OperandRef, random};

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
        self.as_operand()
    }
}

/// # Random numbers in place
#[parts]
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Fills the tensor with uniform random numbers from `from` to `to`, excluding `to`.
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
    /// If `from` is above `to`, or the dtype holds neither. Nothing is changed in that case.
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

    /// Fills the tensor with normally distributed random numbers; for a complex dtype, both parts
    /// have half the variance.
    ///
    /// # Errors
    /// If `std` is below zero. Nothing is changed in that case.
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

    /// Fills the tensor with random numbers whose logarithms are normally distributed with this
    /// mean and standard deviation.
    ///
    /// # Errors
    /// If `std` is not above zero. Nothing is changed in that case.
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

    /// Fills the tensor with exponentially distributed random numbers of rate `lambd`, never zero.
    ///
    /// # Errors
    /// If `lambd` is not above zero. Nothing is changed in that case.
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

    /// Fills the tensor with Cauchy-distributed random numbers.
    ///
    /// # Errors
    /// If `sigma` is not above zero. Nothing is changed in that case.
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

    /// Fills the tensor with geometrically distributed random numbers: trials up to the first
    /// success of probability `p`, at least 1.
    ///
    /// # Errors
    /// If `p` is not between 0 and 1. Nothing is changed in that case.
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

    /// Fills the tensor with random whole numbers in a range, by default up to the greatest number
    /// that the dtype holds exactly: `x.random_(0..5)`.
    ///
    /// # Errors
    /// If the range is empty, or the dtype does not hold it. Nothing is changed in that case.
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

    /// Fills the tensor with ones of a probability, a number or a tensor that broadcasts, and
    /// zeros.
    ///
    /// # Errors
    /// If a number is not a probability, or sizes do not match. Nothing is changed in that case.
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
