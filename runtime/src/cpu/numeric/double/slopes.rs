//! Derivatives of other functions, without intermediate results that overflow, underflow or cancel.

use super::error::erfcx;
use super::exp_nonpositive;
use super::pair::product;
use crate::cpu::numeric::polynomial::Madd;

/// Returns the product, but zero if `y` is zero and `x` infinite.
#[inline(always)]
pub(crate) fn vanishing<const FMA: bool>(x: f64, y: f64) -> f64 {
    let value = x * y;
    if (y == 0.0) & (x.abs() > f64::MAX) {
        0.0
    } else {
        value
    }
}

/// Computes exp(-`weight` x²) for a weight of at least one half. The rounding error of the square would be magnified,
/// so it is added separately.
#[inline(always)]
pub(crate) fn bell<const FMA: bool>(x: f64, weight: f64) -> f64 {
    // Beyond this limit the result is zero.
    let a = x.abs();
    let a = if a > 40.0 { 40.0 } else { a };
    let (square, low) = product::<FMA>(a, a);
    let value = exp_nonpositive::<FMA>(-weight * square);
    value.madd::<FMA>(-weight * low, value)
}

/// Computes 1 / √(1 - x²).
#[inline(always)]
pub(crate) fn asin_slope<const FMA: bool>(x: f64) -> f64 {
    1.0 / ((1.0 - x) * (1.0 + x)).sqrt()
}

/// Computes 1 / √(1 + x²).
#[inline(always)]
pub(crate) fn asinh_slope<const FMA: bool>(x: f64) -> f64 {
    let a = x.abs();
    let far = a > 1.0;
    let t = if far { 1.0 / a } else { a };
    (if far { t } else { 1.0 }) / t.madd::<FMA>(t, 1.0).sqrt()
}

/// Computes 1 / (1 + x²).
#[inline(always)]
pub(crate) fn atan_slope<const FMA: bool>(x: f64) -> f64 {
    let a = x.abs();
    let far = a > 1.0;
    let t = if far { 1.0 / a } else { a };
    (if far { t * t } else { 1.0 }) / t.madd::<FMA>(t, 1.0)
}

/// Computes 1 / (1 - x²).
#[inline(always)]
pub(crate) fn atanh_slope<const FMA: bool>(x: f64) -> f64 {
    1.0 / ((1.0 - x) * (1.0 + x))
}

/// Computes (-1)^n.
fn sign(n: u32) -> f64 {
    if n.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// Computes n!.
fn factorial(n: u32) -> f64 {
    (1..=n).map(f64::from).product()
}

/// Returns the order of a derivative, clamped so that powers do not overflow.
fn order(n: f64) -> u32 {
    n.clamp(0.0, 100.0) as u32
}

/// Returns the derivative of order `n` of sin πx / πx.
#[inline(always)]
pub(crate) fn sinc_nth<const FMA: bool>(x: f64, n: f64) -> f64 {
    sinc_of(x, order(n))
}

#[inline(never)]
fn sinc_of(x: f64, n: u32) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let a = x.abs();
    let u = std::f64::consts::PI * a;
    let value = if u < f64::from(n) + 2.0 {
        // The sum of (-1)^k u^(2k - n) / ((2k + 1) (2k - n)!).
        let mut k = n.div_ceil(2);
        let mut term = sign(k) * if n.is_multiple_of(2) { 1.0 } else { u };
        let mut sum = 0.0;
        loop {
            let more = term / f64::from(2 * k + 1);
            sum += more;
            if more.abs() <= 1e-18 * f64::abs(sum) || more == 0.0 {
                break sum;
            }
            k += 1;
            let power = f64::from(2 * k - n);
            term *= -u * u / (power * (power - 1.0));
        }
    } else {
        // u f is the sine, so its derivative of order k is u f⁽ᵏ⁾ + k f⁽ᵏ⁻¹⁾. sin π(m + r) = ± sin πr.
        let whole = a.round();
        let (sin, cos) = (std::f64::consts::PI * (a - whole)).sin_cos();
        let flip = if whole % 2.0 == 0.0 { 1.0 } else { -1.0 };
        let wave = [sin, cos, -sin, -cos];
        (0..=n).fold(0.0, |before, k| {
            (flip * wave[(k % 4) as usize] - f64::from(k) * before) / u
        })
    };
    let value = value * std::f64::consts::PI.powi(n as i32);
    if x < 0.0 { sign(n) * value } else { value }
}

