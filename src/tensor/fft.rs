//! Fourier transforms along dims. With feature `fft`.
//!
//! [`Tensor::fft`], [`Tensor::ifft`], [`Tensor::rfft`], [`Tensor::irfft`], [`Tensor::fftn`],
//! [`Tensor::ifftn`], [`Tensor::rfftn`], [`Tensor::irfftn`], [`Tensor::fftshift`],
//! [`Tensor::ifftshift`], [`Tensor::fft_convolve`].

use nomina_core::dims::{AlignInto, AxesOf, DimOf, Dims, LastOf, Resizable, SizeOf, position};
use nomina_core::op::Op;
use nomina_core::{Element, Float, Result, Solvable};
use nomina_macros::twin;
use nomina_runtime::call;
use nomina_runtime::tensor::FftOptions;

use super::{Tensor, at, picked};
use crate::erased::{Erased, Known, explain, reduce::Picked, shape};

/// # Fourier transforms
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes the discrete Fourier transform along a dim. The result is complex.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Time }
    /// let x = tensor!([1., 0., 0., 0.]; Time);
    /// let spectrum: Tensor<(Time,), nomina::Complex<f32>> = x.fft(Time);
    /// assert_eq!(spectrum.abs().to_vec(), [1.0; 4]);
    /// assert!(spectrum.ifft(Time).real().allclose(&x));
    /// ```
    ///
    /// # Errors
    /// If the dim has no elements.
    #[twin(with = "but with the normalisation of the options.")]
    pub fn try_fft_with<X: DimOf<D>>(
        &self,
        dim: X,
        options: FftOptions,
    ) -> Result<Tensor<D, T::Complex>>
    where
        T: Solvable,
    {
        let at = at(&dim, self);
        Tensor::try_from_erased(shape::same(self.erased(), D::STATIC, |x| {
            x.fft_with(at, options)
        }))
    }

    /// Computes the inverse of [`fft`](Self::fft).
    ///
    /// # Errors
    /// If the dim has no elements.
    #[twin(with = "but with the normalisation of the options.")]
    pub fn try_ifft_with<X: DimOf<D>>(
        &self,
        dim: X,
        options: FftOptions,
    ) -> Result<Tensor<D, T::Complex>>
    where
        T: Solvable,
    {
        let at = at(&dim, self);
        Tensor::try_from_erased(shape::same(self.erased(), D::STATIC, |x| {
            x.ifft_with(at, options)
        }))
    }

    /// Computes the first half of the transform of a real signal along a dim, `n / 2 + 1` elements;
    /// the second half is its mirror image.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, Time }
    /// let x = Tensor::<(N, Time)>::randn([3, 10]);
    /// let half = x.rfft(Time);
    /// assert_eq!(half.shape(), [3, 6]);
    /// assert!((half.irfft(Time, 10) - &x).abs().max(..).item() < 1e-5);
    /// ```
    ///
    /// # Errors
    /// If the dim has no elements.
    #[twin(with = "but with the normalisation of the options.")]
    pub fn try_rfft_with<X: DimOf<D>>(
        &self,
        dim: X,
        options: FftOptions,
    ) -> Result<Tensor<D, T::Complex>>
    where
        T: Float + Solvable,
        SizeOf<X>: Resizable<X>,
    {
        let at = at(&dim, self);
        Tensor::try_from_erased(shape::same(self.erased(), D::STATIC, |x| {
            x.rfft_with(at, options)
        }))
    }

    /// Computes the real signal of `n` elements from the first half of its transform along a dim;
    /// missing elements are zero.
    ///
    /// # Errors
    /// If the dim has no elements, or `n` is 0.
    #[twin(with = "but with the normalisation of the options.")]
    pub fn try_irfft_with<X: DimOf<D>>(
        &self,
        dim: X,
        n: usize,
        options: FftOptions,
    ) -> Result<Tensor<D, T::Real>>
    where
        T: Solvable,
        SizeOf<X>: Resizable<X>,
    {
        let at = at(&dim, self);
        Tensor::try_from_erased(shape::same(self.erased(), D::STATIC, |x| {
            x.irfft_with(at, n, options)
        }))
    }

    /// Computes the discrete Fourier transform along dims; `..` for all.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { H, W }
    /// let image = tensor!([[1., 2.], [3., 4.]]; H, W);
    /// let spectrum = image.fftn((H, W));
    /// assert_eq!(spectrum.real().to_vec(), [10.0, -2.0, -4.0, 0.0]);
    /// ```
    ///
    /// # Errors
    /// If a dim has no elements.
    #[twin(with = "but with the normalisation of the options.")]
    pub fn try_fftn_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: FftOptions,
    ) -> Result<Tensor<D, T::Complex>>
    where
        T: Solvable,
    {
        let dims = picked::<A, D>(&dims);
        Tensor::try_from_erased(shape::same(self.erased(), D::STATIC, |x| {
            x.fftn_with(dims.arg(), options)
        }))
    }

    /// Computes the inverse of [`fftn`](Self::fftn).
    ///
    /// # Errors
    /// If a dim has no elements.
    #[twin(with = "but with the normalisation of the options.")]
    pub fn try_ifftn_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: FftOptions,
    ) -> Result<Tensor<D, T::Complex>>
    where
        T: Solvable,
    {
        let dims = picked::<A, D>(&dims);
        Tensor::try_from_erased(shape::same(self.erased(), D::STATIC, |x| {
            x.ifftn_with(dims.arg(), options)
        }))
    }

    /// Computes the transform of a real signal along dims, `..` for all. Of the last given dim only
    /// the first half is computed, `n / 2 + 1` elements, as [`rfft`](Self::rfft) does.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, H, W }
    /// let images = Tensor::<(N, H, W)>::randn([2, 4, 6]);
    /// let spectra = images.rfftn((H, W));
    /// assert_eq!(spectra.shape(), [2, 4, 4]);
    /// assert!((spectra.irfftn((H, W), 6) - &images).abs().max(..).item() < 1e-5);
    /// ```
    ///
    /// # Errors
    /// If a dim has no elements, there are no dims, or the last of `..` has a constant size.
    #[twin(with = "but with the normalisation of the options.")]
    pub fn try_rfftn_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: FftOptions,
    ) -> Result<Tensor<D, T::Complex>>
    where
        T: Float + Solvable,
        SizeOf<LastOf<A>>: Resizable<LastOf<A>>,
    {
        let dims = picked::<A, D>(&dims);
        Tensor::try_from_erased(shape::sized(
            "rfftn",
            &[self.erased()],
            D::STATIC,
            last(dims, D::NAMES.len()).as_slice(),
            |x| x[0].rfftn_with(dims.arg(), options),
        ))
    }

    /// Computes the inverse of [`rfftn`](Self::rfftn), with `n` elements along the last given dim.
    ///
    /// # Errors
    /// If a dim has no elements, there are no dims, `n` is 0, or the last of `..` has another constant
    /// size.
    #[twin(with = "but with the normalisation of the options.")]
    pub fn try_irfftn_with<A: AxesOf<D>>(
        &self,
        dims: A,
        n: usize,
        options: FftOptions,
    ) -> Result<Tensor<D, T::Real>>
    where
        T: Solvable,
        SizeOf<LastOf<A>>: Resizable<LastOf<A>>,
    {
        let dims = picked::<A, D>(&dims);
        Tensor::try_from_erased(shape::sized(
            "irfftn",
            &[self.erased()],
            D::STATIC,
            last(dims, D::NAMES.len()).as_slice(),
            |x| x[0].irfftn_with(dims.arg(), n, options),
        ))
    }

    /// Computes the full convolution with a kernel along a dim; its size is the sum of both sizes,
    /// minus 1. The dims of the kernel align by name, other dims broadcast.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, Time }
    /// let x = tensor!([[1., 2., 3.]]; N, Time);
    /// let y: Tensor<(N, Time)> = x.fft_convolve(&tensor!([1., 1.]; Time), Time);
    /// assert!(y.allclose(&tensor!([[1., 3., 5., 3.]]; N, Time)));
    /// ```
    ///
    /// # Errors
    /// If the dim has no elements, or other sizes do not broadcast.
    #[twin]
    pub fn try_fft_convolve<E: Dims + AlignInto<D>, X: DimOf<D> + DimOf<E>>(
        &self,
        kernel: &Tensor<E, T>,
        dim: X,
    ) -> Result<Self>
    where
        T: Solvable,
        SizeOf<X>: Resizable<X>,
    {
        let _ = dim;
        let (x, at) = (self.erased(), position::<X, D>());
        let kernel = kernel.aligned::<D>("fft_convolve", Some(x))?;
        let raw = call::convolve(Op::FftConvolve, x.raw, &kernel.raw, at);
        let raw = raw.map_err(|error| explain(error, &[x, kernel.erased(D::STATIC)]))?;
        Ok(Self::from_erased(Erased {
            raw,
            wild: x.wild(),
        }))
    }
}

/// # Frequency order
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Moves frequency 0 from the front of dims to their middle; `..` for all.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Time }
    /// let x = tensor!([0, 1, 2, -2, -1]; Time);
    /// let shifted = x.fftshift(Time);
    /// assert_eq!(shifted.to_vec(), [-2, -1, 0, 1, 2]);
    /// assert!(shifted.ifftshift(Time).equal(&x));
    /// ```
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_fftshift<A: AxesOf<D>>(&self, dims: A) -> Result<Self> {
        let dims = picked::<A, D>(&dims);
        Self::try_from_erased(shape::same(self.erased(), D::STATIC, |x| {
            x.fftshift(dims.arg())
        }))
    }

    /// Moves frequency 0 from the middle of dims to the front; `..` for all.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_ifftshift<A: AxesOf<D>>(&self, dims: A) -> Result<Self> {
        let dims = picked::<A, D>(&dims);
        Self::try_from_erased(shape::same(self.erased(), D::STATIC, |x| {
            x.ifftshift(dims.arg())
        }))
    }
}

/// Returns the position of the last dim of an argument.
fn last(dims: Picked, rank: usize) -> Option<usize> {
    if dims.all {
        rank.checked_sub(1)
    } else {
        dims.at.last().copied()
    }
}
