//! Random samples: new tensors, each element of a distribution of its own.

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
    /// Whether a place may be drawn more than once.
    pub replacement: bool,
}

impl DynTensor {
    /// Ones with self's elements as probabilities, else zeros.
    ///
    /// # Errors
    /// `ErrorKind::DType` when `self` is of no float dtype, `ErrorKind::Argument` when an element
    /// is not a probability.
    #[forms(from, out)]
    pub fn bernoulli_from(&self, generator: Option<&mut Generator>) -> Result<Self> {
        let raw = with_generator(generator, |g| call::bernoulli(&self.raw, g));
        Ok(Self::new(
            raw.map_err(|e| about(e, &[self]))?,
            self.names.clone(),
        ))
    }

    /// How often happens what happens at the rates that self's elements are.
    ///
    /// # Errors
    /// `ErrorKind::DType` when `self` is of no float dtype, `ErrorKind::Argument` when a rate is
    /// below zero.
    #[forms(from)]
    pub fn poisson_from(&self, generator: Option<&mut Generator>) -> Result<Self> {
        let raw = with_generator(generator, |g| call::poisson(&self.raw, g));
        Ok(Self::new(
            raw.map_err(|e| about(e, &[self]))?,
            self.names.clone(),
        ))
    }

    /// Random numbers of normal distributions, each with its own mean and standard deviation:
    /// tensors whose names unify, or a number beside a tensor. The dtype is the first tensor's.
    ///
    /// # Errors
    /// If both are numbers, names do not unify, sizes do not broadcast, dtypes are no floats, or a
    /// standard deviation is below zero.
    #[forms(from, out)]
    pub fn normal_from<'a>(
        mean: impl Into<Operand<'a>>,
        std: impl Into<Operand<'a>>,
        generator: Option<&mut Generator>,
    ) -> Result<Self> {
        let (mean, std) = (mean.into(), std.into());
        let all = family::tensors(&[mean, std]);
        let names = match &all[..] {
            // Refused below, with what to do instead.
            [] => Names::default(),
            all => family::unified(Op::Normal, all)?,
        };
        let raw = with_generator(generator, |g| call::normal(mean.arg(), std.arg(), g));
        Ok(Self::new(raw.map_err(|e| about(e, &all))?, names))
    }

    /// `num_samples` different places along a dim, drawn by the weights that stand there. The dim
    /// then has the size `num_samples`, and the elements are i64.
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
    /// If the dim does not exist, weights are no floats of 0 or more, or too few are above 0.
    #[forms(with = "but with options.")]
    pub fn multinomial_with<'a>(
        &self,
        num_samples: usize,
        dim: impl Into<DimRef<'a>>,
        options: MultinomialOptions,
    ) -> Result<Self> {
        self.multinomial_by(num_samples, dim.into(), options, None)
    }

    /// [`DynTensor::multinomial_with`] from a generator.
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

    /// [`DynTensor::multinomial_with`] into `out`.
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
