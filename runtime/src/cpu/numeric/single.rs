//! Functions of `f32` without branches or calls, so that loops over them vectorise.
//!
//! Each is within 2 units in the last place of the exact result everywhere, except for those to which
//! `tests/accuracy.rs` grants 4, and near the zeros of `lgamma` and `digamma`, where the absolute error counts. `FMA`
//! says whether the loop's instruction set has a fused multiply-add; the last bit may depend on it. Functions that are
//! cheaper in `f64`, where shorter series and simple reductions suffice, compute in `f64`.
//!
//! The polynomials are minimax: their error is spread evenly over the interval.

mod angles;
mod bessel;
mod gamma;
mod gate;
mod normal;
mod pair;
mod quantile;
mod slopes;

use super::polynomial::{Madd, polynomial};
pub(crate) use super::remainder::{
    floor_divide_f32 as floor_divide, fmod_f32 as fmod, remainder_f32 as remainder,
};
use super::widened::{self, logarithm, power_of_two};
pub(crate) use super::widened::{
    cosh, gelu_tanh, log1p, log2, log10, logsigmoid, mish, sinh, softplus,
};
pub(crate) use super::wider::{
    acosh, asinh, atanh, celu, entr, hypot, logaddexp, logaddexp2, logit, logit_eps, selu, sinc,
    tanhshrink, xlog1py, xlogy,
};
pub(crate) use angles::{acos, asin, atan, atan2};
pub(crate) use bessel::{i0, i0e, i1, i1e};
pub(crate) use gamma::{digamma, lgamma};
pub(crate) use gate::silu;
pub(crate) use normal::{erfc, gelu, log_ndtr, ndtr};
pub(crate) use quantile::{erfinv, ndtri};
pub(crate) use slopes::{
    asin_slope, asinh_slope, atan_slope, atanh_slope, bell, erfcx_nth, i0_nth, i0e_nth, i1e_nth,
    sinc_nth, vanishing,
};

/// Adding this rounds an `f32` to the nearest integer, which is then in the last bits.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts; the first has so few bits that its product with an exponent is exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// exp(r) for |r| up to ln 2 / 2.
const EXP: [f32; 7] = [
    1.381_436e-3,
    8.368_851e-3,
    4.166_84e-2,
    1.666_652e-1,
    4.999_999_3e-1,
    1.0,
    1.0,
];

/// Like [`ROUND`], for an integer plus a bias: shifted to the exponent, the last bits form a power of two.
const fn round(bias: u8) -> f32 {
    ROUND + bias as f32
}

/// Splits exp(x) into a power of two, whose exponent is in the last bits with a bias, and the remaining argument.
#[inline(always)]
fn split<const FMA: bool, const BIAS: u8>(x: f32) -> (f32, f32) {
    let shifted = x.madd::<FMA>(std::f32::consts::LOG2_E, round(BIAS));
    let whole = shifted - round(BIAS);
    let r = whole.madd::<FMA>(-LN_2[0], x);
    (shifted, whole.madd::<FMA>(-LN_2[1], r))
}

/// Computes exp(r) for the remainder of [`split`].
#[inline(always)]
fn power<const FMA: bool>(r: f32) -> f32 {
    polynomial::<FMA, _, 7>(r, EXP)
}

/// Returns two to the power in the last bits, by this bias: with the bias of the type exactly that power, with a
/// greater bias a multiple.
#[inline(always)]
fn whole_power(shifted: f32) -> f32 {
    f32::from_bits(shifted.to_bits() << 23)
}

/// The exponent bias of the type.
const EXACT: u8 = 127;

/// The bias for [`grow`].
const LESS: u8 = EXACT - 1;

/// Multiplies a number by the power of two whose exponent is in the last bits. `low` says that the exponent is below
/// -114. Two factors are used, so that infinite and subnormal results are correct, too.
#[inline(always)]
fn grow(x: f32, shifted: f32, low: bool) -> f32 {
    // One factor is increased by as much as the other is decreased: without AVX-512, a choice between two constants
    // takes three instructions.
    let more = if low { 64 << 23 } else { 0 };
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(more));
    x * scale * f32::from_bits(2.0_f32.to_bits() - more)
}

/// The bias of powers that are scaled by 2⁶³, which can represent powers from 2⁻¹⁸⁹ to 2⁶³.
const RAISED: u8 = EXACT + 63;