/// Returns the derivative of order `n` of exp(x²) erfc(x).
#[inline(always)]
pub(crate) fn erfcx_nth<const FMA: bool>(x: f64, n: f64) -> f64 {
    erfcx_of(x, order(n))
}

#[inline(never)]
fn erfcx_of(x: f64, n: u32) -> f64 {
    if x >= 6.0 {
        // The asymptotic series, the sum of (-1)^k (2k - 1)!! / 2^k / x^(2k + 1) over √π, differentiated term by term.
        let inverse = 1.0 / x;
        let mut term = sign(n) * factorial(n) * inverse.powi(n as i32) * inverse;
        let mut sum = 0.0;
        for k in 0..60 {
            sum += term;
            let at = f64::from(2 * k);
            let powers = (at + 1.0 + f64::from(n)) * (at + 2.0 + f64::from(n));
            let next = -term * powers / (2.0 * (at + 2.0)) * inverse * inverse;
            if next.abs() >= term.abs() || next.abs() <= 1e-18 * f64::abs(sum) {
                break;
            }
            term = next;
        }
        return sum * (0.5 * std::f64::consts::FRAC_2_SQRT_PI);
    }
    let (mut before, mut value) = (0.0, erfcx::<false>(x));
    for k in 0..n {
        let from = match k {
            0 => -std::f64::consts::FRAC_2_SQRT_PI,
            k => 2.0 * f64::from(k) * before,
        };
        (before, value) = (value, (2.0 * x).mul_add(value, from));
    }
    value
}

/// From here on the asymptotic series of the Bessel functions is exact.
const FAR: f64 = 30.0;

/// Returns the derivative of order `n` of exp(-x) I₀(x) for x beyond [`FAR`].
fn far_i0e(x: f64, n: u32) -> f64 {
    // The sum of ((2k - 1)!!)² / (k! 8^k) / x^(k + 1/2), differentiated term by term.
    let inverse = 1.0 / x;
    let falling = |k: u32| (0..n).map(|i| f64::from(k + i) + 0.5).product::<f64>();
    let mut term = inverse.sqrt() * inverse.powi(n as i32);
    let mut sum = 0.0;
    for k in 0..40 {
        let more = term * falling(k);
        sum += more;
        if more <= 1e-18 * f64::abs(sum) {
            break;
        }
        let odd = f64::from(2 * k + 1);
        term *= odd * odd / (8.0 * f64::from(k + 1)) * inverse;
    }
    sign(n) * sum * (std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2 * 0.5)
}

/// Returns the mean over θ of `f(cos θ, 1 - cos θ)` exp(-x (1 - cos θ)), by the midpoint rule, which is exact for
/// periodic functions if x is at most [`FAR`].
fn mean(x: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
    const POINTS: u32 = 40;
    let each = (0..POINTS).map(|at| {
        let half = (f64::from(at) + 0.5) * (std::f64::consts::FRAC_PI_2 / f64::from(POINTS));
        let less = 2.0 * half.sin() * half.sin();
        f(1.0 - less, less) * (-x * less).exp()
    });
    each.sum::<f64>() / f64::from(POINTS)
}

/// Returns the derivative of order `n` of I₀.
#[inline(always)]
pub(crate) fn i0_nth<const FMA: bool>(x: f64, n: f64) -> f64 {
    i0_of(x, order(n))
}

