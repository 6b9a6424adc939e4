//! Random samples: new tensors whose elements are drawn from individual distributions.

use nomina_core::op::Op;
use nomina_core::rule::DimRef;
use nomina_core::{Names, Result};
use nomina_macros::forms;

use super::{DynTensor, Operand, about, family};
use crate::call;
use crate::random::{Generator, with_generator};

/// Options of `multinomial_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MultinomialOptions {
    /// Whether an index may be drawn more than once.
    pub replacement: bool,
}

impl DynTensor {
    /// Draws ones with the elements of `self` as probabilities, and zeros otherwise.
    ///
    /// # Errors
    /// `ErrorKind::DType` if the dtype of `self` is not a float, `ErrorKind::Argument` if an
    /// element is not a probability.
    #[forms(from, out)]
    pub fn bernoulli_from(&self, generator: Option<&mut Generator>) -> Result<Self> {
        let raw = with_generator(generator, |g| call::bernoulli(&self.raw, g));
        Ok(Self::new(
            raw.map_err(|e| about(e, &[self]))?,
            self.names.clone(),
        ))
    }

    /// Draws Poisson-distributed random numbers with the elements of `self` as rates.
    ///
    /// # Errors
    /// `ErrorKind::DType` if the dtype of `self` is not a float, `ErrorKind::Argument` if a rate is
    /// below zero.
    #[forms(from)]
    pub fn poisson_from(&self, generator: Option<&mut Generator>) -> Result<Self> {
        let raw = with_generator(generator, |g| call::poisson(&self.raw, g));
        Ok(Self::new(
            raw.map_err(|e| about(e, &[self]))?,
            self.names.clone(),
        ))
    }

    /// Draws normally distributed random numbers, each with its own mean and standard deviation:
    /// tensors whose names unify, or a number and a tensor. The dtype is that of the first tensor.
    ///
    /// # Errors
    /// If both are numbers, names do not unify, sizes do not broadcast, a dtype is not a float, or
    /// a standard deviation is below zero.
    #[forms(from, out)]
    pub fn normal_from<'a>(
        mean: impl Into<Operand<'a>>,
        std: impl Into<Operand<'a>>,
        generator: Option<&mut Generator>,
    ) -> Result<Self> {
        let (mean, std) = (mean.into(), std.into());
        let all = family::tensors(&[mean, std]);
        let names = match &all[..] {
            // Refused below, with a suggestion.
            [] => Names::default(),
            all => family::unified(Op::Normal, all)?,
        };
        let raw = with_generator(generator, |g| call::normal(mean.arg(), std.arg(), g));
        Ok(Self::new(raw.map_err(|e| about(e, &all))?, names))
    }

    /// Draws `num_samples` distinct indices along a dim with the elements of `self` as weights. The
    /// dim then has the size `num_samples`, and the elements are i64.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let weights = DynTensor::from_vec(vec![0.0f32, 3.0, 0.0, 1.0], &[1, 4], ["N", "C"])?;
    /// let places = weights.multinomial(2, "C")?;
    /// assert_eq!(places.sum("C")?.to_vec::<i64>()?, [1 + 3]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dim does not exist, weights are not floats of at least 0, or too few are above 0.
    #[forms(with = "but with options.")]
    pub fn multinomial_with<'a>(
        &self,
        num_samples: usize,
        dim: impl Into<DimRef<'a>>,
        options: MultinomialOptions,
    ) -> Result<Self> {
        self.multinomial_by(num_samples, dim.into(), options, None)
    }

    /// Like [`DynTensor::multinomial_with`], but draws from a generator.
    ///
    /// # Errors
    /// Like [`DynTensor::multinomial`].
    pub fn multinomial_from<'a>(
        &self,
        num_samples: usize,
        dim: impl Into<DimRef<'a>>,
        options: MultinomialOptions,
        generator: &mut Generator,
    ) -> Result<Self> {
        self.multinomial_by(num_samples, dim.into(), options, Some(generator))
    }

    fn multinomial_by(
        &self,
        samples: usize,
        dim: DimRef<'_>,
        options: MultinomialOptions,
        generator: Option<&mut Generator>,
    ) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let dim = dim.position("multinomial", &self.names).map_err(fail)?;
        let raw = with_generator(generator, |g| {
            call::multinomial(&self.raw, dim, samples, options.replacement, g)
        });
        Ok(Self::new(raw.map_err(fail)?, self.names.clone()))
    }

    /// Like [`DynTensor::multinomial_with`], but writes to `out`.
    ///
    /// # Errors
    /// Like [`DynTensor::multinomial`]; also if `out` cannot hold the result.
    pub fn multinomial_out<'a>(
        &self,
        num_samples: usize,
        dim: impl Into<DimRef<'a>>,
        options: MultinomialOptions,
        out: &mut Self,
    ) -> Result<()> {
        let found = self.multinomial_with(num_samples, dim, options)?;
        family::store(Op::Multinomial, found, out)
    }
}
