//! The complementary error function, and the normal distribution.
//!
//! Like in `f64` ([`double`](super::super::double)), these functions times exp(a²) or exp(a²/2) are a polynomial in 1 /
//! (1 + a/c); the error of the inverse is corrected by the derivative.

use super::pair::{even_odd_polynomial, product, rest, step};
use super::{BACK, EXP, LN_2, RAISED, log, log1p, round, whole_power};
use crate::cpu::numeric::polynomial::Madd;

/// A function f(a) of a ≥ 0 that falls like exp(-w a²/2).
struct NormalTail<const N: usize> {
    /// w
    weight: f32,
    /// 1 / c
    scale: f32,
    /// The number subtracted from 1 / (1 + a/c) so that its powers are small, chosen such that the last coefficient
    /// loses few digits.
    middle: f32,
    /// All coefficients except the last.
    series: [f32; N],
    last: f32,
    /// An approximation of the derivative of ln exp(w a²/2) f(a) by the logarithm of 1 / (1 + a/c), linear in the
    /// latter.
    slope: [f32; 2],
    /// The argument from which f(a) is zero.
    end: f32,
}

/// The normal distribution function of -a.
const NORMAL: NormalTail<9> = NormalTail {
    weight: 1.0,
    scale: 0.25,
    middle: 0.45751953,
    series: [
        0.017096916,
        0.0048280405,
        -0.05303816,
        -0.04075997,
        0.07258111,
        0.22744107,
        0.3331578,
        0.34216276,
        0.2730033,
    ],
    last: 0.17658022,
    slope: [2.456, 0.655],
    end: 14.7,
};

/// The complementary error function.
const ERFC: NormalTail<10> = NormalTail {
    weight: 2.0,
    scale: 0.5,
    middle: 0.41674805,
    series: [
        0.036125336,
        -0.04296452,
        -0.054665748,
        0.09805661,
        0.053099282,
        -0.14242911,
        -0.12004832,
        0.19485143,
        0.51604617,
        0.5974953,
    ],
    last: 0.45736593,
    slope: [1.282, 1.019],
    end: 10.2,
};

impl<const N: usize> NormalTail<N> {
    /// Computes exp(w a²/2) f(a) for a up to the end, its error, and a correction to be added to the exponent.
    #[inline(always)]
    fn scaled<const FMA: bool>(&self, a: f32) -> (f32, f32, f32) {
        let sum = a.madd::<FMA>(self.scale, 1.0);
        let u = 1.0 / sum;
        // The relative error of the inverse, including the rounding error of the sum.
        let lost = a.madd::<FMA>(self.scale, 1.0 - sum);
        let lacks = u.madd::<FMA>(-lost, rest::<FMA>(u, sum));
        let v = u - self.middle;
        let (series, series_low) =
            step::<FMA>(v, even_odd_polynomial::<FMA, N>(v, self.series), self.last);
        let (value, low) = product::<FMA>(u, series);
        let [slope, start] = self.slope;
        let line = u.madd::<FMA>(slope, start);
        (value, u.madd::<FMA>(series_low, low), lacks * line)
    }

    /// Returns f(a), or another function in the form of [`NormalTail::scaled`], times 2⁶³, so that it is a normal number.
    #[inline(always)]
    fn grown<const FMA: bool>(&self, a: f32, (value, low, rest): (f32, f32, f32)) -> f32 {
        let (square, square_low) = product::<FMA>(a, a);
        let half = -0.5 * self.weight;
        let shifted = square.madd::<FMA>(half * std::f32::consts::LOG2_E, round(RAISED));
        let whole = shifted - round(RAISED);
        let rest = whole.madd::<FMA>(-LN_2[1], square_low.madd::<FMA>(half, rest));
        let r = square.madd::<FMA>(half, whole * -LN_2[0]) + rest;
        let [series @ .., _, _] = EXP;
        let less = (r * r).madd::<FMA>(even_odd_polynomial::<FMA, 5>(r, series), r);
        (value + value.madd::<FMA>(less, low)) * whole_power(shifted)
    }

    /// Returns the magnitude, clamped to the end.
    #[inline(always)]
    fn within(&self, x: f32) -> f32 {
        let a = x.abs();
        if a > self.end { self.end } else { a }
    }
}

/// Returns the normal distribution function.
#[inline(always)]
pub(crate) fn ndtr<const FMA: bool>(x: f32) -> f32 {
    let a = NORMAL.within(x);
    let tail = NORMAL.grown::<FMA>(a, NORMAL.scaled::<FMA>(a)) * BACK;
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// Returns the logarithm of the normal distribution function.
#[inline(always)]
pub(crate) fn log_ndtr<const FMA: bool>(x: f32) -> f32 {
    let upper = log1p::<FMA>(-ndtr::<FMA>(-x));
    let a = if x < 0.0 { -x } else { 0.0 };
    let (near, ..) = NORMAL.scaled::<FMA>(NORMAL.within(x));
    // The first terms of the asymptotic series.
    const PEAK: f32 = 0.398_942_3;
    let inverse = 1.0 / a;
    let square = inverse * inverse;
    let far = PEAK * inverse * square.madd::<FMA>(3.0 * square - 1.0, 1.0);
    let scaled = if a > NORMAL.end { far } else { near };
    let lower = log::<FMA>(scaled) - 0.5 * x * x;
    if x > -1.0 { upper } else { lower }
}

/// Returns the number times its normal distribution function.
#[inline(always)]
pub(crate) fn gelu<const FMA: bool>(x: f32) -> f32 {
    let a = NORMAL.within(x);
    let (value, low, rest) = NORMAL.scaled::<FMA>(a);
    let (value, lost) = product::<FMA>(a, value);
    let tail = NORMAL.grown::<FMA>(a, (value, a.madd::<FMA>(low, lost), rest));
    let upper = if x < 0.0 { -0.0 } else { x };
    // Subnormal results are counted in units of the smallest number, 2⁻¹⁴⁹, in the last bits of a sum: on Intel, an
    // instruction that underflows costs about 100 cycles.
    const UNITS: f32 = 7.737_125_2e25;
    const SUM: f32 = 8_388_608.0;
    let below = x < 0.0 && tail < BACK;
    let counted = tail.madd::<FMA>(UNITS, SUM).to_bits();
    let counted = if below {
        counted.wrapping_sub(SUM.to_bits())
    } else {
        0
    };
    let value = (if below { 0.0 } else { tail }).madd::<FMA>(-BACK, upper);
    // `value` already has the sign of zero.
    f32::from_bits(value.to_bits() | counted)
}

/// Returns the complementary error function, 1 - erf(x), without cancellation.
#[inline(always)]
pub(crate) fn erfc<const FMA: bool>(x: f32) -> f32 {
    let a = ERFC.within(x);
    let tail = ERFC.grown::<FMA>(a, ERFC.scaled::<FMA>(a)) * BACK;
    if x < 0.0 { 2.0 - tail } else { tail }
}
