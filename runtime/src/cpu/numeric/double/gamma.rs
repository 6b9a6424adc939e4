//! The logarithm of the gamma function, and its derivative.
//!
//! Recurrence steps of one lead into an interval around 1 to 2, where a polynomial is multiplied by the
//! factors with the zeros. Large numbers use Stirling's series, and negative ones the reflection formula
//! (F. W. J. Olver and others, NIST Handbook of Mathematical Functions, 5.5 and 5.11). Negative numbers of
//! small magnitude, where the logarithm has zeros, use upward steps instead, so that nothing cancels.

use super::exponential::ROUND;
use super::log;
use super::pair::{even_odd_polynomial, product};
use super::trigonometry::{tangent, wave};
use crate::cpu::numeric::polynomial::{Madd, polynomial};

/// The series hold from this number on.
const FAR: f64 = 8.0;
/// ln √(2π) - 1/2.
const START: f64 = 0.418_938_533_204_672_7;
/// ln π
const LN_PI: f64 = 1.144_729_885_849_400_2;

/// ln Γ(y) / ((y - 1) (y - 2)), as a function of y - 1.625.
const NEAR: [f64; 23] = [
    1.125646529057607e-06,
    -1.8308850249168429e-06,
    5.707891520056271e-07,
    -1.1359784208106716e-06,
    4.425236596011733e-06,
    -7.408915461608354e-06,
    1.1303462185215366e-05,
    -1.950925859148545e-05,
    3.413630903518086e-05,
    -5.9074071827415323e-05,
    0.00010261770996788762,
    -0.00017938182960919368,
    0.0003154953591163106,
    -0.0005589504971415517,
    0.0009992726862154198,
    -0.0018070639723247782,
    0.0033172708623729484,
    -0.006215450415270925,
    0.011991915956937224,
    -0.024194436430674166,
    0.052579426220434385,
    -0.13157899128683404,
    0.46580963736232694,
];
/// The remainder of Stirling's formula, times z, as a function of 1/z².
const STIRLING: [f64; 7] = [
    0.00506924240475263,
    -0.0018905396189235733,
    0.0008414728430228004,
    -0.0005952366068999955,
    0.0007936507898346978,
    -0.002777777777774099,
    0.08333333333333333,
];
/// (ψ(z) - ln z + 1/2z) · -z², as a function of 1/z².
const PSI: [f64; 7] = [
    0.06367533939268744,
    -0.020700514149176535,
    0.007571734110878426,
    -0.004166645184314896,
    0.0039682539132810035,
    -0.008333333333280424,
    0.08333333333333333,
];
/// ψ(y) / (y - its zero), as a function of y - 1.5.
const NEAR_ZERO: [f64; 22] = [
    -0.00017656978351478748,
    0.00025985362422027854,
    -0.00014696919788904895,
    0.00022702254828865562,
    -0.00048473485394657384,
    0.0007234382833547832,
    -0.00103684079589079,
    0.001556598988089483,
    -0.0023454210245596736,
    0.00351901220705412,
    -0.005279946228807994,
    0.007926944010043417,
    -0.011908219421472344,
    0.017907252481876246,
    -0.026975796691162304,
    0.04076083381079852,
    -0.06192213327469825,
    0.09498872445497264,
    -0.14840492305389003,
    0.24054248424077398,
    -0.4236274212814606,
    0.951055876031833,
];
/// The zero in two parts.
const ZERO: [f64; 2] = [1.461_632_144_968_362_2, 9.549_995_429_965_697e-17];

/// Returns the difference of a nonnegative number from the nearest integer.
#[inline(always)]
fn remains(z: f64) -> f64 {
    const HALVES: f64 = 2_251_799_813_685_248.0;
    let near = if z < HALVES { z } else { z - HALVES };
    // Beyond this limit all numbers are integers.
    let near = if z < 2.0 * HALVES { near } else { 0.0 };
    near - ((near + ROUND) - ROUND)
}

