//! Random fills, samples and seeds.
//!
//! Whatever draws from the default generator has a twin with `_from` in its name, whose last
//! argument is a generator.

use std::ops::{Bound, RangeBounds};

use nomina_core::op::Op;
use nomina_core::rule::{self, DimRef};
use nomina_core::{Error, ErrorKind, Names, Result};

use super::family::{self, in_place_as};
use super::{DynTensor, Operand, about};
use crate::call;
use crate::random::{Distribution, Generator, whole_numbers, with_generator};

/// Options of `multinomial_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MultinomialOptions {
    /// Whether a place may be drawn more than once.
    pub replacement: bool,
}

/// Fills, in place.
impl DynTensor {
    /// Random numbers, uniform from `from` to before `to`.
    ///
    /// ```
    /// use nomina_runtime::{DynTensor, Generator, manual_seed};
    /// let mut x = DynTensor::zeros(&[2, 3], ["N", "C"])?;
    /// manual_seed(0);
    /// x.uniform_(-1.0, 1.0)?;
    /// let mut y = x.zeros_like()?;
    /// y.uniform_from_(-1.0, 1.0, &mut Generator::new(0))?;
    /// assert!(y.ge(-1)?.all(..)?.item()?.to_bool());
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the dtype is no float, or `from` is above `to`.
    pub fn uniform_(&mut self, from: f64, to: f64) -> Result<&mut Self> {
        self.draw_(Op::Uniform, Distribution::Uniform { from, to }, None)
    }

    /// [`DynTensor::uniform_`] from a generator.
    ///
    /// # Errors
    /// As [`DynTensor::uniform_`].
    pub fn uniform_from_(
        &mut self,
        from: f64,
        to: f64,
        generator: &mut Generator,
    ) -> Result<&mut Self> {
        self.draw_(
            Op::Uniform,
            Distribution::Uniform { from, to },
            Some(generator),
        )
    }

    /// Random numbers of a normal distribution; of a complex dtype, both parts with half the variance.
    ///
    /// # Errors
    /// When the dtype is neither float nor complex, or `std` is below zero.
    pub fn normal_(&mut self, mean: f64, std: f64) -> Result<&mut Self> {
        self.draw_(Op::NormalInPlace, Distribution::Normal { mean, std }, None)
    }

    /// [`DynTensor::normal_`] from a generator.
    ///
    /// # Errors
    /// As [`DynTensor::normal_`].
    pub fn normal_from_(
        &mut self,
        mean: f64,
        std: f64,
        generator: &mut Generator,
    ) -> Result<&mut Self> {
        self.draw_(
            Op::NormalInPlace,
            Distribution::Normal { mean, std },
            Some(generator),
        )
    }

    /// Random numbers whose logarithms are normal, with this mean and standard deviation.
    ///
    /// # Errors
    /// When the dtype is no float, or `std` is not above zero.
    pub fn log_normal_(&mut self, mean: f64, std: f64) -> Result<&mut Self> {
        self.draw_(Op::LogNormal, Distribution::LogNormal { mean, std }, None)
    }

    /// [`DynTensor::log_normal_`] from a generator.
    ///
    /// # Errors
    /// As [`DynTensor::log_normal_`].
    pub fn log_normal_from_(
        &mut self,
        mean: f64,
        std: f64,
        generator: &mut Generator,
    ) -> Result<&mut Self> {
        self.draw_(
            Op::LogNormal,
            Distribution::LogNormal { mean, std },
            Some(generator),
        )
    }

    /// Random waiting times for what happens `lambd` times per unit of time; never zero.
    ///
    /// # Errors
    /// When the dtype is no float, or `lambd` is not above zero.
    pub fn exponential_(&mut self, lambd: f64) -> Result<&mut Self> {
        self.draw_(Op::Exponential, Distribution::Exponential { lambd }, None)
    }

    /// [`DynTensor::exponential_`] from a generator.
    ///
    /// # Errors
    /// As [`DynTensor::exponential_`].
    pub fn exponential_from_(
        &mut self,
        lambd: f64,
        generator: &mut Generator,
    ) -> Result<&mut Self> {
        self.draw_(
            Op::Exponential,
            Distribution::Exponential { lambd },
            Some(generator),
        )
    }

    /// Random numbers of a Cauchy distribution.
    ///
    /// # Errors
    /// When the dtype is no float, or `sigma` is not above zero.
    pub fn cauchy_(&mut self, median: f64, sigma: f64) -> Result<&mut Self> {
        self.draw_(Op::Cauchy, Distribution::Cauchy { median, sigma }, None)
    }

