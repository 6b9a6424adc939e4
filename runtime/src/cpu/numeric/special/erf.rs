//! The error function and related functions.

use std::f64::consts::FRAC_2_SQRT_PI;

use super::dd::Dd;

/// Returns the inverse error function; infinite at ±1, NaN beyond.
///
/// Winitzki's formula gives three digits, Halley's method the rest: with `erf` near zero and with
/// `erfc` elsewhere, so that nothing cancels.
#[must_use]
pub(super) fn erfinv(x: f64) -> f64 {
    const A: f64 = 0.147;
    let p = x.abs();
    if p > 1.0 || p.is_nan() {
        return f64::NAN;
    }
    if p == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    if p < 1e-8 {
        // The next term is below half a unit in the last place.
        return x * (1.0 / FRAC_2_SQRT_PI);
    }
    // The exact difference from 1.
    let q = 1.0 - p;
    let log = if p < 0.5 {
        (-p * p).ln_1p()
    } else {
        (q * (1.0 + p)).ln()
    };
    let b = 2.0 / (std::f64::consts::PI * A) + 0.5 * log;
    // The root of b² - log/A, minus b, without cancellation.
    let mut z = (-log / A / ((b * b - log / A).sqrt() + b)).sqrt();
    // The tail needs a further step, because it is less like a parabola.
    let steps = if q < 0.01 { 3 } else { 2 };
    for _ in 0..steps {
        let error = if p < 0.5 {
            libm::erf(z) - p
        } else {
            q - libm::erfc(z)
        };
        let step = error / (FRAC_2_SQRT_PI * (-z * z).exp());
        z -= step / (1.0 + z * step);
    }
    z.copysign(x)
}

/// √½ in two parts.
const ROOT_HALF: [f64; 2] = [std::f64::consts::FRAC_1_SQRT_2, -4.833_646_656_726_457e-17];

/// Computes x Φ(x), where Φ is the normal distribution function: `x/2 · erfc(-x/√2)`.
#[must_use]
pub(super) fn gelu(x: f64) -> f64 {
    if x.abs() > 40.0 || x.is_nan() {
        return if x < 0.0 { -0.0 } else { x };
    }
    if x < -30.0 {
        return far_gelu(x);
    }
    0.5 * x * doubled_ndtr(x)
}

/// Computes 2 Φ(x) for x from -30 to 40.
fn doubled_ndtr(x: f64) -> f64 {
    // The large relative derivative of erfc would magnify the rounding error.
    let [hi, lo] = ROOT_HALF;
    let z = -x * hi;
    let rest = (-x).mul_add(hi, -z) - x * lo;
    let slope = FRAC_2_SQRT_PI * (-z * z).exp();
    libm::erfc(z) - rest * slope
}

/// Computes the asymptotic series; Φ itself would lose digits in the subnormal range.
fn far_gelu(x: f64) -> f64 {
    let (series, root) = far(x);
    -(series * root) * root
}

/// Returns |x| Φ(x) as a factor and a number to be multiplied twice, for x below -30.
fn far(x: f64) -> (f64, f64) {
    const SQRT_TAU: f64 = 2.506_628_274_631_000_5;
    let square = Dd::product(x, x);
    let inverse = 1.0 / square.hi;
    let series = (1..=8)
        .rev()
        .fold(1.0, |sum, k| 1.0 - f64::from(2 * k - 1) * inverse * sum);
    let root = (-0.25 * square.hi).exp();
    (series * (1.0 - 0.5 * square.lo) / SQRT_TAU, root)
}

/// Returns the normal distribution function.
#[must_use]
pub(super) fn ndtr(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x > 40.0 {
        return 1.0;
    }
    if x < -40.0 {
        return 0.0;
    }
    if x < -30.0 {
        let (series, root) = far(x);
        return series / -x * root * root;
    }
    0.5 * doubled_ndtr(x)
}

/// Computes exp(x²) erfc(x).
#[must_use]
pub(super) fn erfcx(x: f64) -> f64 {
    if x < 25.0 {
        // Below this, the square is out of the range of exp.
        if x < -27.0 {
            return f64::INFINITY;
        }
        let square = Dd::product(x, x);
        let power = (0.5 * square.hi).exp();
        return (power * libm::erfc(x)) * (power + power * square.lo);
    }
    // 1 / (x √π) times a series in 1 / 2x²; valid for infinity and NaN, too.
    let inverse = 0.5 / (x * x);
    let series = (1..=8)
        .rev()
        .fold(1.0, |sum, k| 1.0 - f64::from(2 * k - 1) * inverse * sum);
    0.5 * FRAC_2_SQRT_PI / x * series
}

/// Returns the logarithm of the normal distribution function.
#[must_use]
pub(super) fn log_ndtr(x: f64) -> f64 {
    if x > -1.0 {
        return (-ndtr(-x)).ln_1p();
    }
    let [hi, _] = ROOT_HALF;
    // NaN takes this path, too.
    (0.5 * erfcx(-x * hi)).ln() - 0.5 * x * x
}

/// Returns the inverse of the normal distribution function.
#[must_use]
pub(super) fn ndtri(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p >= 0.25 {
        // 2p - 1 is exact.
        return std::f64::consts::SQRT_2 * erfinv(2.0 * p - 1.0);
    }
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    // The tail, by Newton's method on the logarithm, which is nearly a parabola.
    let log = p.ln();
    let mut x = -(-2.0 * log).sqrt();
    for _ in 0..8 {
        let [hi, _] = ROOT_HALF;
        let hazard = std::f64::consts::SQRT_2 * 0.5 * FRAC_2_SQRT_PI / erfcx(-x * hi);
        let step = (log_ndtr(x) - log) / hazard;
        x -= step;
        if step.abs() <= 1e-9 * x.abs() {
            break;
        }
    }
    x
}
