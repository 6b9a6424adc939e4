//! Random fills from a generator.
//!
//! [`Tensor::uniform_from_`], [`Tensor::normal_from_`], [`Tensor::log_normal_from_`],
//! [`Tensor::exponential_from_`], [`Tensor::cauchy_from_`], [`Tensor::geometric_from_`],
//! [`Tensor::random_from_`], [`Tensor::bernoulli_from_`].

use std::ops::RangeBounds;

use nomina_core::dims::Dims;
use nomina_core::op::Op;
use nomina_core::{Element, Float, Inexact, Numeric, Real, Result};
use nomina_macros::twin;
use nomina_runtime::Generator;
use nomina_runtime::random::{Distribution, range_of};

use super::Tensor;
use super::random::Probability;
use crate::call::random;

impl<D: Dims, T: Element> Tensor<D, T> {
    /// [`uniform_`](Self::uniform_) from a generator.
    ///
    /// # Errors
    /// When `from` is above `to`, or the dtype holds neither; then nothing has changed.
    #[twin]
    pub fn try_uniform_from_(
        &mut self,
        from: f64,
        to: f64,
        generator: &mut Generator,
    ) -> Result<&mut Self>
    where
        T: Float,
    {
        random::fill(
            Op::Uniform,
            self.dest(),
            Distribution::Uniform { from, to },
            Some(generator),
        )?;
        Ok(self)
    }

    /// [`normal_`](Self::normal_) from a generator.
    ///
    /// # Errors
    /// When `std` is below zero; then nothing has changed.
    #[twin]
    pub fn try_normal_from_(
        &mut self,
        mean: f64,
        std: f64,
        generator: &mut Generator,
    ) -> Result<&mut Self>
    where
        T: Inexact,
    {
        random::fill(
            Op::NormalInPlace,
            self.dest(),
            Distribution::Normal { mean, std },
            Some(generator),
        )?;
        Ok(self)
    }

    /// [`log_normal_`](Self::log_normal_) from a generator.
    ///
    /// # Errors
    /// When `std` is not above zero; then nothing has changed.
    #[twin]
    pub fn try_log_normal_from_(
        &mut self,
        mean: f64,
        std: f64,
        generator: &mut Generator,
    ) -> Result<&mut Self>
    where
        T: Float,
    {
        random::fill(
            Op::LogNormal,
            self.dest(),
            Distribution::LogNormal { mean, std },
            Some(generator),
        )?;
        Ok(self)
    }

    /// [`exponential_`](Self::exponential_) from a generator.
    ///
    /// # Errors
    /// When `lambd` is not above zero; then nothing has changed.
    #[twin]
    pub fn try_exponential_from_(
        &mut self,
        lambd: f64,
        generator: &mut Generator,
    ) -> Result<&mut Self>
    where
        T: Float,
    {
        random::fill(
            Op::Exponential,
            self.dest(),
            Distribution::Exponential { lambd },
            Some(generator),
        )?;
        Ok(self)
    }

    /// [`cauchy_`](Self::cauchy_) from a generator.
    ///
    /// # Errors
    /// When `sigma` is not above zero; then nothing has changed.
    #[twin]
    pub fn try_cauchy_from_(
        &mut self,
        median: f64,
        sigma: f64,
        generator: &mut Generator,
    ) -> Result<&mut Self>
    where
        T: Float,
    {
        random::fill(
            Op::Cauchy,
            self.dest(),
            Distribution::Cauchy { median, sigma },
            Some(generator),
        )?;
        Ok(self)
    }

    /// [`geometric_`](Self::geometric_) from a generator.
    ///
    /// # Errors
    /// When `p` is not between 0 and 1; then nothing has changed.
    #[twin]
    pub fn try_geometric_from_(&mut self, p: f64, generator: &mut Generator) -> Result<&mut Self>
    where
        T: Real + Numeric,
    {
        random::fill(
            Op::Geometric,
            self.dest(),
            Distribution::Geometric { p },
            Some(generator),
        )?;
        Ok(self)
    }

    /// [`random_`](Self::random_) from a generator.
    ///
    /// # Errors
    /// When the range is empty, or the dtype does not hold it; then nothing has changed.
    #[twin]
    pub fn try_random_from_(
        &mut self,
        range: impl RangeBounds<i64>,
        generator: &mut Generator,
    ) -> Result<&mut Self>
    where
        T: Real,
    {
        range_of("random", &range, T::DTYPE).and_then(|(low, high)| {
            random::fill(
                Op::Random,
                self.dest(),
                Distribution::Integers { low, high },
                Some(generator),
            )
        })?;
        Ok(self)
    }

    /// [`bernoulli_`](Self::bernoulli_) from a generator.
    ///
    /// # Errors
    /// When a number is no probability, or sizes do not fit; then nothing has changed.
    #[twin]
    pub fn try_bernoulli_from_(
        &mut self,
        p: impl Probability<D>,
        generator: &mut Generator,
    ) -> Result<&mut Self>
    where
        T: Real,
    {
        random::bernoulli_(self.dest(), p.probability(), Some(generator))?;
        Ok(self)
    }
}
