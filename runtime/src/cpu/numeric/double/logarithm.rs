//! Logarithms and functions composed of them.

use super::exponential::{LN_2, ROUND, exp};
use super::pair::{product, quick_sum};
use crate::cpu::numeric::polynomial::{Madd, polynomial};

/// √½, the start of the range of mantissas.
pub(super) const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
/// (2 artanh(s) / s - 2) / s², as a function of s².
const SERIES: [f64; 7] = [
    0.147_965_437_676_664_98,
    0.153_139_954_310_699_63,
    0.181_835_663_018_140_53,
    0.222_221_985_389_389_03,
    0.285_714_287_426_798_55,
    0.399_999_999_994_135_9,
    0.666_666_666_666_673_4,
];

/// Splits a positive number into its mantissa minus one, with the mantissa between √½ and √2, and the exponent
/// of two.
#[inline(always)]
pub(super) fn parts(x: f64) -> (f64, f64) {
    // Subnormal numbers are scaled to normal ones.
    let tiny = x < f64::MIN_POSITIVE;
    let bits = (if tiny {
        x * 18_014_398_509_481_984.0
    } else {
        x
    })
    .to_bits();
    let (f, whole) = normal_parts(bits);
    (f, whole - if tiny { 54.0 } else { 0.0 })
}

/// Like [`parts`], for a normal number.
#[inline(always)]
fn normal_parts(bits: u64) -> (f64, f64) {
    let parts = bits.wrapping_sub(ROOT_HALF);
    let mantissa = f64::from_bits((parts & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT_HALF));
    // The exponent, made positive first: not every instruction set has arithmetic shifts of, or conversions
    // from, such integers.
    let whole = f64::from_bits((parts.wrapping_add(1 << 62) >> 52) | ROUND.to_bits());
    (mantissa - 1.0, whole - (ROUND + 1024.0))
}

/// Returns the natural logarithm within 2 units in the last place.
#[inline(always)]
pub(crate) fn log<const FMA: bool>(x: f64) -> f64 {
    ends(x, joined::<FMA>(parts(x)))
}

/// Computes the logarithm from the parts of a number.
#[inline(always)]
fn joined<const FMA: bool>((f, whole): (f64, f64)) -> f64 {
    // log(1 + f) = f - (f²/2 - s (f²/2 + series)) with s = f / (2 + f); f is exact.
    let s = f / (2.0 + f);
    let z = s * s;
    let half = 0.5 * f * f;
    let inner = half.madd::<FMA>(s, s * (z * polynomial::<FMA, _, 7>(z, SERIES)));
    let rest = whole.madd::<FMA>(LN_2[1], inner) - half;
    whole.madd::<FMA>(LN_2[0], f + rest)
}

/// Returns whether [`log_near`] is valid for `x`.
#[inline(always)]
pub(crate) fn log_reaches(x: f64) -> bool {
    (f64::MIN_POSITIVE..=f64::MAX).contains(&x)
}

/// Returns the natural logarithm of a positive normal number.
#[inline(always)]
pub(crate) fn log_near<const FMA: bool>(x: f64) -> f64 {
    joined::<FMA>(normal_parts(x.to_bits()))
}

/// Returns the natural logarithm of a normal number between 0 and 1. The error is within a unit in the last
/// place of the result or of 1.
#[inline(always)]
pub(super) fn log_short<const FMA: bool>(x: f64) -> f64 {
    let (f, whole) = normal_parts(x.to_bits());
    let s = f / (2.0 + f);
    let z = s * s;
    let series = s * z.madd::<FMA>(polynomial::<FMA, _, 7>(z, SERIES), 2.0);
    whole.madd::<FMA>(LN_2[0], whole.madd::<FMA>(LN_2[1], series))
}

/// Computes ln(1 + f) - f plus a term: f - (f²/2 - s (f²/2 + series)) with s = f / (2 + f).
#[inline(always)]
fn bend<const FMA: bool>(f: f64, term: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    let half = 0.5 * f * f;
    let inner = half.madd::<FMA>(s, s * (z * polynomial::<FMA, _, 7>(z, SERIES)));
    (term + inner) - half
}

/// Replaces the value at zero, at infinity, and for numbers without a logarithm.
#[inline(always)]
fn ends(x: f64, value: f64) -> f64 {
    let value = if x > f64::MAX { x } else { value };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    if x >= 0.0 { value } else { f64::NAN }
}

/// Returns the logarithm to a base, given the base's logarithms of 2 and *e*, each in two parts. The first
/// part of the former has so few bits that its product with an exponent is exact.
#[inline(always)]
fn to_base<const FMA: bool>(x: f64, two: [f64; 2], e: [f64; 2]) -> f64 {
    let (f, whole) = parts(x);
    let (near, rest) = product::<FMA>(f, e[0]);
    let rest = bend::<FMA>(f, 0.0).madd::<FMA>(e[0], f.madd::<FMA>(e[1], rest));
    let (high, low) = quick_sum(whole * two[0], near);
    ends(x, high + (low + whole.madd::<FMA>(two[1], rest)))
}

