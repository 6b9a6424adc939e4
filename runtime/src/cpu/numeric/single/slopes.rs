//! Derivatives of other functions, without intermediate results that overflow, underflow or cancel.

use super::super::double;
use super::exp_nonpositive;
use super::pair::product;
use crate::cpu::numeric::polynomial::Madd;

/// Returns the product, but zero if `y` is zero and `x` infinite.
#[inline(always)]
pub(crate) fn vanishing<const FMA: bool>(x: f32, y: f32) -> f32 {
    let value = x * y;
    if (y == 0.0) & (x.abs() > f32::MAX) {
        0.0
    } else {
        value
    }
}

/// Computes exp(-`weight` x²) for a weight of at least one half. The rounding error of the square would be
/// magnified, so it is added separately.
#[inline(always)]
pub(crate) fn bell<const FMA: bool>(x: f32, weight: f32) -> f32 {
    // Beyond this limit the result is zero.
    let a = x.abs();
    let a = if a > 18.0 { 18.0 } else { a };
    let (square, low) = product::<FMA>(a, a);
    let value = exp_nonpositive::<FMA>(-weight * square);
    value.madd::<FMA>(-weight * low, value)
}

/// Computes 1 / √(1 - x²).
#[inline(always)]
pub(crate) fn asin_slope<const FMA: bool>(x: f32) -> f32 {
    1.0 / ((1.0 - x) * (1.0 + x)).sqrt()
}

/// Computes 1 / √(1 + x²).
#[inline(always)]
pub(crate) fn asinh_slope<const FMA: bool>(x: f32) -> f32 {
    let a = x.abs();
    let far = a > 1.0;
    let t = if far { 1.0 / a } else { a };
    (if far { t } else { 1.0 }) / t.madd::<FMA>(t, 1.0).sqrt()
}

/// Computes 1 / (1 + x²).
#[inline(always)]
pub(crate) fn atan_slope<const FMA: bool>(x: f32) -> f32 {
    let a = x.abs();
    let far = a > 1.0;
    let t = if far { 1.0 / a } else { a };
    (if far { t * t } else { 1.0 }) / t.madd::<FMA>(t, 1.0)
}

/// Computes 1 / (1 - x²).
#[inline(always)]
pub(crate) fn atanh_slope<const FMA: bool>(x: f32) -> f32 {
    1.0 / ((1.0 - x) * (1.0 + x))
}

/// Returns the derivative of order `n` of sin πx / πx.
#[inline(always)]
pub(crate) fn sinc_nth<const FMA: bool>(x: f32, n: f32) -> f32 {
    double::sinc_nth::<FMA>(x.into(), n.into()) as f32
}

/// Returns the derivative of order `n` of exp(x²) erfc(x).
#[inline(always)]
pub(crate) fn erfcx_nth<const FMA: bool>(x: f32, n: f32) -> f32 {
    double::erfcx_nth::<FMA>(x.into(), n.into()) as f32
}

/// Returns the derivative of order `n` of I₀.
#[inline(always)]
pub(crate) fn i0_nth<const FMA: bool>(x: f32, n: f32) -> f32 {
    double::i0_nth::<FMA>(x.into(), n.into()) as f32
}

/// Returns the derivative of order `n` of exp(-|x|) I₀(x).
#[inline(always)]
pub(crate) fn i0e_nth<const FMA: bool>(x: f32, n: f32) -> f32 {
    double::i0e_nth::<FMA>(x.into(), n.into()) as f32
}

/// Returns the derivative of order `n` of exp(-|x|) I₁(x).
#[inline(always)]
pub(crate) fn i1e_nth<const FMA: bool>(x: f32, n: f32) -> f32 {
    double::i1e_nth::<FMA>(x.into(), n.into()) as f32
}
