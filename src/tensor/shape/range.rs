//! New tensors from a count: ranges, windows, indices.
//!
//! [`Tensor::linspace`], [`Tensor::logspace`], [`Tensor::bartlett_window`],
//! [`Tensor::blackman_window`], [`Tensor::hann_window`], [`Tensor::hamming_window`],
//! [`Tensor::kaiser_window`], [`Tensor::fftfreq`], [`Tensor::rfftfreq`], [`Tensor::tril_indices`],
//! [`Tensor::triu_indices`].

use nomina_core::dims::{Dims, Distinct, Matrix, Vector};
use nomina_core::{DType, Element, Float, Result};
use nomina_macros::twin;
use nomina_runtime::Device;
use nomina_runtime::call::{self, Window};
use nomina_runtime::tensor::{HammingOptions, KaiserOptions, LogspaceOptions, WindowOptions};

use crate::erased::{Known, factory};
use crate::tensor::Tensor;

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Creates `steps` equally spaced numbers from `start` to `end`, including both; the values
    /// determine the dtype.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, P, Q, R }
    /// let x: Tensor<(N,)> = Tensor::linspace(0.0, 1.0, 5);
    /// assert_eq!(x.to_vec(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// let powers: Tensor<(N,), f64> = Tensor::logspace(0.0, 2.0, 3);
    /// assert_eq!(powers.to_vec(), [1.0, 10.0, 100.0]);
    /// let window: Tensor<(N,)> = Tensor::hann_window(4);
    /// assert_eq!(window.to_vec(), [0.0, 0.5, 1.0, 0.5]);
    /// ```
    ///
    /// # Errors
    /// If the dim has another constant size, or memory runs out.
    #[twin]
    pub fn try_linspace(start: T, end: T, steps: usize) -> Result<Self>
    where
        D: Distinct + Vector,
    {
        let [start, end] = [start, end].map(T::to_scalar);
        let raw = call::linspace(start, end, steps, T::DTYPE, Device::Cpu);
        Self::try_from_erased(raw.and_then(|raw| factory::from_raw(raw, D::STATIC, "linspace")))
    }

    /// Creates the powers of 10 whose exponents are those of [`linspace`](Self::linspace).
    ///
    /// # Errors
    /// If the dim has another constant size, or memory runs out.
    #[twin(with = "but with the base of the options.")]
    pub fn try_logspace_with(
        start: T,
        end: T,
        steps: usize,
        options: LogspaceOptions,
    ) -> Result<Self>
    where
        D: Distinct + Vector,
    {
        let [start, end] = [start, end].map(T::to_scalar);
        let raw = call::logspace(start, end, steps, options.base, T::DTYPE, Device::Cpu);
        Self::try_from_erased(raw.and_then(|raw| factory::from_raw(raw, D::STATIC, "logspace")))
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Creates a window of `n` elements that rises and falls linearly.
    ///
    /// # Errors
    /// If the dim has another constant size, or memory runs out.
    #[twin(with = "but with options.")]
    pub fn try_bartlett_window_with(n: usize, options: WindowOptions) -> Result<Self>
    where
        D: Distinct + Vector,
        T: Float,
    {
        Self::windowed("bartlett_window", options.shaped(Window::Bartlett), n)
    }

    /// Creates a window of `n` elements, of three cosines.
    ///
    /// # Errors
    /// If the dim has another constant size, or memory runs out.
    #[twin(with = "but with options.")]
    pub fn try_blackman_window_with(n: usize, options: WindowOptions) -> Result<Self>
    where
        D: Distinct + Vector,
        T: Float,
    {
        Self::windowed("blackman_window", options.shaped(Window::Blackman), n)
    }

    /// Creates a window of `n` elements, of one raised cosine.
    ///
    /// # Errors
    /// If the dim has another constant size, or memory runs out.
    #[twin(with = "but with options.")]
    pub fn try_hann_window_with(n: usize, options: WindowOptions) -> Result<Self>
    where
        D: Distinct + Vector,
        T: Float,
    {
        Self::windowed(
            "hann_window",
            options.shaped(Window::Cosine {
                alpha: 0.5,
                beta: 0.5,
            }),
            n,
        )
    }

    /// Creates a window of `n` elements, of one raised cosine that does not reach zero.
    ///
    /// # Errors
    /// If the dim has another constant size, or memory runs out.
    #[twin(with = "but with options.")]
    pub fn try_hamming_window_with(n: usize, options: HammingOptions) -> Result<Self>
    where
        D: Distinct + Vector,
        T: Float,
    {
        Self::windowed("hamming_window", options.shaped(), n)
    }

    /// Creates a window of `n` elements, of Bessel functions.
    ///
    /// # Errors
    /// If the dim has another constant size, or memory runs out.
    #[twin(with = "but with options.")]
    pub fn try_kaiser_window_with(n: usize, options: KaiserOptions) -> Result<Self>
    where
        D: Distinct + Vector,
        T: Float,
    {
        Self::windowed("kaiser_window", options.shaped(), n)
    }

    /// Creates the frequencies that belong to the elements of `fft`, for `n` samples at a distance of `d`: 0, 1, … and
    /// then the negative ones, divided by `n d`. With `d` in seconds, they are in hertz.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Freq }
    /// let f: Tensor<(Freq,)> = Tensor::fftfreq(4, 0.5);
    /// assert_eq!(f.to_vec(), [0.0, 0.5, -1.0, -0.5]);
    /// let f: Tensor<(Freq,), f64> = Tensor::rfftfreq(4, 0.5);
    /// assert_eq!(f.to_vec(), [0.0, 0.5, 1.0]);
    /// ```
    ///
    /// # Errors
    /// If `n` is 0, `d` is zero or not finite, or the dim has another constant size.
    #[twin]
    pub fn try_fftfreq(n: usize, d: f64) -> Result<Self>
    where
        D: Distinct + Vector,
        T: Float,
    {
        Self::frequencies("fftfreq", n, d, false)
    }

    /// Creates the frequencies that belong to the `n / 2 + 1` elements of `rfft`, for `n` samples at a distance of `d`.
    ///
    /// # Errors
    /// If `n` is 0, `d` is zero or not finite, or the dim has another constant size.
    #[twin]
    pub fn try_rfftfreq(n: usize, d: f64) -> Result<Self>
    where
        D: Distinct + Vector,
        T: Float,
    {
        Self::frequencies("rfftfreq", n, d, true)
    }

    #[cfg_attr(debug_assertions, track_caller)]
    fn frequencies(op: &'static str, n: usize, d: f64, half: bool) -> Result<Self>
    where
        D: Distinct + Vector,
        T: Float,
    {
        let raw = call::frequencies(op, n, d, half, (T::DTYPE, Device::Cpu));
        Self::try_from_erased(raw.and_then(|raw| factory::from_raw(raw, D::STATIC, op)))
    }

    #[cfg_attr(debug_assertions, track_caller)]
    fn windowed(op: &'static str, (shape, periodic): (Window, bool), n: usize) -> Result<Self>
    where
        D: Distinct + Vector,
        T: Float,
    {
        let raw = call::window(op, shape, n, periodic, T::DTYPE, Device::Cpu);
        Self::try_from_erased(raw.and_then(|raw| factory::from_raw(raw, D::STATIC, op)))
    }
}

impl<D: Dims> Tensor<D, i64> {
    /// Returns the indices of a matrix on and below the diagonal `offset`: a row of row numbers and
    /// a row of column numbers.
    ///
    /// # Errors
    /// If the dims have other constant sizes, or memory runs out.
    #[twin]
    pub fn try_tril_indices(rows: usize, columns: usize, offset: i64) -> Result<Self>
    where
        D: Distinct + Matrix,
    {
        let raw = call::triangle_indices(
            "tril_indices",
            (rows, columns),
            offset,
            false,
            DType::I64,
            Device::Cpu,
        );
        Self::try_from_erased(raw.and_then(|raw| factory::from_raw(raw, D::STATIC, "tril_indices")))
    }

    /// Returns the indices of a matrix on and above the diagonal `offset`: a row of row numbers and
    /// a row of column numbers.
    ///
    /// # Errors
    /// If the dims have other constant sizes, or memory runs out.
    #[twin]
    pub fn try_triu_indices(rows: usize, columns: usize, offset: i64) -> Result<Self>
    where
        D: Distinct + Matrix,
    {
        let raw = call::triangle_indices(
            "triu_indices",
            (rows, columns),
            offset,
            true,
            DType::I64,
            Device::Cpu,
        );
        Self::try_from_erased(raw.and_then(|raw| factory::from_raw(raw, D::STATIC, "triu_indices")))
    }
}

// The forms in place and with an out tensor.
include!("range/forms.rs");