    /// [`DynTensor::cauchy_`] from a generator.
    ///
    /// # Errors
    /// As [`DynTensor::cauchy_`].
    pub fn cauchy_from_(
        &mut self,
        median: f64,
        sigma: f64,
        generator: &mut Generator,
    ) -> Result<&mut Self> {
        self.draw_(
            Op::Cauchy,
            Distribution::Cauchy { median, sigma },
            Some(generator),
        )
    }

    /// How many tries it takes until one of probability `p` succeeds; 1 at the least.
    ///
    /// # Errors
    /// When the dtype is bool or complex, or `p` is not between 0 and 1.
    pub fn geometric_(&mut self, p: f64) -> Result<&mut Self> {
        self.draw_(Op::Geometric, Distribution::Geometric { p }, None)
    }

    /// [`DynTensor::geometric_`] from a generator.
    ///
    /// # Errors
    /// As [`DynTensor::geometric_`].
    pub fn geometric_from_(&mut self, p: f64, generator: &mut Generator) -> Result<&mut Self> {
        self.draw_(
            Op::Geometric,
            Distribution::Geometric { p },
            Some(generator),
        )
    }

    /// Random whole numbers in a range; without an end, up to what the dtype holds, of floats with
    /// all digits.
    ///
    /// # Errors
    /// When the dtype is complex, or the range is empty or reaches beyond the dtype's.
    pub fn random_(&mut self, range: impl RangeBounds<i64>) -> Result<&mut Self> {
        let what = self.whole_numbers_in(&range)?;
        self.draw_(Op::Random, what, None)
    }

    /// [`DynTensor::random_`] from a generator.
    ///
    /// # Errors
    /// As [`DynTensor::random_`].
    pub fn random_from_(
        &mut self,
        range: impl RangeBounds<i64>,
        generator: &mut Generator,
    ) -> Result<&mut Self> {
        let what = self.whole_numbers_in(&range)?;
        self.draw_(Op::Random, what, Some(generator))
    }

    fn whole_numbers_in(&self, range: &impl RangeBounds<i64>) -> Result<Distribution> {
        // PyTorch starts at zero where nothing is said.
        let (_, most) = whole_numbers(self.dtype());
        let (low, high) = inclusive("random", range, (0, most))
            .map_err(|error| error.operand(&self.names, self.shape()))?;
        Ok(Distribution::Integers { low, high })
    }

    /// Ones with a probability, a number or a tensor that broadcasts, else zeros.
    ///
    /// # Errors
    /// When the dtype is complex, a number is no probability, or a tensor's names or sizes do not
    /// fit self's.
    pub fn bernoulli_<'a>(&mut self, p: impl Into<Operand<'a>>) -> Result<&mut Self> {
        self.bernoulli_into(p.into(), None)
    }

    /// [`DynTensor::bernoulli_`] from a generator.
    ///
    /// # Errors
    /// As [`DynTensor::bernoulli_`].
    pub fn bernoulli_from_<'a>(
        &mut self,
        p: impl Into<Operand<'a>>,
        generator: &mut Generator,
    ) -> Result<&mut Self> {
        self.bernoulli_into(p.into(), Some(generator))
    }

    fn bernoulli_into(
        &mut self,
        p: Operand<'_>,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self> {
        let p = match p {
            Operand::Tensor(p) => p,
            Operand::Scalar(p) => {
                let what = Distribution::Bernoulli { p: p.to_f64() };
                return self.draw_(Op::Bernoulli, what, generator);
            }
        };
        let names = rule::unify_in_place("bernoulli", &self.names, &p.names)
            .and_then(|names| {
                rule::broadcast_into("bernoulli", self.shape(), p.shape()).map(|_| names)
            })
            .map_err(|e| about(e, &[self, p]))?;
        in_place_as(self, names, &[p], |dest| {
            with_generator(generator, |g| call::bernoulli_into(dest, &p.raw, g))
        })?;
        Ok(self)
    }

    fn draw_(
        &mut self,
        op: Op,
        what: Distribution,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self> {
        let names = self.names.clone();
        in_place_as(self, names, &[], |dest| {
            with_generator(generator, |g| call::random(op.name(), dest, what, g))
        })?;
        Ok(self)
    }
}

/// New tensors.
impl DynTensor {
    /// Ones with self's elements as probabilities, else zeros.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] when self is of no float dtype, [`ErrorKind::Argument`] when an element is no
    /// probability.
    pub fn bernoulli(&self) -> Result<Self> {
        self.bernoulli_by(None)
    }

    /// [`DynTensor::bernoulli`] from a generator.
    ///
    /// # Errors
    /// As [`DynTensor::bernoulli`].
    pub fn bernoulli_from(&self, generator: &mut Generator) -> Result<Self> {
        self.bernoulli_by(Some(generator))
    }

