//! Fourier transforms along dims.

use nomina_core::op::Op;
use nomina_core::rule::{DimArg, DimRef};
use nomina_core::{Error, Result};
use nomina_macros::forms;

use super::{DynTensor, about};
use crate::call::{self, FftNorm};
use crate::raw::Raw;

/// Options of Fourier transforms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FftOptions {
    /// The direction that is divided by the number of elements.
    pub norm: FftNorm,
}

impl DynTensor {
    /// Transforms and keeps the names; `compute` receives the positions of the dims.
    fn transformed(
        &self,
        op: Op,
        dims: &DimArg<'_>,
        compute: impl FnOnce(&Raw, &[usize]) -> Result<Raw>,
    ) -> Result<Self> {
        let at = dims.positions(op.name(), &self.names);
        let made = at.and_then(|at| compute(&self.raw, &at));
        let fail = |error: Error| about(error.in_op(op.name()), &[self]);
        Ok(Self::new(made.map_err(fail)?, self.names.clone()))
    }

    /// Computes the discrete Fourier transform along a dim. The result is complex.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![1.0f32, 0.0, 0.0, 0.0], &[4], ["T"])?;
    /// let spectrum = x.fft("T")?;
    /// assert_eq!(spectrum.names().to_string(), "(T,)");
    /// assert_eq!(spectrum.abs()?.to_vec::<f32>()?, [1.0; 4]);
    /// assert!(spectrum.ifft("T")?.real()?.equal(&x)?);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dim does not exist or has no elements, or the dtype is not `f32`, `f64` or complex.
    #[forms(with = "but with the normalisation of the options.")]
    pub fn fft_with<'a>(&self, dim: impl Into<DimRef<'a>>, options: FftOptions) -> Result<Self> {
        self.transformed(Op::Fft, &dim.into().into(), |x, at| {
            call::transform(Op::Fft, x, at, false, options.norm)
        })
    }

    /// Computes the inverse of [`DynTensor::fft`].
    ///
    /// # Errors
    /// Like [`DynTensor::fft`].
    #[forms(with = "but with the normalisation of the options.")]
    pub fn ifft_with<'a>(&self, dim: impl Into<DimRef<'a>>, options: FftOptions) -> Result<Self> {
        self.transformed(Op::Ifft, &dim.into().into(), |x, at| {
            call::transform(Op::Ifft, x, at, true, options.norm)
        })
    }

    /// Computes the first half of the transform of a real signal along a dim, `n / 2 + 1` elements;
    /// the second half is its mirror image.
    ///
    /// # Errors
    /// If the dim does not exist or has no elements, or the dtype is not `f32` or `f64`.
    #[forms(with = "but with the normalisation of the options.")]
    pub fn rfft_with<'a>(&self, dim: impl Into<DimRef<'a>>, options: FftOptions) -> Result<Self> {
        self.halved(Op::Rfft, dim.into(), |x, at| {
            call::rfft(Op::Rfft, x, at, options.norm)
        })
    }

    /// Computes the real signal of `n` elements from the first half of its transform along a dim.
    ///
    /// # Errors
    /// Like [`DynTensor::fft`]; also if `n` is 0.
    #[forms(with = "but with the normalisation of the options.")]
    pub fn irfft_with<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        n: usize,
        options: FftOptions,
    ) -> Result<Self> {
        self.halved(Op::Irfft, dim.into(), |x, at| {
            call::irfft(Op::Irfft, x, at, n, options.norm)
        })
    }

    /// Like [`Self::transformed`], but along one dim.
    fn halved(
        &self,
        op: Op,
        dim: DimRef<'_>,
        compute: impl FnOnce(&Raw, usize) -> Result<Raw>,
    ) -> Result<Self> {
        let at = dim.position(op.name(), &self.names);
        let made = at.and_then(|at| compute(&self.raw, at));
        let raw = made.map_err(|error| about(error.in_op(op.name()), &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Computes the discrete Fourier transform along dims; `..` for all.
    ///
    /// # Errors
    /// Like [`DynTensor::fft`].
    #[forms(with = "but with the normalisation of the options.")]
    pub fn fftn_with<'a>(&self, dims: impl Into<DimArg<'a>>, options: FftOptions) -> Result<Self> {
        self.transformed(Op::Fftn, &dims.into(), |x, at| {
            call::transform(Op::Fftn, x, at, false, options.norm)
        })
    }

    /// Computes the inverse of [`DynTensor::fftn`].
    ///
    /// # Errors
    /// Like [`DynTensor::fft`].
    #[forms(with = "but with the normalisation of the options.")]
    pub fn ifftn_with<'a>(&self, dims: impl Into<DimArg<'a>>, options: FftOptions) -> Result<Self> {
        self.transformed(Op::Ifftn, &dims.into(), |x, at| {
            call::transform(Op::Ifftn, x, at, true, options.norm)
        })
    }

    /// Computes the transform of a real signal along dims, `..` for all. Of the last given dim only the first half is
    /// computed, `n / 2 + 1` elements, as [`DynTensor::rfft`] does.
    ///
    /// # Errors
    /// Like [`DynTensor::rfft`]; also if there are no dims.
    #[forms(with = "but with the normalisation of the options.")]
    pub fn rfftn_with<'a>(&self, dims: impl Into<DimArg<'a>>, options: FftOptions) -> Result<Self> {
        self.transformed(Op::Rfftn, &dims.into(), |x, at| {
            call::rfftn(x, at, options.norm)
        })
    }

    /// Computes the inverse of [`DynTensor::rfftn`], with `n` elements along the last given dim.
    ///
    /// # Errors
    /// Like [`DynTensor::irfft`]; also if there are no dims.
    #[forms(with = "but with the normalisation of the options.")]
    pub fn irfftn_with<'a>(
        &self,
        dims: impl Into<DimArg<'a>>,
        n: usize,
        options: FftOptions,
    ) -> Result<Self> {
        self.transformed(Op::Irfftn, &dims.into(), |x, at| {
            call::irfftn(x, at, n, options.norm)
        })
    }

    /// Moves frequency 0 from the front of dims to their middle; `..` for all.
    ///
    /// # Errors
    /// If a dim does not exist.
    pub fn fftshift<'a>(&self, dims: impl Into<DimArg<'a>>) -> Result<Self> {
        self.transformed(Op::Fftshift, &dims.into(), |x, at| {
            shifted(x, at, |size| size / 2)
        })
    }

    /// Moves frequency 0 from the middle of dims to the front; `..` for all.
    ///
    /// # Errors
    /// If a dim does not exist.
    pub fn ifftshift<'a>(&self, dims: impl Into<DimArg<'a>>) -> Result<Self> {
        self.transformed(Op::Ifftshift, &dims.into(), |x, at| {
            shifted(x, at, |size| size - size / 2)
        })
    }

    /// Computes the full convolution with a kernel along a dim; its size is the sum of both sizes,
    /// minus 1. The dims of the kernel align by name, other dims broadcast.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![1.0f64, 2.0, 3.0], &[3], ["T"])?;
    /// let kernel = DynTensor::from_vec(vec![1.0f64, 1.0], &[2], ["T"])?;
    /// let wanted = DynTensor::from_vec(vec![1.0f64, 3.0, 5.0, 3.0], &[4], ["T"])?;
    /// assert!(x.fft_convolve(&kernel, "T")?.allclose(&wanted)?);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Like [`DynTensor::fft`]; also if the kernel has a dim that `self` lacks, lacks the dim of
    /// the convolution, or dtypes or sizes do not match.
    pub fn fft_convolve<'a>(&self, kernel: &Self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        let (op, dim) = (Op::FftConvolve, dim.into());
        let compute = || {
            dim.position(op.name(), &kernel.names)?;
            let at = dim.position(op.name(), &self.names)?;
            let aligned = kernel.align_as(self)?;
            call::convolve(op, &self.raw, &aligned.raw, at)
        };
        let fail = |error: Error| about(error.in_op(op.name()), &[self, kernel]);
        Ok(Self::new(compute().map_err(fail)?, self.names.clone()))
    }
}

fn shifted(x: &Raw, dims: &[usize], by: fn(usize) -> usize) -> Result<Raw> {
    let roll = |x: Raw, &dim: &usize| {
        let by = by(x.shape()[dim]);
        call::roll(&x, i64::try_from(by).unwrap_or(i64::MAX), dim)
    };
    dims.iter().try_fold(x.clone(), roll)
}