/// Returns the logarithm to base 2.
#[inline(always)]
pub(crate) fn log2<const FMA: bool>(x: f64) -> f64 {
    const E: [f64; 2] = [std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17];
    to_base::<FMA>(x, [1.0, 0.0], E)
}

/// Returns the logarithm to base 10.
#[inline(always)]
pub(crate) fn log10<const FMA: bool>(x: f64) -> f64 {
    const TWO: [f64; 2] = [0.301_029_995_664_066_5, -8.532_344_317_057_107e-14];
    const E: [f64; 2] = [std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17];
    to_base::<FMA>(x, TWO, E)
}

/// Computes ln(1 + x + low) + `twos` ln 2 for a number x greater than -1 and its error.
#[inline(always)]
fn one_more<const FMA: bool>(x: f64, low: f64, twos: f64) -> f64 {
    // Never subnormal. The caller replaces the result if the sum is not positive.
    let sum = 1.0 + x;
    let (f, whole) = normal_parts(sum.to_bits());
    // Small numbers are lost in the sum.
    let alone = whole == 0.0;
    let f = if alone { x } else { f };
    let lost = low + if alone { 0.0 } else { x - (sum - 1.0) };
    // The rounding error divided by the sum: a linear approximation of the inverse is accurate enough.
    let exponent = sum.to_bits() & (0x7ff << 52);
    let inverse = f64::from_bits((0x7fe_u64 << 52).wrapping_sub(exponent));
    let lost = lost * inverse * (sum * inverse).madd::<FMA>(-0.5, 1.457);
    let whole = whole + twos;
    let rest = bend::<FMA>(f, whole.madd::<FMA>(LN_2[1], lost));
    whole.madd::<FMA>(LN_2[0], f + rest)
}

/// Computes ln(1 + x).
#[inline(always)]
pub(crate) fn log1p<const FMA: bool>(x: f64) -> f64 {
    let value = one_more::<FMA>(x, 0.0, 0.0);
    let value = if x == -1.0 { f64::NEG_INFINITY } else { value };
    let value = if x <= f64::MAX { value } else { x };
    let value = if x < -1.0 { f64::NAN } else { value };
    if x == 0.0 { x } else { value }
}

/// Beyond this number, 1 is lost in sums.
const GREAT: f64 = 1_152_921_504_606_846_976.0;

/// Computes the inverse hyperbolic sine: ln(1 + x + x² / (1 + √(1 + x²))).
#[inline(always)]
pub(crate) fn asinh<const FMA: bool>(x: f64) -> f64 {
    let a = x.abs();
    let great = a > GREAT;
    let square = a * a;
    let less = square / (1.0 + (1.0 + square).sqrt());
    let less = if great { 0.0 } else { less };
    let (sum, low) = quick_sum(a, less);
    let value = one_more::<FMA>(sum, low, if great { 1.0 } else { 0.0 });
    let value = if a <= f64::MAX { value } else { a };
    value.copysign(x)
}

/// Computes the inverse hyperbolic cosine: ln(1 + t + √(t (t + 2))) with t = x - 1.
#[inline(always)]
pub(crate) fn acosh<const FMA: bool>(x: f64) -> f64 {
    let great = x > GREAT;
    let t = x - 1.0;
    let root = (t * (x + 1.0)).sqrt();
    let (sum, low) = quick_sum(root, t);
    let (sum, low) = if great { (x, 0.0) } else { (sum, low) };
    let value = one_more::<FMA>(sum, low, if great { 1.0 } else { 0.0 });
    let value = if x <= f64::MAX { value } else { x };
    if x < 1.0 { f64::NAN } else { value }
}

/// Computes ln(a / b) of positive normal numbers, each given with its error: 2 artanh((a - b) / (a + b)) after
/// dividing by powers of two.
#[inline(always)]
fn ratio<const FMA: bool>(a: (f64, f64), b: (f64, f64)) -> f64 {
    let [(f, above), (g, below)] = [a.0, b.0].map(|x| normal_parts(x.to_bits()));
    let (m, n) = (1.0 + f, 1.0 + g);
    let more = if m > n * std::f64::consts::SQRT_2 {
        1.0
    } else {
        0.0
    };
    let more = if m < n * std::f64::consts::FRAC_1_SQRT_2 {
        -1.0
    } else {
        more
    };
    let whole = above - below + more;
    let scale = f64::from_bits(((1023.0 + ROUND) - whole).to_bits() << 52);
    let (high, low) = (a.0 * scale, a.1 * scale);
    let s = ((high - b.0) + (low - b.1)) / (high + b.0);
    let z = s * s;
    let rest = s * (z * polynomial::<FMA, _, 7>(z, SERIES));
    let rest = whole.madd::<FMA>(LN_2[1], rest);
    whole.madd::<FMA>(LN_2[0], s.madd::<FMA>(2.0, rest))
}