    fn bernoulli_by(&self, generator: Option<&mut Generator>) -> Result<Self> {
        let raw = with_generator(generator, |g| call::bernoulli(&self.raw, g));
        Ok(Self::new(
            raw.map_err(|e| about(e, &[self]))?,
            self.names.clone(),
        ))
    }

    /// [`DynTensor::bernoulli`] into `out`.
    ///
    /// # Errors
    /// As [`DynTensor::bernoulli`], and when `out` does not hold the result.
    pub fn bernoulli_out(&self, out: &mut Self) -> Result<()> {
        family::store(Op::Bernoulli, self.bernoulli()?, out)
    }

    /// How often happens what happens at the rates that self's elements are.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] when self is of no float dtype, [`ErrorKind::Argument`] when a rate is below
    /// zero.
    pub fn poisson(&self) -> Result<Self> {
        self.poisson_by(None)
    }

    /// [`DynTensor::poisson`] from a generator.
    ///
    /// # Errors
    /// As [`DynTensor::poisson`].
    pub fn poisson_from(&self, generator: &mut Generator) -> Result<Self> {
        self.poisson_by(Some(generator))
    }

    fn poisson_by(&self, generator: Option<&mut Generator>) -> Result<Self> {
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
    /// When both are numbers, names do not unify, sizes do not broadcast, dtypes are no floats, or
    /// a standard deviation is below zero.
    pub fn normal<'a>(mean: impl Into<Operand<'a>>, std: impl Into<Operand<'a>>) -> Result<Self> {
        Self::normal_by(mean.into(), std.into(), None)
    }

    /// [`DynTensor::normal`] from a generator.
    ///
    /// # Errors
    /// As [`DynTensor::normal`].
    pub fn normal_from<'a>(
        mean: impl Into<Operand<'a>>,
        std: impl Into<Operand<'a>>,
        generator: &mut Generator,
    ) -> Result<Self> {
        Self::normal_by(mean.into(), std.into(), Some(generator))
    }

    fn normal_by(
        mean: Operand<'_>,
        std: Operand<'_>,
        generator: Option<&mut Generator>,
    ) -> Result<Self> {
        let all = family::tensors(&[mean, std]);
        let names = match &all[..] {
            // Refused below, with what to do instead.
            [] => Names::default(),
            all => family::unified(Op::Normal, all)?,
        };
        let raw = with_generator(generator, |g| call::normal(mean.arg(), std.arg(), g));
        Ok(Self::new(raw.map_err(|e| about(e, &all))?, names))
    }

    /// [`DynTensor::normal`] into `out`.
    ///
    /// # Errors
    /// As [`DynTensor::normal`], and when `out` does not hold the result.
    pub fn normal_out<'a>(
        mean: impl Into<Operand<'a>>,
        std: impl Into<Operand<'a>>,
        out: &mut Self,
    ) -> Result<()> {
        family::store(Op::Normal, Self::normal(mean, std)?, out)
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
    /// When the dim does not exist, weights are no floats of 0 or more, or too few are above 0.
    pub fn multinomial<'a>(&self, num_samples: usize, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        self.multinomial_with(num_samples, dim, MultinomialOptions::default())
    }

    /// [`DynTensor::multinomial`] with options.
    ///
    /// # Errors
    /// As [`DynTensor::multinomial`].
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
    /// As [`DynTensor::multinomial`].
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
    /// As [`DynTensor::multinomial`], and when `out` does not hold the result.
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

/// The first and the last number of a range; `open` says where one without bounds begins and ends.
pub(super) fn inclusive(
    op: &'static str,
    range: &impl RangeBounds<i64>,
    open: (i64, i64),
) -> Result<(i64, i64)> {
    let low = match range.start_bound() {
        Bound::Included(&low) => Some(low),
        Bound::Excluded(&low) => low.checked_add(1),
        Bound::Unbounded => Some(open.0),
    };
    let high = match range.end_bound() {
        Bound::Included(&high) => Some(high),
        Bound::Excluded(&high) => high.checked_sub(1),
        Bound::Unbounded => Some(open.1),
    };
    match (low, high) {
        (Some(low), Some(high)) if low <= high => Ok((low, high)),
        _ => {
            let shown = |bound: Bound<&i64>| match bound {
                Bound::Included(at) | Bound::Excluded(at) => at.to_string(),
                Bound::Unbounded => String::new(),
            };
            let (from, to) = (shown(range.start_bound()), shown(range.end_bound()));
            let what = format!("no whole number is in the range {from}..{to}");
            Err(Error::new(ErrorKind::Argument, op, what).hint("give the lower bound first"))
        }
    }
}