#[inline(never)]
fn i0_of(x: f64, n: u32) -> f64 {
    let a = x.abs();
    let value = if a < 1.0 {
        // The sum of (2k)! / (k!² 4^k (2k - n)!) x^(2k - n).
        let mut k = n.div_ceil(2);
        let mut term = factorial(2 * k) / (factorial(k) * factorial(k) * 4.0_f64.powi(k as i32))
            * if n.is_multiple_of(2) { 1.0 } else { a };
        let mut sum = 0.0;
        loop {
            sum += term;
            if term <= 1e-18 * sum {
                break sum;
            }
            k += 1;
            let (two, power) = (f64::from(2 * k), f64::from(2 * k - n));
            term *= two * (two - 1.0) * a * a / (two * two * power * (power - 1.0));
        }
    } else {
        let scaled = if a <= FAR {
            mean(a, |cos, _| cos.powi(n as i32))
        } else {
            // cosⁿ is (1 - (1 - cos))ⁿ.
            let binomial = |k: u32| factorial(n) / (factorial(k) * factorial(n - k));
            (0..=n).map(|k| binomial(k) * far_i0e(a, k)).sum()
        };
        // In two steps, because the exponential overflows before the function does.
        let root = (0.5 * a).exp();
        let value = scaled * root * root;
        if a == f64::INFINITY { a } else { value }
    };
    if x < 0.0 { sign(n) * value } else { value }
}

/// Returns the derivative of order `n` of exp(-|x|) I₀(x), without a preferred direction at zero.
#[inline(always)]
pub(crate) fn i0e_nth<const FMA: bool>(x: f64, n: f64) -> f64 {
    i0e_of(x, order(n))
}

#[inline(never)]
fn i0e_of(x: f64, n: u32) -> f64 {
    let a = x.abs();
    let value = if a <= FAR {
        mean(a, |_, less| (-less).powi(n as i32))
    } else {
        far_i0e(a, n)
    };
    two_sided(x, value, n)
}

/// Returns the derivative of order `n` of exp(-|x|) I₁(x), without a preferred direction at zero.
#[inline(always)]
pub(crate) fn i1e_nth<const FMA: bool>(x: f64, n: f64) -> f64 {
    i1e_of(x, order(n))
}

#[inline(never)]
fn i1e_of(x: f64, n: u32) -> f64 {
    let a = x.abs();
    let value = if a <= FAR {
        mean(a, |cos, less| (-less).powi(n as i32) * cos)
    } else {
        far_i0e(a, n) + far_i0e(a, n + 1)
    };
    two_sided(x, value, n + 1)
}

/// Extends a derivative from the right of zero to the left, even or odd by the parity of `n`; at zero it is the mean of
/// both sides.
fn two_sided(x: f64, value: f64, n: u32) -> f64 {
    // At zero all values are multiples of a power of two.
    let value = if x == 0.0 {
        let scale = 2.0_f64.powi(n as i32 + 1);
        (value * scale).round() / scale
    } else {
        value
    };
    if sign(n) > 0.0 || x > 0.0 || x.is_nan() {
        value
    } else if x == 0.0 {
        0.0
    } else {
        -value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests derivatives against the difference of the order below, and against values computed with 40 digits.
    #[test]
    fn derivatives_of_any_order() {
        type Nth = fn(f64, f64) -> f64;
        let all: [(&str, Nth); 5] = [
            ("sinc", sinc_nth::<false>),
            ("erfcx", erfcx_nth::<false>),
            ("i0", i0_nth::<false>),
            ("i0e", i0e_nth::<false>),
            ("i1e", i1e_nth::<false>),
        ];
        for (name, f) in all {
            for x in [0.3_f64, 0.9, 1.1, 2.5, 5.9, 6.1, 12.0, 29.9, 30.1, 80.0] {
                for n in 1..5 {
                    for x in [x, -x] {
                        // Differences of higher orders lose more digits than they keep.
                        if name == "erfcx" && (x < -4.0 || n > 1) {
                            continue;
                        }
                        let (n, step) = (f64::from(n), 1e-6 * x.abs());
                        let slope = (f(x + step, n) - f(x - step, n)) / (2.0 * step);
                        let got = f(x, n + 1.0);
                        let near = 1e-4 * got.abs().max(f(x, n).abs());
                        assert!(
                            (got - slope).abs() <= near,
                            "{name}^{n}({x}): {got}, {slope}"
                        );
                    }
                }
            }
        }
    }
}
