//! New tensors from a count: ranges, windows, indices.

use nomina_core::{DType, Result, Scalar};

use crate::call::{self, Window};
use crate::config::default_dtype;
use crate::tensor::factory::Options;
use crate::tensor::{DynTensor, IntoNames};

/// Options of `logspace_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogspaceOptions {
    /// The base of the powers.
    pub base: f64,
}

impl Default for LogspaceOptions {
    fn default() -> Self {
        Self { base: 10.0 }
    }
}

/// Options of `bartlett_window_with`, `blackman_window_with` and `hann_window_with`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowOptions {
    /// Whether the window is periodic, for spectra, instead of symmetric, for filters.
    pub periodic: bool,
}

impl Default for WindowOptions {
    fn default() -> Self {
        Self { periodic: true }
    }
}

/// Options of `hamming_window_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HammingOptions {
    /// Whether the window is periodic, for spectra, instead of symmetric, for filters.
    pub periodic: bool,
    /// The mean.
    pub alpha: f64,
    /// The factor of the cosine.
    pub beta: f64,
}

impl Default for HammingOptions {
    fn default() -> Self {
        Self {
            periodic: true,
            alpha: 0.54,
            beta: 0.46,
        }
    }
}

/// Options of `kaiser_window_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KaiserOptions {
    /// Whether the window is periodic, for spectra, instead of symmetric, for filters.
    pub periodic: bool,
    /// The parameter of the width; the window is narrower for greater numbers.
    pub beta: f64,
}

impl Default for KaiserOptions {
    fn default() -> Self {
        Self {
            periodic: true,
            beta: 12.0,
        }
    }
}

impl WindowOptions {
    /// Returns the window `shape` with these options.
    #[must_use]
    pub fn shaped(self, shape: Window) -> (Window, bool) {
        (shape, self.periodic)
    }
}

impl HammingOptions {
    /// Returns the window of these options.
    #[must_use]
    pub fn shaped(self) -> (Window, bool) {
        let Self { alpha, beta, .. } = self;
        (Window::Cosine { alpha, beta }, self.periodic)
    }
}

impl KaiserOptions {
    /// Returns the window of these options.
    #[must_use]
    pub fn shaped(self) -> (Window, bool) {
        (Window::Kaiser { beta: self.beta }, self.periodic)
    }
}

/// Hann's window.
const HANN: Window = Window::Cosine {
    alpha: 0.5,
    beta: 0.5,
};

impl Options {
    /// Creates `steps` equally spaced numbers from `start` to `end`, including both.
    ///
    /// # Errors
    /// [`ErrorKind::DType`](nomina_core::ErrorKind::DType) for complex numbers in a real dtype.
    pub fn linspace(
        self,
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        steps: usize,
        names: impl IntoNames,
    ) -> Result<DynTensor> {
        let (start, end) = (start.into(), end.into());
        let names = names.into_names("linspace", 1)?;
        let dtype = self.spaced(start, end);
        let raw = call::linspace(start, end, steps, dtype, self.place())?;
        Ok(DynTensor::new(raw, names))
    }

    /// Creates powers of a base whose exponents are those of [`Options::linspace`].
    ///
    /// # Errors
    /// Like [`Options::linspace`].
    pub fn logspace(
        self,
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        steps: usize,
        names: impl IntoNames,
        options: LogspaceOptions,
    ) -> Result<DynTensor> {
        let (start, end) = (start.into(), end.into());
        let names = names.into_names("logspace", 1)?;
        let dtype = self.spaced(start, end);
        let raw = call::logspace(start, end, steps, options.base, dtype, self.place())?;
        Ok(DynTensor::new(raw, names))
    }

    fn spaced(self, start: Scalar, end: Scalar) -> DType {
        let complex = [start, end].iter().any(|v| matches!(v, Scalar::Complex(_)));
        let natural = default_dtype();
        let natural = if complex {
            natural.to_complex()
        } else {
            natural
        };
        self.dtype.unwrap_or(natural)
    }

    /// Creates a window of `n` elements.
    ///
    /// # Errors
    /// [`ErrorKind::DType`](nomina_core::ErrorKind::DType) for a dtype that is not a real float.
    pub fn window(
        self,
        op: &'static str,
        (shape, periodic): (Window, bool),
        n: usize,
        names: impl IntoNames,
    ) -> Result<DynTensor> {
        let names = names.into_names(op, 1)?;
        let raw = call::window(op, shape, n, periodic, self.float(), self.place())?;
        Ok(DynTensor::new(raw, names))
    }

    /// Creates the frequencies of a Fourier transform of `n` samples at a distance of `d`, or of its first half.
    ///
    /// # Errors
    /// Like [`DynTensor::fftfreq`]; also for a dtype that is not a real float.
    pub fn frequencies(
        self,
        op: &'static str,
        n: usize,
        d: f64,
        half: bool,
        names: impl IntoNames,
    ) -> Result<DynTensor> {
        let names = names.into_names(op, 1)?;
        let raw = call::frequencies(op, n, d, half, (self.float(), self.place()))?;
        Ok(DynTensor::new(raw, names))
    }

