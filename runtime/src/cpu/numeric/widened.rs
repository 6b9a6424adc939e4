//! Functions of `f32` that compute in `f64`, without branches or calls.
//!
//! In `f64`, short series and simple reductions are accurate enough that the result is rounded only
//! once.

use super::polynomial::{Madd, polynomial};

/// Adding this rounds an `f64` to the nearest integer, which is then in the last bits.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0;
/// √½, the start of the range of mantissas.
const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;

/// Returns 2^x within 2⁻²⁹, for x clamped to ±1000.
#[inline(always)]
pub(super) fn power_of_two<const FMA: bool>(x: f64) -> f64 {
    const SERIES: [f64; 7] = [
        1.534_578_614_730_580_6e-4,
        1.339_993_117_309_136_6e-3,
        9.618_489_062_444_849e-3,
        5.550_328_777_457_203e-2,
        2.402_264_688_962_273e-1,
        6.931_472_057_366_993e-1,
        1.000_000_000_554_211_4,
    ];
    let x = if x > 1000.0 { 1000.0 } else { x };
    let x = if x < -1000.0 { -1000.0 } else { x };
    let shifted = x + ROUND;
    let power = polynomial::<FMA, _, 7>(x - (shifted - ROUND), SERIES);
    power * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52))
}

/// Returns *e*^x, like [`power_of_two`].
#[inline(always)]
pub(super) fn power<const FMA: bool>(x: f64) -> f64 {
    power_of_two::<FMA>(x * std::f64::consts::LOG2_E)
}

/// Splits a positive number into its mantissa minus one, with the mantissa between √½ and √2, and
/// the exponent of two.
#[inline(always)]
pub(super) fn parts(x: f64) -> (f64, f64) {
    let parts = x.to_bits().wrapping_sub(ROOT_HALF);
    let mantissa = f64::from_bits((parts & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT_HALF));
    // The exponent, made positive first: not every instruction set has arithmetic shifts of, or
    // conversions from, such integers.
    let whole = f64::from_bits((parts.wrapping_add(1 << 62) >> 52) | ROUND.to_bits());
    (mantissa - 1.0, whole - (ROUND + 1024.0))
}

/// Computes the logarithm to base 2 of a mantissa times a power of two, within 2⁻³⁶: 2 artanh(s) /
/// ln 2 with s = `less` / (`less` + 2).
#[inline(always)]
pub(super) fn join<const FMA: bool>((less, whole): (f64, f64)) -> f64 {
    const SERIES: [f64; 5] = [
        0.340_783_135_265_534_44,
        0.411_669_906_895_284_77,
        0.577_083_630_985_387_7,
        0.961_796_673_104_619_7,
        2.885_390_081_790_273_3,
    ];
    let s = less / (less + 2.0);
    s.madd::<FMA>(polynomial::<FMA, _, 5>(s * s, SERIES), whole)
}

/// Returns the logarithm to base 2 of a nonnegative number.
#[inline(always)]
pub(super) fn logarithm<const FMA: bool>(x: f32) -> f64 {
    // Every `f32`, even a subnormal one, is a normal `f64`.
    let value = join::<FMA>(parts(f64::from(x)));
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    // Infinity and NaN are passed on.
    if x < f32::INFINITY {
        value
    } else {
        f64::from(x)
    }
}

/// Returns the logarithm to base 2.
#[inline(always)]
pub(crate) fn log2<const FMA: bool>(x: f32) -> f32 {
    if x < 0.0 {
        f32::NAN
    } else {
        logarithm::<FMA>(x) as f32
    }
}

/// Returns the logarithm to base 10.
#[inline(always)]
pub(crate) fn log10<const FMA: bool>(x: f32) -> f32 {
    let value = logarithm::<FMA>(x) * std::f64::consts::LOG10_2;
    if x < 0.0 { f32::NAN } else { value as f32 }
}

/// Computes ln(1 + x).
#[inline(always)]
pub(crate) fn log1p<const FMA: bool>(x: f32) -> f32 {
    let wide = f64::from(x);
    let (less, whole) = parts(wide + 1.0);
    // Small numbers are lost in the sum.
    let less = if whole == 0.0 { wide } else { less };
    let value = (join::<FMA>((less, whole)) * std::f64::consts::LN_2) as f32;
    let value = if x == -1.0 { f32::NEG_INFINITY } else { value };
    let value = if x <= f32::MAX { value } else { x };
    let value = if x < -1.0 { f32::NAN } else { value };
    if x == 0.0 { x } else { value }
}