/// Returns the logarithm of the magnitude of the gamma function; infinite at zero and the negative
/// integers.
#[inline(always)]
pub(crate) fn lgamma<const FMA: bool>(x: f64) -> f64 {
    let z = x.abs();
    let negative = x < 0.0;
    let far = z >= if negative { 20.0 } else { FAR };
    let base = if far { 1.5 } else { x };
    // Upward: integer steps to -3, where rounding is harmless because nothing cancels, ...
    let steps = if base < -3.0 {
        ((-2.5 - base) + ROUND) - ROUND
    } else {
        0.0
    };
    let from = base + steps;
    let mut below = 1.0;
    for step in 1..18 {
        let at = from - f64::from(step);
        below *= if at < base { 1.0 } else { at };
    }
    // ... then exact steps.
    let (mut y, mut above, mut low) = (from, 1.0, 0.0_f64);
    for _ in 0..5 {
        let up = y < 1.0;
        let factor = if up { y } else { 1.0 };
        let (next, lost) = product::<FMA>(above, factor);
        low = low.madd::<FMA>(factor, lost);
        above = next;
        y = if up { y + 1.0 } else { y };
    }
    // Downward steps.
    let mut down = 1.0;
    for _ in 0..6 {
        let less = y - 1.0;
        let step = y >= 2.25;
        y = if step { less } else { y };
        down *= if step { less } else { 1.0 };
    }
    let lower = base < 1.0;
    let steps = if lower { above * below } else { down };
    let ln = log::<FMA>(if far { z } else { steps.abs() });
    let lost = if above == 0.0 { 0.0 } else { low / above };
    let inner = ((y - 1.0) * (y - 2.0)) * even_odd_polynomial::<FMA, 23>(y - 1.625, NEAR);
    let near = if lower {
        (inner - lost) - ln
    } else {
        inner + ln
    };

    let inverse = 1.0 / z;
    let series = inverse * polynomial::<FMA, _, 7>(inverse * inverse, STIRLING);
    let (half, start) = if negative {
        (0.5, START + 1.0)
    } else {
        (-0.5, START)
    };
    let outer = (z + half).madd::<FMA>(ln - 1.0, start + series);
    let r = remains(z);
    let sine = wave::<FMA>(std::f64::consts::PI * r, 0.0).abs();
    let reflected = (LN_PI - log::<FMA>(sine)) - outer;
    let reflected = if r == 0.0 { f64::INFINITY } else { reflected };
    let outer = if negative { reflected } else { outer };
    if far { outer } else { near }
}

/// Returns the logarithmic derivative of the gamma function. NaN at the negative integers; at zero
/// infinite, with the sign opposite to the zero's.
#[inline(always)]
pub(crate) fn digamma<const FMA: bool>(x: f64) -> f64 {
    let z = x.abs();
    let negative = x < 0.0;
    let far = z >= FAR;
    let base = if far { 1.5 } else { z };
    let low = base < 1.0;
    let mut y = if low { base + 1.0 } else { base };
    // ψ(z) + 1/z for negative numbers. The sum of the steps' inverses is computed as a quotient.
    let (mut top, mut bottom) = (0.0_f64, 1.0);
    for _ in 0..6 {
        let less = y - 1.0;
        let step = y > 2.0;
        y = if step { less } else { y };
        top = if step {
            top.madd::<FMA>(less, bottom)
        } else {
            top
        };
        bottom *= if step { less } else { 1.0 };
    }
    let more = if negative { 1.0 } else { 0.0 };
    let more = if low { more - 1.0 } else { more };
    let steps = if more == 0.0 {
        top / bottom
    } else {
        top.madd::<FMA>(base, more * bottom) / (bottom * base)
    };
    let slope = even_odd_polynomial::<FMA, 22>(y - 1.5, NEAR_ZERO);
    let near = ((y - ZERO[0]) - ZERO[1]).madd::<FMA>(slope, steps);

    let inverse = 1.0 / z;
    let square = inverse * inverse;
    let series = square * polynomial::<FMA, _, 7>(square, PSI);
    let half = if negative { 0.5 } else { -0.5 };
    let outer = log::<FMA>(z) + inverse.madd::<FMA>(half, -series);
    let value = if far { outer } else { near };

    // π cot πz
    let r = remains(z);
    let a = r.abs();
    let steep = a > 0.25;
    let a = if steep { 0.5 - a } else { a };
    let (turn, turn_low) = product::<FMA>(a, std::f64::consts::PI);
    let tangent = tangent::<FMA>(turn, a.madd::<FMA>(1.224_646_799_147_353_2e-16, turn_low));
    let cotangent = if steep { tangent } else { 1.0 / tangent };
    let reflected = cotangent
        .copysign(r)
        .madd::<FMA>(std::f64::consts::PI, value);
    let reflected = if r == 0.0 { f64::NAN } else { reflected };
    let value = if negative { reflected } else { value };
    if x == 0.0 {
        f64::INFINITY.copysign(-x)
    } else {
        value
    }
}