/// The factor that undoes the scaling.
const BACK: f32 = 1.084_202_2e-19;

/// Below this, the power is zero. At 2⁻¹⁹⁰ the scale is already zero, so no instruction underflows, which would cost
/// about 100 cycles on Intel.
const LEAST: f32 = -131.7;

/// Returns *e*^x.
#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f32) -> f32 {
    // Beyond these limits the result is infinite or zero. Comparisons let NaN pass.
    let x = if x > 88.9 { 88.9 } else { x };
    let x = if x < LEAST { LEAST } else { x };
    let (shifted, r) = split::<FMA, LESS>(x);
    grow(power::<FMA>(r), shifted, x < -80.0)
}

/// Like [`exp`], bitwise equal for arguments up to 40, for numbers that are positive only by rounding; results beyond
/// are arbitrary.
#[inline(always)]
pub(crate) fn exp_nonpositive<const FMA: bool>(x: f32) -> f32 {
    let x = if x < LEAST { LEAST } else { x };
    let (shifted, r) = split::<FMA, RAISED>(x);
    power::<FMA>(r) * whole_power(shifted) * BACK
}

/// Returns 2^x.
#[inline(always)]
pub(crate) fn exp2<const FMA: bool>(x: f32) -> f32 {
    const SERIES: [f32; 7] = [
        0.000_154_697_58,
        0.001_339_089_5,
        0.009_618_031,
        0.055_503_57,
        0.240_226_5,
        std::f32::consts::LN_2,
        1.0,
    ];
    let x = if x > 129.0 { 129.0 } else { x };
    // See [`LEAST`].
    let x = if x < -190.0 { -190.0 } else { x };
    let shifted = x + round(LESS);
    let power = polynomial::<FMA, _, 7>(x - (shifted - round(LESS)), SERIES);
    grow(power, shifted, x < -115.0)
}

/// Returns the natural logarithm.
#[inline(always)]
pub(crate) fn log<const FMA: bool>(x: f32) -> f32 {
    // Subnormal numbers are scaled to normal ones.
    let tiny = x < f32::MIN_POSITIVE;
    let value = if tiny { x * 8_388_608.0 } else { x };
    let value = log_of::<FMA>(value.to_bits(), if tiny { 23 } else { 0 });
    let value = if x > f32::MAX { x } else { value };
    let value = if x == 0.0 { f32::NEG_INFINITY } else { value };
    if x >= 0.0 { value } else { f32::NAN }
}

/// Returns whether [`log_near`] is valid for `x`.
#[inline(always)]
pub(crate) fn log_reaches(x: f32) -> bool {
    (f32::MIN_POSITIVE..=f32::MAX).contains(&x)
}

/// Returns the natural logarithm of a positive normal number.
#[inline(always)]
pub(crate) fn log_near<const FMA: bool>(x: f32) -> f32 {
    log_of::<FMA>(x.to_bits(), 0)
}

/// Returns the natural logarithm of a normal number, minus `less` ln 2.
#[inline(always)]
fn log_of<const FMA: bool>(bits: u32, less: i32) -> f32 {
    const SERIES: [f32; 9] = [
        6.915_54e-2,
        -1.178_984_8e-1,
        1.187_291_6e-1,
        -1.238_433_7e-1,
        1.421_866_6e-1,
        -1.666_925_2e-1,
        2.000_222_6e-1,
        -2.499_998_7e-1,
        3.333_331e-1,
    ];
    let bits = bits as i32;
    // The mantissa is between √½ and √2, where its logarithm is smallest.
    let exponent = bits.wrapping_sub(0x3f35_04f3) >> 23;
    let r = f32::from_bits(bits.wrapping_sub(exponent << 23) as u32) - 1.0;
    let whole = (exponent - less) as f32;
    let square = r * r;
    let series = polynomial::<FMA, _, 9>(r, SERIES) * (square * r);
    let rest = whole.madd::<FMA>(LN_2[1], series) - 0.5 * square;
    whole.madd::<FMA>(LN_2[0], r + rest)
}

