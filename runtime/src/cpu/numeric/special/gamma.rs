//! The Hurwitz zeta function and the derivatives of digamma.

use super::dd::{PI_DD, sin_cos_pi};
use crate::cpu::numeric::double;
use crate::cpu::simd::FMA;

/// From this number plus the order on, the terms of the Euler-Maclaurin formula suffice.
const FAR: f64 = 10.0;

/// Returns the Hurwitz zeta function, Σ (x + k)^-s over k from 0 on, for s above 1, by upward steps and the
/// Euler-Maclaurin formula.
#[must_use]
pub(super) fn zeta(s: f64, x: f64) -> f64 {
    if s == 1.0 {
        return f64::INFINITY;
    }
    if s < 1.0 || s.is_nan() || x.is_nan() {
        return f64::NAN;
    }
    if x <= 0.0 {
        if x == x.floor() {
            return f64::INFINITY;
        }
        // Only integer powers of negative numbers are real.
        if s != s.floor() {
            return f64::NAN;
        }
    }
    if x.is_infinite() {
        return 0.0;
    }
    if x < -1_000.0 {
        // The steps below zero are two series above it, one of which is truncated.
        let from = x - x.floor();
        let sign = if s % 2.0 == 0.0 { 1.0 } else { -1.0 };
        return zeta(s, from) + sign * (zeta(s, 1.0 - from) - zeta(s, 1.0 - x));
    }
    let (mut x, mut sum) = (x, 0.0);
    // Higher orders need a larger start.
    while x < FAR + s {
        let term = x.powf(-s);
        sum += term;
        x += 1.0;
        // Above one, terms decrease: if a term is negligible, all later ones are. The sum of infinities of both signs
        // is NaN.
        if x > 1.0 && (term.abs() <= sum.abs() * 1e-18 || sum.is_nan()) {
            return sum;
        }
    }
    // B₂ₖ / (2k)! · s (s + 1) … (s + 2k - 2) / x^(s + 2k - 1)
    const BERNOULLI: [f64; 12] = [
        1.0 / 6.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        5.0 / 66.0,
        -691.0 / 2_730.0,
        7.0 / 6.0,
        -3_617.0 / 510.0,
        43_867.0 / 798.0,
        -174_611.0 / 330.0,
        854_513.0 / 138.0,
        -236_364_091.0 / 2_730.0,
    ];
    let power = x.powf(-s);
    // The first term may be in range even if the power itself is not.
    let first = if power < f64::MIN_POSITIVE {
        x.powf(1.0 - s)
    } else {
        x * power
    };
    let mut rest = first / (s - 1.0) + 0.5 * power;
    let mut factor = s * power / (2.0 * x);
    for (k, b) in BERNOULLI.iter().enumerate() {
        rest += b * factor;
        let m = 2.0 * k as f64 + 2.0;
        factor *= (s + m - 1.0) * (s + m) / ((m + 1.0) * (m + 2.0) * x * x);
    }
    sum + rest
}

/// Computes ψ'(x) of a positive number: Stirling's series from 10 on (F. W. J. Olver and others, NIST Handbook of
/// Mathematical Functions, 5.15.8), and ψ'(x) = ψ'(x + 1) + 1/x² below.
fn trigamma(x: f64) -> f64 {
    // The Bernoulli numbers, in descending order from the tenth nonzero one.
    const SERIES: [f64; 9] = [
        43_867.0 / 798.0,
        -3_617.0 / 510.0,
        7.0 / 6.0,
        -691.0 / 2_730.0,
        5.0 / 66.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        1.0 / 6.0,
    ];
    let steps = (10.0 - x).ceil().max(0.0);
    let far = x + steps;
    let inverse = 1.0 / far;
    let square = inverse * inverse;
    let series = SERIES.iter().fold(0.0, |sum, c| sum * square + c);
    let mut sum = inverse + (0.5 * square + series * square * inverse);
    // The smallest term first.
    let mut k = steps - 1.0;
    while k >= 0.0 {
        let at = x + k;
        sum += 1.0 / (at * at);
        k -= 1.0;
    }
    sum
}

/// Returns the derivative of order `n` of the digamma function.
#[must_use]
pub(super) fn polygamma(n: f64, x: f64) -> f64 {
    if n == 0.0 {
        return double::digamma::<FMA>(x);
    }
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    if x > 0.0 && n == 1.0 {
        return trigamma(x);
    }
    if x <= 0.0 && x != x.floor() && n == 1.0 {
        // ψ'(x) = π² / sin² πx - ψ'(1 - x)
        let r = x - x.round();
        let (sin, _) = if r.abs() <= 0.25 {
            sin_cos_pi(r)
        } else {
            let (sin, cos) = sin_cos_pi(0.5_f64.copysign(r) - r);
            (cos, sin)
        };
        let ratio = PI_DD.hi / sin.value();
        return ratio * ratio - trigamma(1.0 - x);
    }
    // The factorial of a number above 170 is not finite.
    let factorial: f64 = (1..=n.min(171.0) as u64).map(|k| k as f64).product();
    sign * factorial * zeta(n + 1.0, x)
}