    /// Returns the indices on and below a diagonal of a matrix of `row` rows and `col` columns, or on and above it if
    /// `upper`: a row of row numbers and a row of column numbers, i64 by default.
    ///
    /// # Errors
    /// If the sizes overflow, or memory runs out.
    pub fn triangle_indices(
        self,
        op: &'static str,
        (row, col): (usize, usize),
        offset: i64,
        upper: bool,
        names: impl IntoNames,
    ) -> Result<DynTensor> {
        let names = names.into_names(op, 2)?;
        let dtype = self.dtype.unwrap_or(DType::I64);
        let raw = call::triangle_indices(op, (row, col), offset, upper, dtype, self.place())?;
        Ok(DynTensor::new(raw, names))
    }
}

impl DynTensor {
    /// Creates `steps` equally spaced numbers of the default float dtype from `start` to `end`, including both.
    ///
    /// # Errors
    /// If names do not fit, or memory runs out.
    pub fn linspace(
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        steps: usize,
        names: impl IntoNames,
    ) -> Result<Self> {
        Self::options().linspace(start, end, steps, names)
    }

    /// Creates powers of 10 whose exponents are those of [`DynTensor::linspace`].
    ///
    /// # Errors
    /// Like [`DynTensor::linspace`].
    pub fn logspace(
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        steps: usize,
        names: impl IntoNames,
    ) -> Result<Self> {
        Self::options().logspace(start, end, steps, names, LogspaceOptions::default())
    }

    /// Like [`DynTensor::logspace`], but with another base.
    ///
    /// # Errors
    /// Like [`DynTensor::linspace`].
    pub fn logspace_with(
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        steps: usize,
        names: impl IntoNames,
        options: LogspaceOptions,
    ) -> Result<Self> {
        Self::options().logspace(start, end, steps, names, options)
    }

    /// Creates the frequencies that belong to the elements of `fft`, for `n` samples at a distance of `d`: 0, 1, … and
    /// then the negative ones, divided by `n d`. With `d` in seconds, they are in hertz.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let f = DynTensor::fftfreq(4, 0.5, ["Freq"])?;
    /// assert_eq!(f.to_vec::<f32>()?, [0.0, 0.5, -1.0, -0.5]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If `n` is 0, `d` is zero or not finite, or names are not one.
    pub fn fftfreq(n: usize, d: f64, names: impl IntoNames) -> Result<Self> {
        Self::options().frequencies("fftfreq", n, d, false, names)
    }

    /// Creates the frequencies that belong to the `n / 2 + 1` elements of `rfft`, for `n` samples at a distance of `d`.
    ///
    /// # Errors
    /// Like [`DynTensor::fftfreq`].
    pub fn rfftfreq(n: usize, d: f64, names: impl IntoNames) -> Result<Self> {
        Self::options().frequencies("rfftfreq", n, d, true, names)
    }

    /// Returns the indices of a matrix on and below the diagonal `offset`: a row of row numbers and a row of column
    /// numbers, i64.
    ///
    /// # Errors
    /// If names are not two, or memory runs out.
    pub fn tril_indices(
        row: usize,
        col: usize,
        offset: i64,
        names: impl IntoNames,
    ) -> Result<Self> {
        Self::options().triangle_indices("tril_indices", (row, col), offset, false, names)
    }

    /// Returns the indices of a matrix on and above the diagonal `offset`: a row of row numbers and a row of column
    /// numbers, i64.
    ///
    /// # Errors
    /// If names are not two, or memory runs out.
    pub fn triu_indices(
        row: usize,
        col: usize,
        offset: i64,
        names: impl IntoNames,
    ) -> Result<Self> {
        Self::options().triangle_indices("triu_indices", (row, col), offset, true, names)
    }
}

macro_rules! windows {
    ($($name:ident $with:ident $options:ident $($shape:expr)?, $doc:literal;)*) => {
        impl DynTensor {$(
            #[doc = $doc]
            ///
            /// # Errors
            /// If names are not one, or memory runs out.
            pub fn $name(n: usize, names: impl IntoNames) -> Result<Self> {
                Self::$with(n, names, $options::default())
            }

            #[doc = concat!("Like [`DynTensor::", stringify!($name), "`], but with options.")]
            ///
            /// # Errors
            #[doc = concat!("Like [`DynTensor::", stringify!($name), "`].")]
            pub fn $with(n: usize, names: impl IntoNames, options: $options) -> Result<Self> {
                Self::options().window(stringify!($name), options.shaped($($shape)?), n, names)
            }
        )*}
    };
}

windows! {
    bartlett_window bartlett_window_with WindowOptions Window::Bartlett, "Creates a window of `n` elements that rises and falls linearly.";
    blackman_window blackman_window_with WindowOptions Window::Blackman, "Creates a window of `n` elements, of three cosines.";
    hann_window hann_window_with WindowOptions HANN, "Creates a window of `n` elements, of one raised cosine.";
    hamming_window hamming_window_with HammingOptions, "Creates a window of `n` elements, of one raised cosine that does not reach zero.";
    kaiser_window kaiser_window_with KaiserOptions, "Creates a window of `n` elements, of Bessel functions.";
}
