//! More functions of `f32` that compute in `f64`: functions of two numbers, and inverse functions.

use super::polynomial::{Madd, polynomial};
use super::single;
use super::widened::{ROUND, join, log1pexp, parts, power, power_of_two};

/// Computes ln(1 + x) for x ≥ 0.
#[inline(always)]
fn one_more<const FMA: bool>(x: f64) -> f64 {
    let (less, whole) = parts(x + 1.0);
    // Small numbers are lost in the sum.
    let less = if whole == 0.0 { x } else { less };
    join::<FMA>((less, whole)) * std::f64::consts::LN_2
}

/// Computes the inverse hyperbolic sine: ln(1 + x + x² / (1 + √(1 + x²))).
#[inline(always)]
pub(crate) fn asinh<const FMA: bool>(x: f32) -> f32 {
    let a = f64::from(x.abs());
    let square = a * a;
    let value = one_more::<FMA>(a + square / (1.0 + (1.0 + square).sqrt()));
    (if x.abs() <= f32::MAX { value as f32 } else { x }).copysign(x)
}

/// Computes the inverse hyperbolic cosine: ln(1 + t + √(t (t + 2))) with t = x - 1.
#[inline(always)]
pub(crate) fn acosh<const FMA: bool>(x: f32) -> f32 {
    let wide = f64::from(x);
    let t = wide - 1.0;
    let value = one_more::<FMA>(t + (t * (wide + 1.0)).sqrt()) as f32;
    let value = if x <= f32::MAX { value } else { x };
    if x < 1.0 { f32::NAN } else { value }
}

/// Computes the inverse hyperbolic tangent: half of ln(1 + 2 x / (1 - x)).
#[inline(always)]
pub(crate) fn atanh<const FMA: bool>(x: f32) -> f32 {
    let a = f64::from(x.abs());
    let value = (0.5 * one_more::<FMA>((a + a) / (1.0 - a))) as f32;
    let value = if x.abs() == 1.0 { f32::INFINITY } else { value };
    (if x.abs() <= 1.0 { value } else { f32::NAN }).copysign(x)
}

/// Computes ln(x / (1 - x)).
#[inline(always)]
pub(crate) fn logit<const FMA: bool>(x: f32) -> f32 {
    let wide = f64::from(x);
    let value = (join::<FMA>(parts(wide / (1.0 - wide))) * std::f64::consts::LN_2) as f32;
    let value = if x == 1.0 { f32::INFINITY } else { value };
    let value = if x == 0.0 { f32::NEG_INFINITY } else { value };
    if (0.0..=1.0).contains(&x) {
        value
    } else {
        f32::NAN
    }
}

/// Like [`logit`], but clamps the argument to between `eps` and 1 - `eps`.
#[inline(always)]
pub(crate) fn logit_eps<const FMA: bool>(x: f32, eps: f32) -> f32 {
    let high = 1.0 - eps;
    let x = if x < eps { eps } else { x };
    logit::<FMA>(if x > high { high } else { x })
}

/// Returns the value computed for a sum of powers, except for two equal infinities and NaN.
#[inline(always)]
fn at_the_ends(x: f32, y: f32, value: f64) -> f32 {
    if (x == y) & (x.abs() > f32::MAX) {
        x
    } else if x.is_nan() | y.is_nan() {
        // The vectorised logarithm does not propagate NaN, and the greater argument may be
        // infinite.
        f32::NAN
    } else {
        value as f32
    }
}

/// Returns the logarithm of the sum of two exponentials.
#[inline(always)]
pub(crate) fn logaddexp<const FMA: bool>(x: f32, y: f32) -> f32 {
    let greater = if x < y { y } else { x };
    let value = f64::from(greater) + log1pexp::<FMA>(f64::from(x) - f64::from(y));
    at_the_ends(x, y, value)
}

/// Returns the logarithm to base 2 of the sum of two powers of 2.
#[inline(always)]
pub(crate) fn logaddexp2<const FMA: bool>(x: f32, y: f32) -> f32 {
    let greater = if x < y { y } else { x };
    let power = power_of_two::<FMA>(-(f64::from(x) - f64::from(y)).abs());
    let (less, whole) = parts(power + 1.0);
    let less = if whole == 0.0 { power } else { less };
    let value = f64::from(greater) + join::<FMA>((less, whole));
    at_the_ends(x, y, value)
}

