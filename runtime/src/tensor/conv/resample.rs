//! Resampling.

use nomina_core::op::Op;
use nomina_core::rule::DimArg;
use nomina_core::{Error, ErrorKind, Result};

use super::{DynTensor, InterpolateOptions, about};
use crate::call;
use crate::call::InterpolateMode;
use crate::job::Resize;

impl DynTensor {
    /// Resamples the last dims, all after batch and channels, to other sizes.
    ///
    /// # Errors
    /// If there is not one size for each of these dims, a size is 0, or the mode does not support
    /// the dtype.
    pub fn interpolate(&self, size: &[usize], mode: InterpolateMode) -> Result<Self> {
        let options = InterpolateOptions {
            mode,
            ..InterpolateOptions::default()
        };
        self.interpolate_with(size, options)
    }

    /// Like [`DynTensor::interpolate`], but with options.
    ///
    /// # Errors
    /// Like [`DynTensor::interpolate`].
    pub fn interpolate_with(&self, size: &[usize], options: InterpolateOptions) -> Result<Self> {
        let dims = self.sites_behind_batch(size.len())?;
        self.interpolated(&dims, size, options)
    }

    /// Like [`DynTensor::interpolate`], but for dims given by name.
    ///
    /// # Errors
    /// Like [`DynTensor::interpolate`].
    pub fn interpolate_by<'a>(
        &self,
        dims: impl Into<DimArg<'a>>,
        size: &[usize],
        options: InterpolateOptions,
    ) -> Result<Self> {
        let dims = self.dims_at(Op::Interpolate, &dims.into())?;
        self.interpolated(&dims, size, options)
    }

    fn interpolated(
        &self,
        dims: &[usize],
        size: &[usize],
        options: InterpolateOptions,
    ) -> Result<Self> {
        if dims.len() != size.len() {
            let what = format!("{} sizes for {} dims", size.len(), dims.len());
            let error = Error::new(ErrorKind::Argument, "interpolate", what)
                .hint("give one size for each dim");
            return Err(about(error, &[self]));
        }
        let each = dims.iter().zip(size).map(|(&dim, &size)| Resize {
            dim,
            size,
            factor: None,
        });
        self.interpolate_dims(&each.collect::<Vec<_>>(), options)
    }

    /// Returns the dims after batch and channels, which must be `count`.
    pub(in crate::tensor) fn sites_behind_batch(&self, count: usize) -> Result<Vec<usize>> {
        if self.rank() == count + 2 {
            return Ok((2..self.rank()).collect());
        }
        let what = format!("{count} sizes for {} dims", self.rank());
        let error = Error::new(ErrorKind::Rank, "interpolate", what)
            .hint("give a size for each dim after batch and channels, or name dims");
        Err(about(error, &[self]))
    }

    /// Like [`DynTensor::interpolate`], but for dims by position, each with its size and the factor
    /// that positions are computed with, PyTorch's `scale_factor`; by default the ratio of the
    /// sizes.
    ///
    /// # Errors
    /// Like [`DynTensor::interpolate`].
    pub fn interpolate_dims(&self, dims: &[Resize], options: InterpolateOptions) -> Result<Self> {
        let (mode, corners) = (options.mode, options.align_corners);
        let smooth = matches!(mode, InterpolateMode::Linear | InterpolateMode::Cubic);
        let wrong = match (corners, options.antialias) {
            (true, true) => Some(("corners are not aligned with antialias", "omit one of them")),
            (true, false) if !smooth => Some((
                "corners are not aligned in this mode",
                "omit `align_corners`, or use a linear or cubic mode",
            )),
            (false, true) if !smooth => Some((
                "this mode has no antialias",
                "omit `antialias`, or use a linear or cubic mode",
            )),
            _ => None,
        };
        if let Some((what, hint)) = wrong {
            let error = Error::new(ErrorKind::Argument, "interpolate", what).hint(hint);
            return Err(about(error, &[self]));
        }
        let raw = if options.antialias {
            call::interpolate_antialias(&self.raw, dims, mode)
        } else {
            call::interpolate(&self.raw, dims, mode, corners)
        };
        let raw = raw.map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }
}