/// Returns the hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh<const FMA: bool>(x: f32) -> f32 {
    // (tanh(x) / x - 1) / x², as a function of x².
    const INNER: [f32; 5] = [
        -5.843_806e-3,
        2.075_596_1e-2,
        -5.377_330_4e-2,
        1.333_181_9e-1,
        -3.333_329_5e-1,
    ];
    let a = x.abs();
    // Beyond this limit the result is 1.
    let a = if a > 9.1 { 9.1 } else { a };
    let square = a * a;
    let inner = (a * square).madd::<FMA>(polynomial::<FMA, _, 5>(square, INNER), a);
    let (shifted, r) = split::<FMA, EXACT>(a + a);
    let outer = 1.0 - 2.0 / power::<FMA>(r).madd::<FMA>(whole_power(shifted), 1.0);
    (if a < 0.6 { inner } else { outer }).copysign(x)
}

/// Computes *e*^x - 1.
#[inline(always)]
pub(crate) fn expm1<const FMA: bool>(x: f32) -> f32 {
    let clamped = if x > 88.9 { 88.9 } else { x };
    let clamped = if clamped < -20.0 { -20.0 } else { clamped };
    let (shifted, r) = split::<FMA, EXACT>(clamped);
    let [series @ .., _, _] = EXP;
    let less = (r * r).madd::<FMA>(polynomial::<FMA, _, 5>(r, series), r);
    // Half of the power, because the full power may be infinite.
    let scale = whole_power(shifted - 1.0);
    let value = 2.0 * less.madd::<FMA>(scale, scale - 0.5);
    if x == 0.0 { x } else { value }
}

/// Computes `alpha` (exp(x) - 1) for negative numbers; others are unchanged.
#[inline(always)]
pub(crate) fn elu<const FMA: bool>(x: f32, alpha: f32) -> f32 {
    let value = alpha * expm1::<FMA>(x);
    if x <= 0.0 { value } else { x }
}

/// Returns the logistic function. exp(-|x|) does not overflow, and small results are as accurate as it is.
#[inline(always)]
pub(crate) fn sigmoid<const FMA: bool>(x: f32) -> f32 {
    let e = exp_nonpositive::<FMA>(-x.abs());
    let sum = 1.0 + e;
    // The rounding error of the sum, times its approximate inverse.
    let lost = (e - (sum - 1.0)) * e.madd::<FMA>(-0.5, 1.0);
    let value = (if x < 0.0 { e } else { 1.0 }) / sum;
    value.madd::<FMA>(-lost, value)
}

/// The range of sine, cosine and tangent. Beyond, too many digits of π matter, and library calls are used.
const REACH: f32 = 4_194_304.0;

/// Returns whether an angle is within [`REACH`]; false for NaN.
#[inline(always)]
pub(crate) fn reaches(x: f32) -> bool {
    x.abs() <= REACH
}

/// π in two parts; the first has so few bits that its product with a multiple is exact.
const PI: [f64; 2] = [3.141_592_651_605_606, 1.984_187_159_361_081e-9];

/// Returns the sine of an angle reduced by multiples of π, of at most a little more than a quarter turn.
#[inline(always)]
pub(super) fn wave<const FMA: bool>(r: f64) -> f64 {
    const SERIES: [f64; 5] = [
        2.605_189_346_609_724_6e-6,
        -1.980_905_995_397_128e-4,
        8.333_050_861_226_222e-3,
        -1.666_665_798_363_156_6e-1,
        9.999_999_957_277_385e-1,
    ];
    r * polynomial::<FMA, _, 5>(r * r, SERIES)
}

/// Returns the sine, up to [`REACH`].
#[inline(always)]
pub(crate) fn sin<const FMA: bool>(x: f32) -> f32 {
    let x = f64::from(x);
    let shifted = x.madd::<FMA>(std::f64::consts::FRAC_1_PI, widened::ROUND);
    let whole = shifted - widened::ROUND;
    let r = whole.madd::<FMA>(-PI[1], whole.madd::<FMA>(-PI[0], x));
    // Odd multiples of π flip the sign.
    let value = wave::<FMA>(r).to_bits() ^ shifted.to_bits() << 63;
    f64::from_bits(value) as f32
}

/// Returns the cosine, up to [`REACH`].
#[inline(always)]
pub(crate) fn cos<const FMA: bool>(x: f32) -> f32 {
    // The sine, shifted by a quarter turn.
    let x = f64::from(x);
    let shifted = x.madd::<FMA>(std::f64::consts::FRAC_1_PI, 0.5) + widened::ROUND;
    let whole = (shifted - widened::ROUND) - 0.5;
    let r = whole.madd::<FMA>(-PI[1], whole.madd::<FMA>(-PI[0], x));
    let value = wave::<FMA>(r).to_bits() ^ shifted.to_bits() << 63;
    f64::from_bits(value) as f32
}

