//! Relations of two series: covariances and correlations by name, interpolation at other coordinates.

use nomina_core::Result;
use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef};

use super::options::VarOptions;
use super::{DynTensor, about};
use crate::call::analysis::{self, InterpMethod};

/// Options of `interp_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterpOptions {
    /// How a value between two coordinates follows from both.
    pub method: InterpMethod,
    /// Whether places beyond the first and last coordinate have a value instead of NaN: that of the line through the
    /// last two, or of the nearest.
    pub extrapolate: bool,
}

impl DynTensor {
    /// Computes Pearson's correlation with another tensor over dims. The dims of the other are among those of `self` and
    /// align by name. NaN where one of both is constant.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![1.0f32, 2.0, 3.0, 3.0, 2.0, 1.0], &[2, 3], ["Site", "Time"])?;
    /// let trend = DynTensor::from_vec(vec![0.0f32, 10.0, 20.0], &[3], ["Time"])?;
    /// assert_eq!(x.corr(&trend, "Time")?.to_vec::<f32>()?, [1.0, -1.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a dim does not exist, the other tensor has a dim that `self` lacks, or sizes or dtypes differ.
    pub fn corr<'a>(&self, other: &Self, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        self.moment(Op::Corr, other, dim.into(), 1.0)
    }

    /// Like [`corr`](Self::corr), but leaves out the pairs in which either is NaN, as xarray's `corr` does.
    ///
    /// # Errors
    /// Like [`corr`](Self::corr).
    pub fn nancorr<'a>(&self, other: &Self, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        self.moment(Op::Nancorr, other, dim.into(), 1.0)
    }

    /// Computes the covariance with another tensor over dims, with a correction of 1: the sum of the products of the
    /// deviations from the means, divided by the number of pairs minus 1. Dims align as those of
    /// [`corr`](Self::corr). [`cov`](Self::cov) is PyTorch's matrix of variables.
    ///
    /// # Errors
    /// Like [`corr`](Self::corr).
    pub fn covar<'a>(&self, other: &Self, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        self.covar_with(other, dim, VarOptions::default())
    }

    /// Like [`covar`](Self::covar), but with the correction of the options.
    ///
    /// # Errors
    /// Like [`corr`](Self::corr).
    pub fn covar_with<'a>(
        &self,
        other: &Self,
        dim: impl Into<DimArg<'a>>,
        options: VarOptions,
    ) -> Result<Self> {
        let dim = kept(dim.into(), options);
        self.moment(Op::Covar, other, dim, options.correction)
    }

    /// Like [`covar`](Self::covar), but leaves out the pairs in which either is NaN, as xarray's `cov` does.
    ///
    /// # Errors
    /// Like [`corr`](Self::corr).
    pub fn nancovar<'a>(&self, other: &Self, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        self.nancovar_with(other, dim, VarOptions::default())
    }

    /// Like [`nancovar`](Self::nancovar), but with the correction of the options.
    ///
    /// # Errors
    /// Like [`corr`](Self::corr).
    pub fn nancovar_with<'a>(
        &self,
        other: &Self,
        dim: impl Into<DimArg<'a>>,
        options: VarOptions,
    ) -> Result<Self> {
        let dim = kept(dim.into(), options);
        self.moment(Op::Nancovar, other, dim, options.correction)
    }

    fn moment(&self, by: Op, other: &Self, dim: DimArg<'_>, correction: f64) -> Result<Self> {
        let op = by.name();
        let compute = || {
            let at = dim.positions(op, &self.names)?;
            let aligned = if other.names == self.names {
                other.clone()
            } else {
                other.align_as(self).map_err(|e| e.in_op(op))?
            };
            let over = (&at[..], dim.keepdim());
            let raw = analysis::moment(by, &self.raw, &aligned.raw, over, correction)?;
            Ok(Self::new(
                raw,
                rule::reduce(&self.names, &at, dim.keepdim()),
            ))
        };
        compute().map_err(|e| about(e, &[self, other]))
    }

    /// Interpolates linearly along a dim at other coordinates. `coords` are the coordinates of the dim's elements, in
    /// any order; the dims of `at` replace the dim. Beyond the first and the last coordinate the result is NaN, as it is
    /// beside NaN, except at a coordinate itself.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![0.0f32, 10.0, 40.0], &[3], ["Depth"])?;
    /// let depth = DynTensor::from_vec(vec![0.0f32, 1.0, 2.0], &[3], ["Depth"])?;
    /// let at = DynTensor::from_vec(vec![0.5f32, 1.5], &[2], ["Level"])?;
    /// let y = x.interp("Depth", &depth, &at)?;
    /// assert_eq!(y.names().to_string(), "(Level,)");
    /// assert_eq!(y.to_vec::<f32>()?, [5.0, 25.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dim does not exist or has no elements, there is not one coordinate for each element, a coordinate is NaN,
    /// or a dim of `at` is another dim of `self`.
    pub fn interp<'a>(&self, dim: impl Into<DimRef<'a>>, coords: &Self, at: &Self) -> Result<Self> {
        self.interp_with(dim, coords, at, InterpOptions::default())
    }

    /// Like [`interp`](Self::interp), but with a method, and with values beyond the ends.
    ///
    /// # Errors
    /// Like [`interp`](Self::interp).
    pub fn interp_with<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        coords: &Self,
        at: &Self,
        options: InterpOptions,
    ) -> Result<Self> {
        let op = Op::Interp.name();
        let compute = || {
            let dim = dim.into().position(op, &self.names)?;
            rule::unify(op, &rule::kept(&self.names, &[dim]), &coords.names)?;
            let names = match at.names.len() {
                1 if at.names[0].is_none() => self.names.clone(),
                _ => rule::index_by(op, &self.names, dim, &at.names)?,
            };
            let how = (options.method, options.extrapolate);
            let raw = analysis::interp(&self.raw, dim, &coords.raw, &at.raw, how)?;
            Ok(Self::new(raw, names))
        };
        compute().map_err(|e| about(e, &[self, coords, at]))
    }
}

/// Adds the options' `keepdim` to an argument's.
fn kept(dim: DimArg<'_>, options: VarOptions) -> DimArg<'_> {
    let keepdim = dim.keepdim() || options.keepdim;
    dim.with_keepdim(keepdim)
}
