//! The modified Bessel functions of the first kind.
//!
//! Chebyshev series of exp(-x) I(x), for order 1 times (1 + x/2)²/x, up to 8, and of √x exp(-x) I(x) in
//! 1/x beyond; interpolated at 80 nodes with 60 digits (`scripts/special_tables.py --bessel`).

use super::exponential::{power, whole_power};
use crate::cpu::numeric::polynomial::Madd;

/// Order 0, up to 8.
#[allow(clippy::excessive_precision, reason = "as the script prints them")]
const I0_NEAR: [f64; 31] = [
    0.33839763720473803,
    -0.3046826723431984,
    0.17162090152220877,
    -0.09490109704804764,
    0.04930528423967071,
    -0.02373741480589947,
    0.010546460394594998,
    -0.004324309995050576,
    0.0016394756169413357,
    -0.0005763755745385824,
    0.00018850288509584165,
    -5.754195010082104e-05,
    1.6448448070728896e-05,
    -4.4167383584587505e-06,
    1.1173875391201037e-06,
    -2.670793853940612e-07,
    6.046995022541919e-08,
    -1.300025009986248e-08,
    2.6598237246823866e-09,
    -5.189795601635263e-10,
    9.675809035373237e-11,
    -1.726826291441556e-11,
    2.95505266312964e-12,
    -4.856446783111929e-13,
    7.676185498604936e-14,
    -1.1685332877993451e-14,
    1.715391285555133e-15,
    -2.431279846547955e-16,
    3.3307945188222384e-17,
    -4.4153416464793395e-18,
    5.669178006921496e-19,
];
/// Order 0, beyond.
#[allow(clippy::excessive_precision, reason = "as the script prints them")]
const I0_FAR: [f64; 27] = [
    0.4022452055070544,
    0.0033691164782556943,
    6.889758346916825e-05,
    2.8913705208347567e-06,
    2.0489185894690638e-07,
    2.266668990498178e-08,
    3.3962320257083865e-09,
    4.94060238822497e-10,
    1.1889147107846439e-11,
    -3.1499165279632416e-11,
    -1.3215811840447713e-11,
    -1.7941785315068062e-12,
    7.180124451383666e-13,
    3.8527783827421426e-13,
    1.54008621752141e-14,
    -4.150569347287222e-14,
    -9.554846698828307e-15,
    3.8116806693526224e-15,
    1.7725601330565263e-15,
    -3.425485619677219e-16,
    -2.8276239805165836e-16,
    3.461222867697461e-17,
    4.46562142029676e-17,
    -4.830504485944182e-18,
    -7.233180487874754e-18,
    9.921475412173699e-19,
    1.193650890845982e-18,
];
/// Order 1, up to 8.
#[allow(clippy::excessive_precision, reason = "as the script prints them")]
const I1_NEAR: [f64; 31] = [
    0.43337407398282785,
    -0.03855913070121915,
    0.03021888366700394,
    -0.005165750218663486,
    -0.002269375645275469,
    0.0026327443500220055,
    -0.0015065566973078454,
    0.0006371107354929041,
    -0.00021261548550017718,
    5.4395055092301106e-05,
    -8.475507584397673e-06,
    -9.070737669707607e-07,
    1.4085308453163311e-06,
    -7.197218375350473e-07,
    2.753213678864705e-07,
    -8.944970393860861e-08,
    2.5861899396705566e-08,
    -6.812394966243522e-09,
    1.6581149887548941e-09,
    -3.7644630898120163e-10,
    8.026622698289485e-11,
    -1.6157643652569182e-11,
    3.083582168852432e-12,
    -5.598402748969921e-13,
    9.697751506233355e-14,
    -1.6068250741457787e-14,
    2.5521904030841808e-15,
    -3.893607801737522e-16,
    5.715382211654287e-17,
    -8.084965981395003e-18,
    1.1037610053764041e-18,
];
/// Order 1, beyond.
#[allow(clippy::excessive_precision, reason = "as the script prints them")]
const I1_FAR: [f64; 27] = [
    0.38928811750914005,
    -0.009761097491361469,
    -0.00011058893876262371,
    -3.882564808877691e-06,
    -2.512236237870209e-07,
    -2.6314688468895196e-08,
    -3.835380385964237e-09,
    -5.589743462196584e-10,
    -1.8974958123505413e-11,
    3.2526035830154884e-11,
    1.4125807436613782e-11,
    2.0356285441470896e-12,
    -7.198551776245908e-13,
    -4.0835511110921974e-13,
    -2.1015418427726643e-14,
    4.272440016711951e-14,
    1.0420276984128802e-14,
    -3.8144030724370075e-15,
    -1.8803547755107825e-15,
    3.3082023109209285e-16,
    2.96262899764595e-16,
    -3.209525921993424e-17,
    -4.6503053684893586e-17,
    4.414348323071708e-18,
    7.517296310842105e-18,
    -9.314178867326884e-19,
    -1.242193275194891e-18,
];

