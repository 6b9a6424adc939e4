//! Random fills.
//!
//! Every method that draws from the default generator has a form with `_from` in its name, whose
//! last argument is a generator.

use std::ops::RangeBounds;

use nomina_core::op::Op;
use nomina_core::{Result, rule};
use nomina_macros::forms;

use super::family::in_place_as;
use super::{DynTensor, Operand, about};
use crate::call;
use crate::random::{Distribution, Generator, range_of, with_generator};

/// In-place fills.
impl DynTensor {
    /// Fills the tensor with uniform random numbers from `from` to `to`, excluding `to`.
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
    /// If the dtype is not a float, or `from` is above `to`.
    #[forms(from)]
    pub fn uniform_from_(
        &mut self,
        from: f64,
        to: f64,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self> {
        self.draw_(Op::Uniform, Distribution::Uniform { from, to }, generator)
    }

    /// Fills the tensor with normally distributed random numbers; for a complex dtype, both parts
    /// have half the variance.
    ///
    /// # Errors
    /// If the dtype is neither float nor complex, or `std` is below zero.
    #[forms(from)]
    pub fn normal_from_(
        &mut self,
        mean: f64,
        std: f64,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self> {
        self.draw_(
            Op::NormalInPlace,
            Distribution::Normal { mean, std },
            generator,
        )
    }

    /// Fills the tensor with random numbers whose logarithms are normally distributed with this
    /// mean and standard deviation.
    ///
    /// # Errors
    /// If the dtype is not a float, or `std` is not above zero.
    #[forms(from)]
    pub fn log_normal_from_(
        &mut self,
        mean: f64,
        std: f64,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self> {
        self.draw_(
            Op::LogNormal,
            Distribution::LogNormal { mean, std },
            generator,
        )
    }

    /// Fills the tensor with exponentially distributed random numbers of rate `lambd`, never zero.
    ///
    /// # Errors
    /// If the dtype is not a float, or `lambd` is not above zero.
    #[forms(from)]
    pub fn exponential_from_(
        &mut self,
        lambd: f64,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self> {
        self.draw_(
            Op::Exponential,
            Distribution::Exponential { lambd },
            generator,
        )
    }

    /// Fills the tensor with Cauchy-distributed random numbers.
    ///
    /// # Errors
    /// If the dtype is not a float, or `sigma` is not above zero.
    #[forms(from)]
    pub fn cauchy_from_(
        &mut self,
        median: f64,
        sigma: f64,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self> {
        self.draw_(
            Op::Cauchy,
            Distribution::Cauchy { median, sigma },
            generator,
        )
    }

    /// Fills the tensor with geometrically distributed random numbers: trials up to the first
    /// success of probability `p`, at least 1.
    ///
    /// # Errors
    /// If the dtype is bool or complex, or `p` is not between 0 and 1.
    #[forms(from)]
    pub fn geometric_from_(
        &mut self,
        p: f64,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self> {
        self.draw_(Op::Geometric, Distribution::Geometric { p }, generator)
    }

    /// Fills the tensor with random whole numbers in a range, by default up to the greatest number
    /// that the dtype holds exactly.
    ///
    /// # Errors
    /// If the dtype is complex, or the range is empty or reaches beyond the dtype's.
    #[forms(from)]
    pub fn random_from_(
        &mut self,
        range: impl RangeBounds<i64>,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self> {
        let what = self.whole_numbers_in(&range)?;
        self.draw_(Op::Random, what, generator)
    }

    fn whole_numbers_in(&self, range: &impl RangeBounds<i64>) -> Result<Distribution> {
        let (low, high) = range_of("random", range, self.dtype())
            .map_err(|error| error.operand(&self.names, self.shape()))?;
        Ok(Distribution::Integers { low, high })
    }

    /// Fills the tensor with ones of a probability, a number or a tensor that broadcasts, and
    /// zeros.
    ///
    /// # Errors
    /// If the dtype is complex, a number is not a probability, or the names or sizes of a tensor do
    /// not match those of `self`.
    #[forms(from)]
    pub fn bernoulli_from_<'a>(
        &mut self,
        p: impl Into<Operand<'a>>,
        generator: Option<&mut Generator>,
    ) -> Result<&mut Self> {
        self.bernoulli_into(p.into(), generator)
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