/// Returns the tangent, up to [`REACH`].
#[inline(always)]
pub(crate) fn tan<const FMA: bool>(x: f32) -> f32 {
    const SIN: [f64; 4] = [
        -1.950_339_848_333_381_2e-4,
        8.332_032_064_541_271e-3,
        -1.666_665_061_013_799_8e-1,
        9.999_999_969_034_502e-1,
    ];
    const COS: [f64; 5] = [
        2.437_914_961_536_428_2e-5,
        -1.388_661_078_648_673_3e-3,
        4.166_661_646_064_768e-2,
        -4.999_999_961_256_798e-1,
        9.999_999_999_521_584e-1,
    ];
    let x = f64::from(x);
    let shifted = x.madd::<FMA>(std::f64::consts::FRAC_2_PI, widened::ROUND);
    let whole = shifted - widened::ROUND;
    let r = whole.madd::<FMA>(-0.5 * PI[1], whole.madd::<FMA>(-0.5 * PI[0], x));
    let t = r * r;
    let (sin, cos) = (
        r * polynomial::<FMA, _, 4>(t, SIN),
        polynomial::<FMA, _, 5>(t, COS),
    );
    // The tangent shifted by a quarter turn is the negative inverse.
    let odd = shifted.to_bits() & 1 == 1;
    let (top, bottom) = if odd { (-cos, sin) } else { (sin, cos) };
    (top / bottom) as f32
}

/// Returns the error function.
#[inline(always)]
pub(crate) fn erf<const FMA: bool>(x: f32) -> f32 {
    // erf(x) / x - 1, as a function of x².
    const INNER: [f32; 7] = [
        7.888_919e-5,
        -8.020_841_5e-4,
        5.189_535e-3,
        -2.685_444_5e-2,
        1.128_36e-1,
        -3.761_262_7e-1,
        1.283_791_7e-1,
    ];
    // -ln(1 - erf(x)), from 1 on.
    const OUTER: [f32; 8] = [
        2.169_754_6e-5,
        -4.414_718_4e-4,
        4.205_281e-3,
        -2.521_032_9e-2,
        1.084_220_8e-1,
        6.332_164e-1,
        1.129_580_3,
        -1.884_661_3e-4,
    ];
    let a = x.abs();
    // Beyond this limit the result is 1.
    let a = if a > 4.0 { 4.0 } else { a };
    let inner = x.madd::<FMA>(polynomial::<FMA, _, 7>(a * a, INNER), x);
    let (shifted, r) = split::<FMA, EXACT>(-polynomial::<FMA, _, 8>(a, OUTER));
    let outer = (-whole_power(shifted))
        .madd::<FMA>(power::<FMA>(r), 1.0)
        .copysign(x);
    if a < 1.0 { inner } else { outer }
}

/// Returns a power, with the special cases of C's `pow`.
#[inline(always)]
pub(crate) fn pow<const FMA: bool>(x: f32, y: f32) -> f32 {
    // The wider type represents all results; rounding then makes them infinite or zero.
    let value = power_of_two::<FMA>(f64::from(y) * logarithm::<FMA>(x.abs())) as f32;
    // Powers of negative numbers: odd powers are negative, and powers that are not integers do not exist.
    let b = y.abs();
    let steps = (b + 8_388_608.0).to_bits();
    let small = b < 8_388_608.0;
    let integer = !small | (f32::from_bits(steps) - 8_388_608.0 == b);
    let odd = (if small { steps } else { b.to_bits() }) & (b < 16_777_216.0) as u32;
    let odd = if integer { odd } else { 0 };
    let value = f32::from_bits(value.to_bits() ^ (x.to_bits() & odd << 31));
    let missing = (f32::MIN..0.0).contains(&x) & !integer;
    let value = if missing { f32::NAN } else { value };
    // 1 to any power is 1, even to NaN; so is anything to the power of 0.
    let one = (x == 1.0) | (y == 0.0) | ((x == -1.0) & (b == f32::INFINITY));
    if one { 1.0 } else { value }
}

#[cfg(test)]
#[path = "single_tests.rs"]
mod tests;
