//! Functions of `f64`, by the names of [`single`](super::single).

use super::single::{Madd, polynomial};

/// Adding it makes the last bits the nearest integer.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts, the first with so few bits that its product with an exponent is exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// *e* to the power, within 2 units in the last place, without a branch.
#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f64) -> f64 {
    /// The Taylor series.
    const SERIES: [f64; 14] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    // Beyond these the result is infinite, or zero. Comparisons let NaN through.
    let x = if x > 710.5 { 710.5 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let shifted = x.madd::<FMA>(std::f64::consts::LOG2_E, ROUND);
    let whole = shifted - ROUND;
    let r = whole.madd::<FMA>(-LN_2[1], whole.madd::<FMA>(-LN_2[0], x));
    let power = polynomial::<FMA, _, 14>(r, SERIES);
    // Two factors, so that results that are infinite, or below the normal numbers, come out too.
    let low = x < -700.0;
    let bias = if low {
        (1023 + 511) << 52
    } else {
        (1023 - 1) << 52
    };
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(bias));
    power
        * scale
        * if low {
            1.491_668_146_240_041_3e-154
        } else {
            2.0
        }
}

/// The natural logarithm.
#[inline(always)]
pub(crate) fn log<const FMA: bool>(x: f64) -> f64 {
    x.ln()
}

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh<const FMA: bool>(x: f64) -> f64 {
    x.tanh()
}

/// The logistic function. exp(-|x|) does not overflow, and small results are as exact as it is.
#[inline(always)]
pub(crate) fn sigmoid<const FMA: bool>(x: f64) -> f64 {
    let e = exp::<FMA>(-x.abs());
    let top = if x < 0.0 { e } else { 1.0 };
    top / (1.0 + e)
}

/// A power.
#[inline(always)]
pub(crate) fn pow<const FMA: bool>(x: f64, y: f64) -> f64 {
    x.powf(y)
}
