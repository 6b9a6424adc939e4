//! The logarithm of the gamma function, and its derivative, like those of `f64`
//! ([`double`](super::super::double)) with shorter series. Computed in `f64`, because differences matter
//! near the zeros.

use super::super::widened::{ROUND, join, parts};
use super::wave;
use crate::cpu::numeric::polynomial::{Madd, polynomial};

/// ln √(2π) - 1/2.
const START: f64 = 0.418_938_533_204_672_7;

/// ln Γ(y) / ((y - 1) (y - 2)), as a function of y - 2.
const NEAR: [f64; 14] = [
    -9.682822553215414e-06,
    1.931388524243855e-05,
    -7.265624093395007e-06,
    2.0234118121893844e-05,
    -9.175432736486626e-05,
    0.00019581647350283492,
    -0.00040197102419273814,
    0.0009104975746124794,
    -0.002108944818327167,
    0.004999482546033539,
    -0.012384114742439755,
    0.032964946701921544,
    -0.10031730379400801,
    0.4227843356592788,
];
/// The remainder of Stirling's formula, times z, as a function of 1/z².
const STIRLING: [f64; 5] = [
    0.0005073254295193287,
    -0.0005678058213315693,
    0.0007926549988391079,
    -0.0027777647601017097,
    0.08333333330589796,
];
/// (ψ(z) - ln z + 1/2z) · -z², as a function of 1/z².
const PSI: [f64; 4] = [
    -0.0034026683660946817,
    0.003940630938955157,
    -0.00833300294263557,
    0.08333333271122122,
];
/// ψ(y) / (y - its zero), as a function of y - 1.5.
const NEAR_ZERO: [f64; 11] = [
    0.011119125413527652,
    -0.016384204310501468,
    0.01698014494871093,
    -0.025780951527931414,
    0.04087938540781962,
    -0.06205708690936743,
    0.09498208026404631,
    -0.14839878519957952,
    0.24054261569557953,
    -0.42362749887758283,
    0.9510558756333231,
];
const ZERO: f64 = 1.461_632_144_968_362_2;

/// Returns the natural logarithm of a positive, normal number.
#[inline(always)]
fn ln<const FMA: bool>(x: f64) -> f64 {
    join::<FMA>(parts(x)) * std::f64::consts::LN_2
}

/// Returns the difference of a nonnegative number from the nearest integer; the number has no more digits
/// than an `f32`.
#[inline(always)]
fn remains(z: f64) -> f64 {
    let near = if z < 16_777_216.0 { z } else { 0.0 };
    near - ((near + ROUND) - ROUND)
}

/// Returns the logarithm of the magnitude of the gamma function; infinite at zero and the negative integers.
#[inline(always)]
pub(crate) fn lgamma<const FMA: bool>(x: f32) -> f32 {
    let z = f64::from(x.abs());
    let low = z < 1.0;
    let far = z >= 3.0;
    let log = ln::<FMA>(z);
    let y = if low { z + 1.0 } else { z };
    let near = ((y - 1.0) * (y - 2.0)) * polynomial::<FMA, _, 14>(y - 2.0, NEAR);
    let near = near - if low { log } else { 0.0 };
    let inverse = 1.0 / z;
    let series = inverse.madd::<FMA>(polynomial::<FMA, _, 5>(inverse * inverse, STIRLING), START);
    let outer = (z - 0.5).madd::<FMA>(log - 1.0, series);
    let value = if far { outer } else { near };
    let r = remains(z);
    let sine = wave::<FMA>(std::f64::consts::PI * r.abs());
    let reflected = -ln::<FMA>(sine * z * std::f64::consts::FRAC_1_PI) - value;
    let reflected = if r == 0.0 { f64::INFINITY } else { reflected };
    let value = if x < 0.0 { reflected } else { value };
    let value = if x == 0.0 { f64::INFINITY } else { value };
    // Infinity and NaN are passed on, because the vectorised logarithm does not preserve them.
    if x <= f32::MAX { value as f32 } else { x }
}

/// Returns the logarithmic derivative of the gamma function. NaN at the negative integers; at zero infinite,
/// with the sign opposite to the zero's.
#[inline(always)]
pub(crate) fn digamma<const FMA: bool>(x: f32) -> f32 {
    let z = f64::from(x.abs());
    let negative = x < 0.0;
    let far = z >= 4.0;
    let low = z < 1.0;
    let inverse = 1.0 / z;
    let mut y = if low { z + 1.0 } else { z };
    let (mut top, mut bottom) = (0.0_f64, 1.0);
    for _ in 0..2 {
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
    let slope = polynomial::<FMA, _, 11>(y - 1.5, NEAR_ZERO);
    let near = (y - ZERO).madd::<FMA>(slope, top / bottom);
    // ψ(z) + 1/z for negative numbers.
    let more = if negative { inverse } else { 0.0 };
    let less = if negative { 0.0 } else { inverse };
    let near = if low { near - less } else { near + more };
    let square = inverse * inverse;
    let series = square * polynomial::<FMA, _, 4>(square, PSI);
    let half = if negative { 0.5 } else { -0.5 };
    let outer = ln::<FMA>(z) + inverse.madd::<FMA>(half, -series);
    let value = if far { outer } else { near };
    // π cot πz
    let r = remains(z);
    let a = r.abs();
    let turn = std::f64::consts::PI;
    let cotangent = wave::<FMA>(turn * (0.5 - a)) / wave::<FMA>(turn * r);
    let reflected = cotangent.madd::<FMA>(turn, value);
    let reflected = if r == 0.0 { f64::NAN } else { reflected };
    let value = if negative { reflected } else { value };
    let value = if x == 0.0 {
        f64::from(f32::INFINITY.copysign(-x))
    } else {
        value
    };
    if x <= f32::MAX { value as f32 } else { x }
}
