//! The error function's family.

use std::f64::consts::FRAC_2_SQRT_PI;

use super::dd::Dd;

/// The number whose error function is `x`; infinite at ±1, NaN beyond.
///
/// Winitzki's formula gives three digits, Halley's steps the rest: with `erf` near zero and, so that
/// nothing cancels, with `erfc` elsewhere.
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
        // The next term is below half a unit.
        return x * (1.0 / FRAC_2_SQRT_PI);
    }
    // What is missing to 1, exactly.
    let q = 1.0 - p;
    let log = if p < 0.5 {
        (-p * p).ln_1p()
    } else {
        (q * (1.0 + p)).ln()
    };
    let b = 2.0 / (std::f64::consts::PI * A) + 0.5 * log;
    // The root of b² - log/A, less b, without cancellation.
    let mut z = (-log / A / ((b * b - log / A).sqrt() + b)).sqrt();
    // The tail is further from a parabola.
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

/// x Φ(x), where Φ is the normal distribution: `x/2 · erfc(-x/√2)`.
#[must_use]
pub(super) fn gelu(x: f64) -> f64 {
    // The second part of √½: erfc's relative slope would magnify what rounding loses.
    const HI: f64 = std::f64::consts::FRAC_1_SQRT_2;
    const LO: f64 = -4.833_646_656_726_457e-17;
    if x.abs() > 40.0 || x.is_nan() {
        // Minus infinity times zero is NaN.
        return if x < 0.0 { x * 0.0 } else { x };
    }
    if x < -30.0 {
        return far_gelu(x);
    }
    let z = -x * HI;
    let rest = (-x).mul_add(HI, -z) - x * LO;
    let tail = libm::erfc(z);
    let slope = FRAC_2_SQRT_PI * (-z * z).exp();
    0.5 * x * (tail - rest * slope)
}

/// The asymptotic series; Φ itself would lose digits below the normal numbers.
fn far_gelu(x: f64) -> f64 {
    const SQRT_TAU: f64 = 2.506_628_274_631_000_5;
    let square = Dd::product(x, x);
    let inverse = 1.0 / square.hi;
    let series = (1..=8)
        .rev()
        .fold(1.0, |sum, k| 1.0 - f64::from(2 * k - 1) * inverse * sum);
    let root = (-0.25 * square.hi).exp();
    -(series * (1.0 - 0.5 * square.lo) / SQRT_TAU * root) * root
}
