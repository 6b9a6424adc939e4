//! Statistics along a dim, or of variables, as chains of other operators.

use nomina_core::Result;
use nomina_core::op::Op;
use nomina_core::rule::{self, DimRef};
use nomina_macros::forms;

use crate::call::{self, Spacing};
use crate::tensor::{DynTensor, about};

/// Options of `diff_with`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffOptions {
    /// The number of times that differences are taken.
    pub n: i64,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self { n: 1 }
    }
}

/// Options of `trapezoid_with` and `cumulative_trapezoid_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrapezoidOptions {
    /// The distance between samples.
    pub dx: f64,
}

impl Default for TrapezoidOptions {
    fn default() -> Self {
        Self { dx: 1.0 }
    }
}

/// Options of `cov_with`.
#[derive(Clone, Copy, Debug)]
pub struct CovOptions<'a> {
    /// The number subtracted from the count of observations.
    pub correction: f64,
    /// The number of times that each observation is counted: integers.
    pub fweights: Option<&'a DynTensor>,
    /// The weight of each observation: floats.
    pub aweights: Option<&'a DynTensor>,
}

impl Default for CovOptions<'_> {
    fn default() -> Self {
        Self {
            correction: 1.0,
            fweights: None,
            aweights: None,
        }
    }
}

impl DynTensor {
    fn stat_dim(&self, op: Op, dim: DimRef<'_>) -> Result<usize> {
        dim.position(op.name(), &self.names)
            .map_err(|e| about(e, &[self]))
    }

    /// Computes the differences of neighbours along a dim; for bool, whether they differ.
    ///
    /// # Errors
    /// If the dim does not exist. With options, also if the number is negative.
    #[forms(with = "but takes differences `options.n` times.", out)]
    pub fn diff_with<'a>(&self, dim: impl Into<DimRef<'a>>, options: DiffOptions) -> Result<Self> {
        let dim = self.stat_dim(Op::Diff, dim.into())?;
        let raw = call::diff(&self.raw, options.n, dim).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Computes the integral of samples along a dim by the trapezoidal rule.
    ///
    /// # Errors
    /// If the dim does not exist, or the dtype is bool.
    #[forms(with = "but with samples `options.dx` apart.")]
    pub fn trapezoid_with<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        options: TrapezoidOptions,
    ) -> Result<Self> {
        self.integral(Op::Trapezoid, None, options, dim.into())
    }

    /// Like [`DynTensor::trapezoid`], but of samples at given positions: in one dim, or in the dims
    /// of the samples.
    ///
    /// # Errors
    /// Like [`DynTensor::trapezoid`]; also if the positions have other names or sizes than the
    /// samples.
    pub fn trapezoid_at<'a>(&self, places: &Self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        let options = TrapezoidOptions::default();
        self.integral(Op::Trapezoid, Some(places), options, dim.into())
    }

    /// Computes the running integral of samples along a dim by the trapezoidal rule; the dim has
    /// one element less.
    ///
    /// # Errors
    /// If the dim does not exist, or the dtype is bool.
    #[forms(with = "but with samples `options.dx` apart.")]
    pub fn cumulative_trapezoid_with<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        options: TrapezoidOptions,
    ) -> Result<Self> {
        self.integral(Op::CumulativeTrapezoid, None, options, dim.into())
    }

    /// Like [`DynTensor::cumulative_trapezoid`], but of samples at given positions.
    ///
    /// # Errors
    /// Like [`DynTensor::trapezoid_at`].
    pub fn cumulative_trapezoid_at<'a>(
        &self,
        places: &Self,
        dim: impl Into<DimRef<'a>>,
    ) -> Result<Self> {
        let options = TrapezoidOptions::default();
        self.integral(Op::CumulativeTrapezoid, Some(places), options, dim.into())
    }

    pub(in crate::tensor) fn integral(
        &self,
        op: Op,
        places: Option<&Self>,
        options: TrapezoidOptions,
        dim: DimRef<'_>,
    ) -> Result<Self> {
        let at = self.stat_dim(op, dim)?;
        let mut names = self.names.clone();
        if let Some(places) = places {
            let fail = |e| about(e, &[self, places]);
            if places.rank() == 1 {
                let own = rule::kept(&self.names, &[at]);
                rule::unify(op.name(), &own, &places.names).map_err(fail)?;
            } else {
                names = rule::unify(op.name(), &self.names, &places.names).map_err(fail)?;
            }
        }
        let running = op == Op::CumulativeTrapezoid;
        let spacing = places.map_or(Spacing::Even(options.dx), |places| Spacing::At(&places.raw));
        let found = call::trapezoid(op, &self.raw, spacing, at, running);
        let raw = found.map_err(|e| match places {
            Some(places) => about(e, &[self, places]),
            None => about(e, &[self]),
        })?;
        let names = if running {
            names
        } else {
            rule::remove(&names, &[at])
        };
        Ok(Self::new(raw, names))
    }

    /// Computes the covariance matrix of variables, which are rows, over observations, which are
    /// columns. Its second dim is the primed first; one variable gives a number.
    ///
    /// # Errors
    /// If there are more than two dims, or the dtype is complex. With options, also if weights have
    /// another name or size, are negative, or of another dtype than they should be.
    #[forms(with = "but with a given correction and weights of the observations.")]
    pub fn cov_with(&self, options: CovOptions<'_>) -> Result<Self> {
        let name = Op::Cov.name();
        let mut operands = vec![self];
        operands.extend(options.fweights);
        operands.extend(options.aweights);
        let fail = |e| about(e, &operands);
        if let Some(last) = self.rank().checked_sub(1) {
            let mut observations = rule::kept(&self.names, &[last]);
            for weights in &operands[1..] {
                observations = rule::unify(name, &observations, &weights.names).map_err(fail)?;
            }
        }
        let raw = |weights: Option<&'_ Self>| weights.map(|weights| weights.raw.clone());
        let (fweights, aweights) = (raw(options.fweights), raw(options.aweights));
        let (f, a) = (fweights.as_ref(), aweights.as_ref());
        let found = call::cov(Op::Cov, &self.raw, options.correction, f, a).map_err(fail)?;
        let names = rule::cov(&self.names, found.rank());
        Ok(Self::new(found, names))
    }

    /// Computes the correlation coefficients of variables, which are rows, with the dims of
    /// [`DynTensor::cov`].
    ///
    /// # Errors
    /// If there are more than two dims, or the dtype is complex.
    pub fn corrcoef(&self) -> Result<Self> {
        let found = call::corrcoef(&self.raw).map_err(|e| about(e, &[self]))?;
        let names = rule::cov(&self.names, found.rank());
        Ok(Self::new(found, names))
    }

    /// Scales slices along a dim down to a `p`-norm of at most `maxnorm`.
    ///
    /// # Errors
    /// If the dim does not exist or is the only one, `p` is not positive, `maxnorm` is negative, or
    /// the dtype is neither a float nor complex.
    #[forms(out)]
    pub fn renorm<'a>(&self, p: f64, dim: impl Into<DimRef<'a>>, maxnorm: f64) -> Result<Self> {
        let dim = self.stat_dim(Op::Renorm, dim.into())?;
        let found = call::renorm(&self.raw, p, dim, maxnorm).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(found, self.names.clone()))
    }

    /// Like [`DynTensor::renorm`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::renorm`].
    pub fn renorm_<'a>(
        &mut self,
        p: f64,
        dim: impl Into<DimRef<'a>>,
        maxnorm: f64,
    ) -> Result<&mut Self> {
        let result = self.renorm(p, dim, maxnorm)?;
        self.overwrite(Op::Renorm, result)
    }
}
