//! Numbers computed from their index: ranges by count, and window functions.

use crate::Device;
use crate::job::Place;
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar};
use num_complex::Complex;

use crate::call::to_device;
use crate::cpu::fill::by_index;
use crate::raw::Raw;

/// Returns a new vector of `value(i)`, computed on the host and then moved.
fn tabulate<T: Copy + Default>(
    op: &'static str,
    n: usize,
    of: DType,
    (dtype, device): (DType, Device),
    value: impl Fn(usize) -> T + Sync,
) -> Result<Raw> {
    let mut out = Raw::empty(op, &[n], dtype, Device::Cpu)?;
    let mut access = out.as_mut()?;
    let dest = Place {
        ptr: access.as_mut_ptr(),
        dtype,
    };
    // SAFETY: a new contiguous tensor of `n` elements, on the host.
    unsafe { by_index(n, dest, of, value) };
    if !device.is_cpu() {
        crate::cuda::host_fallback::count(op);
    }
    to_device(&out, device)
}

fn is_complex(value: Scalar) -> bool {
    matches!(value, Scalar::Complex(_))
}

/// Checks that a complex start or end has a complex dtype.
fn check(op: &'static str, ends: [Scalar; 2], dtype: DType) -> Result<()> {
    if ends.into_iter().any(is_complex) && !dtype.is_complex() {
        let what = format!("complex numbers as {dtype}");
        return Err(Error::new(ErrorKind::DType, op, what).hint("use a complex dtype"));
    }
    Ok(())
}

/// Returns `steps` equally spaced numbers from `start` to `end`, both included. Each half counts from its own end, so
/// that both ends are exact.
///
/// # Errors
/// [`ErrorKind::DType`] for complex numbers in a real dtype; also if memory or the device is missing.
pub fn linspace(
    start: Scalar,
    end: Scalar,
    steps: usize,
    dtype: DType,
    device: Device,
) -> Result<Raw> {
    check("linspace", [start, end], dtype)?;
    spaced("linspace", start, end, steps, (dtype, device), |x| x, |x| x)
}

/// Returns the powers of `base` whose exponents [`linspace`] returns.
///
/// # Errors
/// Like [`linspace`].
pub fn logspace(
    start: Scalar,
    end: Scalar,
    steps: usize,
    base: f64,
    dtype: DType,
    device: Device,
) -> Result<Raw> {
    check("logspace", [start, end], dtype)?;
    let power = |x: Complex<f64>| Complex::new(base, 0.0).powc(x);
    spaced(
        "logspace",
        start,
        end,
        steps,
        (dtype, device),
        |x| base.powf(x),
        power,
    )
}

/// Returns the frequencies of a discrete Fourier transform of `n` samples at a distance of `d`, or those of the first
/// half only.
///
/// # Errors
/// If the distance is zero or not finite, or the dtype is not a real float.
pub fn frequencies(
    op: &'static str,
    n: usize,
    d: f64,
    half: bool,
    (dtype, device): (DType, Device),
) -> Result<Raw> {
    let refuse = |kind, what: String, hint| {
        Err(Error::new(kind, op, what)
            .operand(&Names::default(), &[n])
            .hint(hint))
    };
    if !dtype.is_float() {
        let what = format!("frequencies of {dtype}");
        return refuse(ErrorKind::DType, what, "use a float dtype");
    }
    if d == 0.0 || !d.is_finite() {
        let what = format!("samples at a distance of {d}");
        return refuse(
            ErrorKind::Argument,
            what,
            "give the time or length between two samples",
        );
    }
    if n == 0 {
        let what = "an empty signal has no transform".to_owned();
        return refuse(ErrorKind::Argument, what, "give at least 1 for `n`");
    }
    let (count, span) = (if half { n / 2 + 1 } else { n }, n as f64 * d);
    tabulate(op, count, DType::F64, (dtype, device), |i| {
        let turns = i as f64;
        let turns = if half || i < n.div_ceil(2) {
            turns
        } else {
            turns - n as f64
        };
        turns / span
    })
}

fn spaced(
    op: &'static str,
    start: Scalar,
    end: Scalar,
    steps: usize,
    place: (DType, Device),
    real: impl Fn(f64) -> f64 + Sync,
    complex: impl Fn(Complex<f64>) -> Complex<f64> + Sync,
) -> Result<Raw> {
    // From the end, index `i` is `last - i`; surplus numbers are computed and dropped.
    let last = steps.saturating_sub(1) as f64;
    let intervals = last.max(1.0);
    if place.0.is_complex() {
        let (start, end) = (start.to_complex(), end.to_complex());
        let step = (end - start) / intervals;
        return tabulate(op, steps, DType::C128, place, |i| {
            complex(if i < steps.div_ceil(2) {
                start + step * i as f64
            } else {
                end - step * (last - i as f64)
            })
        });
    }
    let (start, end) = (start.to_f64(), end.to_f64());
    let step = (end - start) / intervals;
    tabulate(op, steps, DType::F64, place, |i| {
        real(if i < steps.div_ceil(2) {
            start + step * i as f64
        } else {
            end - step * (last - i as f64)
        })
    })
}

/// The shape of a window function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// A triangle.
    Bartlett,
    /// Three cosines.
    Blackman,
    /// `alpha - beta * cos`: 0.5 and 0.5 give the Hann window, 0.54 and 0.46 the Hamming window.
    Cosine {
        /// The mean, alpha.
        alpha: f64,
        /// The factor of the cosine, beta.
        beta: f64,
    },
    /// A Bessel function (Kaiser window); a greater `beta` makes it narrower.
    Kaiser {
        /// The width.
        beta: f64,
    },
}

/// Returns a window of `n` elements. A periodic one is the symmetric one of `n + 1` elements without its last.
///
/// # Errors
/// [`ErrorKind::DType`] if the dtype is not a real float; also if memory or the device is missing.
pub fn window(
    op: &'static str,
    kind: Window,
    n: usize,
    periodic: bool,
    dtype: DType,
    device: Device,
) -> Result<Raw> {
    if !dtype.is_float() {
        let what = format!("a window of {dtype}");
        return Err(Error::new(ErrorKind::DType, op, what)
            .operand(&Names::default(), &[n])
            .hint("use a float dtype"));
    }
    if n == 1 {
        return tabulate(op, 1, DType::F64, (dtype, device), |_| 1.0);
    }
    let span = if periodic { n } else { n.saturating_sub(1) } as f64;
    let scale = match kind {
        Window::Kaiser { beta } => bessel(beta).recip(),
        _ => 1.0,
    };
    tabulate(op, n, DType::F64, (dtype, device), |i| {
        let at = i as f64 / span;
        let turn = std::f64::consts::TAU * at;
        match kind {
            Window::Bartlett => 1.0 - (2.0 * at - 1.0).abs(),
            Window::Blackman => 0.42 - 0.5 * turn.cos() + 0.08 * (2.0 * turn).cos(),
            Window::Cosine { alpha, beta } => alpha - beta * turn.cos(),
            Window::Kaiser { beta } => {
                let across = 2.0 * at - 1.0;
                bessel(beta * (1.0 - across * across).max(0.0).sqrt()) * scale
            }
        }
    })
}

/// The modified Bessel function of the first kind and order 0, by its series, whose terms are all positive. Infinite
/// from about 713 on.
fn bessel(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..2000 {
        let k = f64::from(k);
        term *= quarter / (k * k);
        sum += term;
        if term <= sum * f64::EPSILON / 4.0 || !sum.is_finite() {
            break;
        }
    }
    sum
}
