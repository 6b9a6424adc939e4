//! Statistics: norms, pairs of moments.

mod along;

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg};
use nomina_core::{DType, Result};
use nomina_macros::forms;

use super::{DynTensor, VarOptions, about, family};
use crate::call;

pub use along::{CovOptions, DiffOptions, TrapezoidOptions};

/// Options of `norm_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormOptions {
    /// The degree: 2 for the Euclidean norm, infinity for the greatest magnitude.
    pub p: f64,
    /// Whether reduced dims are kept with size 1.
    pub keepdim: bool,
    /// The dtype to convert to before reducing; the dtype of the result is its real part.
    pub dtype: Option<DType>,
}

impl Default for NormOptions {
    fn default() -> Self {
        Self {
            p: 2.0,
            keepdim: false,
            dtype: None,
        }
    }
}

impl DynTensor {
    /// Computes the standard deviation and the mean over dims.
    ///
    /// # Errors
    /// If a dim does not exist, or the dtype is neither a float nor complex.
    #[forms(with = "but with the given correction.")]
    pub fn std_mean_with<'a>(
        &self,
        dim: impl Into<DimArg<'a>>,
        options: VarOptions,
    ) -> Result<(Self, Self)> {
        self.moments(Op::StdMean, &dim.into(), options)
    }

    /// Computes the variance and the mean over dims.
    ///
    /// # Errors
    /// If a dim does not exist, or the dtype is neither a float nor complex.
    #[forms(with = "but with the given correction.")]
    pub fn var_mean_with<'a>(
        &self,
        dim: impl Into<DimArg<'a>>,
        options: VarOptions,
    ) -> Result<(Self, Self)> {
        self.moments(Op::VarMean, &dim.into(), options)
    }

    pub(super) fn moments(
        &self,
        op: Op,
        dim: &DimArg<'_>,
        options: VarOptions,
    ) -> Result<(Self, Self)> {
        let keepdim = dim.keepdim() || options.keepdim;
        let dim = dim.clone().with_keepdim(keepdim);
        let first = if op == Op::StdMean { Op::Std } else { Op::Var };
        let corrected = call::ReduceOptions {
            correction: options.correction,
            ..call::ReduceOptions::default()
        };
        let inside = |e: nomina_core::Error| e.in_op(op.name());
        Ok((
            family::reduce(first, self, &dim, corrected).map_err(inside)?,
            family::reduce(Op::Mean, self, &dim, corrected).map_err(inside)?,
        ))
    }

    /// Returns the smallest and the greatest element over dims.
    ///
    /// # Errors
    /// If a dim does not exist or has no elements, or the dtype is complex.
    #[forms(out(min, max))]
    pub fn aminmax<'a>(&self, dim: impl Into<DimArg<'a>>) -> Result<(Self, Self)> {
        let (dim, plain) = (dim.into(), call::ReduceOptions::default());
        let inside = |e: nomina_core::Error| e.in_op("aminmax");
        Ok((
            family::reduce(Op::Amin, self, &dim, plain).map_err(inside)?,
            family::reduce(Op::Amax, self, &dim, plain).map_err(inside)?,
        ))
    }

    /// Computes the Euclidean norm of the vectors over dims; several dims are one vector.
    ///
    /// # Errors
    /// If a dim does not exist, or the dtype is neither a float nor complex. With options, also for
    /// the greatest or smallest of no elements.
    #[forms(with = "but with the degree `options.p`.", out)]
    pub fn norm_with<'a>(&self, dim: impl Into<DimArg<'a>>, options: NormOptions) -> Result<Self> {
        let dim = dim.into();
        let keepdim = dim.keepdim() || options.keepdim;
        let reduce = call::ReduceOptions {
            dtype: options.dtype,
            p: options.p,
            ..call::ReduceOptions::default()
        };
        family::reduce(Op::Norm, self, &dim.with_keepdim(keepdim), reduce)
    }

    /// Computes the Euclidean norm of the difference to `other`, as one number. Names unify, sizes
    /// broadcast.
    ///
    /// # Errors
    /// If names do not unify, sizes do not broadcast, or the dtype is neither a float nor complex.
    #[forms(with = "but with the degree `options.p`.")]
    pub fn dist_with(&self, other: &Self, options: NormOptions) -> Result<Self> {
        let fail = |e| about(e, &[self, other]);
        let op = Op::Dist.name();
        rule::unify(op, &self.names, &other.names).map_err(fail)?;
        let difference = call::pointwise(Op::Sub, &[(&self.raw).into(), (&other.raw).into()]);
        let difference = difference.map_err(|e| fail(e.in_op(op)))?;
        let names = nomina_core::Names::unnamed(difference.rank());
        let norm = Self::new(difference, names).norm_with(.., options);
        norm.map_err(|e| fail(e.in_op(op)))
    }
}