/// Returns the length of the vector (x, y), whose square fits in an `f64`.
#[inline(always)]
pub(crate) fn hypot<const FMA: bool>(x: f32, y: f32) -> f32 {
    let (a, b) = (f64::from(x), f64::from(y));
    let value = a.madd::<FMA>(a, b * b).sqrt() as f32;
    let endless = (x.abs() > f32::MAX) | (y.abs() > f32::MAX);
    if endless { f32::INFINITY } else { value }
}

/// Computes `alpha` (exp(x / `alpha`) - 1) for negative numbers; others are unchanged.
#[inline(always)]
pub(crate) fn celu<const FMA: bool>(x: f32, alpha: f32) -> f32 {
    let value = alpha * single::expm1::<FMA>(x / alpha);
    if x <= 0.0 { value } else { x }
}

/// Like [`single::elu`], with fixed scales that preserve the mean and variance of the inputs.
#[inline(always)]
pub(crate) fn selu<const FMA: bool>(x: f32) -> f32 {
    const ALPHA: f64 = 1.673_263_242_354_377_2;
    const SCALE: f64 = 1.050_700_987_355_480_5;
    let negative = (SCALE * ALPHA) as f32 * single::expm1::<FMA>(x);
    if x <= 0.0 { negative } else { SCALE as f32 * x }
}

/// Computes sin πx / πx.
#[inline(always)]
pub(crate) fn sinc<const FMA: bool>(x: f32) -> f32 {
    let wide = f64::from(x.abs());
    // All numbers beyond are even integers.
    let near = if wide < 4_503_599_627_370_496.0 {
        wide
    } else {
        0.0
    };
    let shifted = near + ROUND;
    // Exact, by sin π(n + r) = ± sin πr.
    let wave = single::wave::<FMA>(std::f64::consts::PI * (near - (shifted - ROUND)));
    let wave = f64::from_bits(wave.to_bits() ^ shifted.to_bits() << 63);
    let value = (wave / (std::f64::consts::PI * wide)) as f32;
    let value = if x == 0.0 { 1.0 } else { value };
    if wide > f64::from(f32::MAX) {
        f32::NAN
    } else {
        value
    }
}

/// Computes x - tanh(x).
#[inline(always)]
pub(crate) fn tanhshrink<const FMA: bool>(x: f32) -> f32 {
    // (x - tanh(x)) / x³, as a function of x²; for larger x nothing cancels.
    const SERIES: [f64; 10] = [
        -8.057_403_055_681_43e-6,
        7.959_705_715_425_095e-5,
        -0.000_384_214_459_717_353_07,
        0.001_274_467_413_614_953_3,
        -0.003_486_782_239_187_117_5,
        0.008_824_665_325_196_945,
        -0.021_861_212_473_155_12,
        0.053_967_341_599_868_476,
        -0.133_333_294_079_557_02,
        0.333_333_333_054_134_15,
    ];
    let wide = f64::from(x);
    let z = wide * wide;
    let near = wide * (z * polynomial::<FMA, _, 10>(z, SERIES));
    let tanh = 1.0 - 2.0 / (power::<FMA>(2.0 * wide.abs()) + 1.0);
    (if z < 1.5 {
        near
    } else {
        wide - tanh.copysign(wide)
    }) as f32
}

/// Returns the number times the logarithm of `other`; zero if the number is zero.
#[inline(always)]
pub(crate) fn xlogy<const FMA: bool>(x: f32, other: f32) -> f32 {
    let value = x * single::log::<FMA>(other);
    let value = if x == 0.0 { 0.0 } else { value };
    if other.is_nan() { other } else { value }
}

/// Returns the number times ln(1 + `other`); zero if the number is zero.
#[inline(always)]
pub(crate) fn xlog1py<const FMA: bool>(x: f32, other: f32) -> f32 {
    let value = x * single::log1p::<FMA>(other);
    let value = if x == 0.0 { 0.0 } else { value };
    if other.is_nan() { other } else { value }
}

/// Computes -x ln x.
#[inline(always)]
pub(crate) fn entr<const FMA: bool>(x: f32) -> f32 {
    let value = -x * single::log::<FMA>(x);
    let value = if x == 0.0 { 0.0 } else { value };
    if x < 0.0 { f32::NEG_INFINITY } else { value }
}