/// Returns the hyperbolic sine.
#[inline(always)]
pub(crate) fn sinh<const FMA: bool>(x: f32) -> f32 {
    // sinh(x) / x, as a function of x², up to 1.
    const SERIES: [f64; 5] = [
        2.819_039_203_810_057e-6,
        1.983_570_970_395_633_1e-4,
        8.333_353_231_021_05e-3,
        1.666_666_641_758_782_3e-1,
        1.000_000_000_049_879_4,
    ];
    let wide = f64::from(x.abs());
    let inner = wide * polynomial::<FMA, _, 5>(wide * wide, SERIES);
    let power = power::<FMA>(wide);
    let outer = 0.5 * (power - 1.0 / power);
    ((if wide < 1.0 { inner } else { outer }) as f32).copysign(x)
}

/// Returns the hyperbolic cosine.
#[inline(always)]
pub(crate) fn cosh<const FMA: bool>(x: f32) -> f32 {
    let power = power::<FMA>(x.abs().into());
    (0.5 * (power + 1.0 / power)) as f32
}

/// Like [`gelu`](super::single::gelu), by a formula with tanh, which equals one with the logistic
/// function.
#[inline(always)]
pub(crate) fn gelu_tanh<const FMA: bool>(x: f32) -> f32 {
    const SQRT_8_OVER_PI: f64 = 1.595_769_121_605_730_8;
    let wide = f64::from(x);
    let inner = SQRT_8_OVER_PI * wide * (0.044_715 * wide * wide + 1.0);
    let power = power::<FMA>(-inner);
    let value = (wide / (1.0 + power)) as f32;
    if inner < -600.0 { -0.0 } else { value }
}

/// Computes ln(1 + exp(-|x|)).
#[inline(always)]
pub(super) fn log1pexp<const FMA: bool>(x: f64) -> f64 {
    // ln(1 + e) / e, for e up to 1.
    const SERIES: [f64; 11] = [
        0.002030335846184605,
        -0.01340802350034004,
        0.04147932469931884,
        -0.08244310708346503,
        0.12418537263745044,
        -0.161057383321633,
        0.19890760874230096,
        -0.2498727297535175,
        0.33332559793915406,
        -0.4999998143876289,
        0.9999999992570764,
    ];
    let power = power::<FMA>(-x.abs());
    let value = power * polynomial::<FMA, _, 11>(power, SERIES);
    // The power of minus infinity is not exactly zero, because the argument is clamped.
    if x.abs() > 600.0 { 0.0 } else { value }
}

/// Returns the logarithm of the logistic function.
#[inline(always)]
pub(crate) fn logsigmoid<const FMA: bool>(x: f32) -> f32 {
    let wide = f64::from(x);
    let negative = if wide > 0.0 { 0.0 } else { wide };
    (negative - log1pexp::<FMA>(wide)) as f32
}

/// Computes ln(1 + exp(beta x)) / beta, or the number itself if beta x exceeds `threshold`.
#[inline(always)]
pub(crate) fn softplus<const FMA: bool>(x: f32, beta: f32, threshold: f32) -> f32 {
    let (beta, threshold) = (f64::from(beta), f64::from(threshold));
    let scaled = f64::from(x) * beta;
    let positive = if scaled < 0.0 { 0.0 } else { scaled };
    let value = ((positive + log1pexp::<FMA>(scaled)) / beta) as f32;
    if scaled > threshold { x } else { value }
}

/// Returns the number times tanh of its softplus, by tanh ln(1 + e) = (e² + 2e) / (e² + 2e + 2).
#[inline(always)]
pub(crate) fn mish<const FMA: bool>(x: f32) -> f32 {
    let wide = f64::from(x);
    let power = power::<FMA>(wide);
    let n = power * (power + 2.0);
    let value = (wide * (n / (n + 2.0))) as f32;
    let value = if x < -600.0 { -0.0 } else { value };
    if x > 20.0 { x } else { value }
}
