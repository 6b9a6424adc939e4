//! Inverse functions of angles.

use crate::cpu::numeric::polynomial::{Madd, polynomial};

/// π/2 in two parts.
const QUARTER: [f32; 2] = [std::f32::consts::FRAC_PI_2, -4.371_139e-8];

/// Computes atan(t) - t for a tangent t of at most one eighth turn.
#[inline(always)]
fn bend<const FMA: bool>(t: f32) -> f32 {
    const SERIES: [f32; 9] = [
        -0.001_827_798_1,
        0.011_067_15,
        -0.031_460_945,
        0.058_240_052,
        -0.084_197_976,
        0.109_577,
        -0.142_652_7,
        0.199_986_41,
        -0.333_333_02,
    ];
    let z = t * t;
    t * (z * polynomial::<FMA, _, 9>(z, SERIES))
}

/// Returns the inverse tangent.
#[inline(always)]
pub(crate) fn atan<const FMA: bool>(x: f32) -> f32 {
    let a = x.abs();
    let steep = a > 1.0;
    let t = if steep { -1.0 / a } else { a };
    let value = t + bend::<FMA>(t);
    let outer = QUARTER[0] + (value + QUARTER[1]);
    (if steep { outer } else { value }).copysign(x)
}

/// Returns the angle of the point (`x`, `y`).
#[inline(always)]
pub(crate) fn atan2<const FMA: bool>(y: f32, x: f32) -> f32 {
    let (a, b) = (y.abs(), x.abs());
    let steep = a > b;
    let (top, bottom) = if steep { (b, a) } else { (a, b) };
    let t = top / bottom;
    let t = if top == bottom { 1.0 } else { t };
    let t = if (top == 0.0) & (bottom == 0.0) {
        0.0
    } else {
        t
    };
    let value = t + bend::<FMA>(t);
    let value = if steep {
        QUARTER[0] - (value - QUARTER[1])
    } else {
        value
    };
    let left = x.is_sign_negative();
    let outer = 2.0 * QUARTER[0] - (value - 2.0 * QUARTER[1]);
    (if left { outer } else { value }).copysign(y)
}

/// Returns the inverse sine of a number up to one half, or of √((1 - a) / 2), and whether it is the
/// latter.
#[inline(always)]
fn arc<const FMA: bool>(a: f32) -> (f32, bool) {
    const SERIES: [f32; 5] = [
        0.042_211_235,
        0.024_152_372,
        0.045_476_01,
        0.074_952_52,
        0.166_667_54,
    ];
    let far = a > 0.5;
    let z = if far { 0.5 * (1.0 - a) } else { a * a };
    let s = if far { z.sqrt() } else { a };
    let value = (s * z).madd::<FMA>(polynomial::<FMA, _, 5>(z, SERIES), s);
    (value, far)
}

/// Returns the inverse sine.
#[inline(always)]
pub(crate) fn asin<const FMA: bool>(x: f32) -> f32 {
    let (arc, far) = arc::<FMA>(x.abs());
    let outer = (QUARTER[0] - (arc + arc)) + QUARTER[1];
    (if far { outer } else { arc }).copysign(x)
}

/// Returns the inverse cosine.
#[inline(always)]
pub(crate) fn acos<const FMA: bool>(x: f32) -> f32 {
    let (arc, far) = arc::<FMA>(x.abs());
    let inner = QUARTER[0] - (arc.copysign(x) - QUARTER[1]);
    let twice = arc + arc;
    let outer = if x < 0.0 {
        2.0 * QUARTER[0] - (twice - 2.0 * QUARTER[1])
    } else {
        twice
    };
    if far { outer } else { inner }
}
