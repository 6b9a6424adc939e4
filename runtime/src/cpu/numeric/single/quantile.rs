//! Inverses of the error function and of the normal distribution function.

use super::log;
use crate::cpu::numeric::polynomial::polynomial;

/// Returns the inverse error function of x ≥ 0, given `rest` = 1 - x. The polynomials are in the
/// square and in 1 / √-ln(1 - x), to which the result is nearly proportional.
#[inline(always)]
fn inverse<const FMA: bool>(x: f32, rest: f32) -> f32 {
    const INNER: [f32; 9] = [
        0.621_737_24,
        -0.920_493_07,
        0.725_576_2,
        -0.211_086_11,
        0.122_158_35,
        0.079_706_67,
        0.127_961_59,
        0.232_004_48,
        0.886_226_95,
    ];
    const OUTER: [f32; 13] = [
        -6.302_654_7,
        2.661_187,
        1.565_269_1,
        -0.332_120_27,
        -0.455_003_44,
        0.182_449_09,
        -0.084_081_32,
        0.150_240_2,
        -0.228_485_4,
        0.214_745_09,
        0.007_162_508_6,
        -0.430_918_2,
        0.834_094_17,
    ];
    let root = (-log::<FMA>(rest)).sqrt();
    let outer = root * polynomial::<FMA, _, 13>(1.0 / root - 0.5, OUTER);
    let inner = x * polynomial::<FMA, _, 9>(x * x, INNER);
    if x < 0.75 { inner } else { outer }
}

/// Returns the inverse error function; infinite at ±1, NaN beyond.
#[inline(always)]
pub(crate) fn erfinv<const FMA: bool>(x: f32) -> f32 {
    let a = x.abs();
    let value = inverse::<FMA>(a, 1.0 - a);
    let value = if a == 1.0 { f32::INFINITY } else { value };
    (if a <= 1.0 { value } else { f32::NAN }).copysign(x)
}

/// Returns the inverse of the normal distribution function.
#[inline(always)]
pub(crate) fn ndtri<const FMA: bool>(p: f32) -> f32 {
    let upper = p > 0.5;
    let rest = 2.0 * if upper { 1.0 - p } else { p };
    let x = (2.0 * p - 1.0).abs();
    let value = std::f32::consts::SQRT_2 * inverse::<FMA>(x, rest);
    let value = if rest == 0.0 { f32::INFINITY } else { value };
    let value = if upper { value } else { -value };
    if (0.0..=1.0).contains(&p) {
        value
    } else {
        f32::NAN
    }
}