/// Evaluates a Chebyshev series at `t` between -1 and 1.
#[inline(always)]
fn series<const FMA: bool, const N: usize>(t: f64, coefficients: &[f64; N]) -> f64 {
    let (mut next, mut after) = (0.0_f64, 0.0_f64);
    let mut i = N - 1;
    while i > 0 {
        (next, after) = ((t + t).madd::<FMA>(next, coefficients[i] - after), next);
        i -= 1;
    }
    t.madd::<FMA>(next, coefficients[0] - after)
}

/// The start of the second series.
const FAR: f64 = 8.0;

/// Computes exp(-x) I₀(x) for x ≥ 0.
#[inline(always)]
fn order0<const FMA: bool>(x: f64) -> f64 {
    let inner = series::<FMA, 31>(0.25 * x - 1.0, &I0_NEAR);
    let outer = series::<FMA, 27>(16.0 / x - 1.0, &I0_FAR) / x.sqrt();
    if x > FAR { outer } else { inner }
}

/// Computes exp(-x) I₁(x) for x ≥ 0.
#[inline(always)]
fn order1<const FMA: bool>(x: f64) -> f64 {
    let level = x.madd::<FMA>(0.5, 1.0);
    let inner = x * series::<FMA, 31>(0.25 * x - 1.0, &I1_NEAR) / (level * level);
    let outer = series::<FMA, 27>(16.0 / x - 1.0, &I1_FAR) / x.sqrt();
    if x > FAR { outer } else { inner }
}

/// Returns the magnitude, clamped to where both functions overflow.
#[inline(always)]
fn near(x: f64) -> f64 {
    let a = x.abs();
    if a > 730.0 { 730.0 } else { a }
}

/// Returns a number times exp(a) in two steps, because the exponential alone overflows before the
/// functions do.
#[inline(always)]
fn grown<const FMA: bool>(value: f64, a: f64) -> f64 {
    let (shifted, less) = power::<FMA>(0.5 * a, 0.0);
    let scale = 2.0 * whole_power(shifted);
    let half = value.madd::<FMA>(less, value) * scale;
    half.madd::<FMA>(less, half) * scale
}

/// Computes exp(-|x|) I₀(x).
#[inline(always)]
pub(crate) fn i0e<const FMA: bool>(x: f64) -> f64 {
    order0::<FMA>(x.abs())
}

/// Computes exp(-|x|) I₁(x).
#[inline(always)]
pub(crate) fn i1e<const FMA: bool>(x: f64) -> f64 {
    order1::<FMA>(x.abs()).copysign(x)
}

/// Computes I₀(x).
#[inline(always)]
pub(crate) fn i0<const FMA: bool>(x: f64) -> f64 {
    let a = near(x);
    grown::<FMA>(order0::<FMA>(a), a)
}

/// Computes I₁(x).
#[inline(always)]
pub(crate) fn i1<const FMA: bool>(x: f64) -> f64 {
    let a = near(x);
    grown::<FMA>(order1::<FMA>(a), a).copysign(x)
}