/// Returns the inverse hyperbolic tangent.
#[inline(always)]
pub(crate) fn atanh<const FMA: bool>(x: f64) -> f64 {
    let a = x.abs();
    let value = 0.5 * ratio::<FMA>(quick_sum(1.0, a), quick_sum(1.0, -a));
    let value = if a == 1.0 { f64::INFINITY } else { value };
    (if a <= 1.0 { value } else { f64::NAN }).copysign(x)
}

/// Computes ln(x / (1 - x)).
#[inline(always)]
pub(crate) fn logit<const FMA: bool>(x: f64) -> f64 {
    const FAR: f64 = 1.606_938_044_258_990_3e60;
    // Far below 1 the quotient equals the number, which is scaled so that its inverse is normal.
    let small = x < 1e-100;
    let a = if small { x * FAR } else { x };
    let value = ratio::<FMA>((a, 0.0), quick_sum(1.0, -x));
    let value = value
        - if small {
            200.0 * std::f64::consts::LN_2
        } else {
            0.0
        };
    let value = if x == 1.0 { f64::INFINITY } else { value };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    if (0.0..=1.0).contains(&x) {
        value
    } else {
        f64::NAN
    }
}

/// Returns the logarithm of the sum of two exponentials.
#[inline(always)]
pub(crate) fn logaddexp<const FMA: bool>(x: f64, y: f64) -> f64 {
    let greater = if x < y { y } else { x };
    let e = exp::<FMA>(-(x - y).abs());
    let value = greater + one_more::<FMA>(e, 0.0, 0.0);
    if (x == y) & (x.abs() > f64::MAX) {
        x
    } else {
        value
    }
}

/// Returns the logarithm to base 2 of the sum of two powers of 2.
#[inline(always)]
pub(crate) fn logaddexp2<const FMA: bool>(x: f64, y: f64) -> f64 {
    let greater = if x < y { y } else { x };
    let e = super::exp2::<FMA>(-(x - y).abs());
    let value = one_more::<FMA>(e, 0.0, 0.0).madd::<FMA>(std::f64::consts::LOG2_E, greater);
    if (x == y) & (x.abs() > f64::MAX) {
        x
    } else {
        value
    }
}

/// Computes ln(1 + exp(x)).
#[inline(always)]
fn soft<const FMA: bool>(x: f64) -> f64 {
    let e = exp::<FMA>(-x.abs());
    let positive = if x < 0.0 { 0.0 } else { x };
    positive + one_more::<FMA>(e, 0.0, 0.0)
}

/// Computes ln(1 + exp(beta x)) / beta, or the number itself if beta x exceeds `threshold`.
#[inline(always)]
pub(crate) fn softplus<const FMA: bool>(x: f64, beta: f64, threshold: f64) -> f64 {
    let scaled = x * beta;
    let value = soft::<FMA>(scaled) / beta;
    if scaled > threshold { x } else { value }
}

/// Returns the logarithm of the logistic function.
#[inline(always)]
pub(crate) fn logsigmoid<const FMA: bool>(x: f64) -> f64 {
    -soft::<FMA>(-x)
}

/// Like [`logit`], but clamps the argument to between `eps` and 1 - `eps`.
#[inline(always)]
pub(crate) fn logit_eps<const FMA: bool>(x: f64, eps: f64) -> f64 {
    let high = 1.0 - eps;
    let x = if x < eps { eps } else { x };
    logit::<FMA>(if x > high { high } else { x })
}

/// Returns the number times the logarithm of `other`; zero if the number is zero.
#[inline(always)]
pub(crate) fn xlogy<const FMA: bool>(x: f64, other: f64) -> f64 {
    let value = x * log::<FMA>(other);
    let value = if x == 0.0 { 0.0 } else { value };
    if other.is_nan() { other } else { value }
}

/// Returns the number times ln(1 + `other`); zero if the number is zero.
#[inline(always)]
pub(crate) fn xlog1py<const FMA: bool>(x: f64, other: f64) -> f64 {
    let value = x * log1p::<FMA>(other);
    let value = if x == 0.0 { 0.0 } else { value };
    if other.is_nan() { other } else { value }
}

/// Computes -x ln x.
#[inline(always)]
pub(crate) fn entr<const FMA: bool>(x: f64) -> f64 {
    let value = -x * log::<FMA>(x);
    let value = if x == 0.0 { 0.0 } else { value };
    if x < 0.0 { f64::NEG_INFINITY } else { value }
}
