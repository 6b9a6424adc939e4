//! Powers.

use super::exponential::{grow, power};
use super::logarithm::parts;
use super::pair::{product, quick_sum};
use crate::cpu::numeric::polynomial::{Madd, polynomial};

/// ln 2 in two parts; the first has so few bits that its product with an exponent is exact.
const LN_2: [f64; 2] = [0.693_147_180_601_954_5, -4.200_915_072_681_084_6e-11];

/// Computes the natural logarithm of a positive, finite number to about 65 bits: 2 artanh(s) with s
/// = f / (2 + f), in two parts up to the second term of the series.
#[inline(always)]
fn log<const FMA: bool>(x: f64) -> (f64, f64) {
    const SERIES: [f64; 7] = [
        0.130_200_135_518_806_3,
        0.132_760_816_066_386_07,
        0.153_859_224_337_633_1,
        0.181_818_025_206_882,
        0.222_222_223_146_496_6,
        0.285_714_285_712_140_97,
        0.400_000_000_000_000_85,
    ];
    const THIRD: [f64; 2] = [0.666_666_666_666_666_6, 3.700_743_415_417_188e-17];
    let (f, whole) = parts(x);
    let (bottom, lost) = quick_sum(2.0, f);
    let s = f / bottom;
    // The error of the quotient.
    let (back, more) = product::<FMA>(s, bottom);
    let low = (((f - back) - more) - s * lost) / bottom;
    let (z, z_low) = product::<FMA>(s, s);
    let z_low = (2.0 * s).madd::<FMA>(low, z_low);
    // s³ (2/3 + ...)
    let (cube, cube_low) = product::<FMA>(z, s);
    let cube_low = cube_low + z_low.madd::<FMA>(s, z * low);
    let (slope, slope_low) = quick_sum(THIRD[0], z * polynomial::<FMA, _, 7>(z, SERIES));
    let (term, term_low) = product::<FMA>(cube, slope);
    let term_low = term_low + cube.madd::<FMA>(slope_low + THIRD[1], cube_low * slope);
    let (high, low_sum) = quick_sum(2.0 * s, term);
    let low = low_sum + (2.0_f64.madd::<FMA>(low, term_low));
    // Adds the powers of two, which are zero or the greater term.
    let (sum, rest) = quick_sum(whole * LN_2[0], high);
    quick_sum(sum, rest + whole.madd::<FMA>(LN_2[1], low))
}

/// Returns a power, with the special cases of C's `pow`.
#[inline(always)]
pub(crate) fn pow<const FMA: bool>(x: f64, y: f64) -> f64 {
    /// Exponents beyond this act like infinity, for all bases except 1.
    const MOST: f64 = 1e25;
    let (a, b) = (x.abs(), y.abs());
    let (log, log_low) = log::<FMA>(a);
    let near = (if b > MOST { MOST } else { b }).copysign(y);
    let (high, low) = product::<FMA>(near, log);
    let low = near.madd::<FMA>(log_low, low);
    // The low part is dropped if the high part is clamped.
    let cut = !(-760.0..=710.0).contains(&high);
    let low = if cut { 0.0 } else { low };
    let high = if high > 710.0 { 710.0 } else { high };
    let high = if high < -760.0 { -760.0 } else { high };
    let (shifted, less) = power::<FMA>(high, low);
    let value = grow(1.0 + less, shifted, high < -700.0);
    // Powers of zero and infinity.
    let ends = if (a == 0.0) == (y < 0.0) {
        f64::INFINITY
    } else {
        0.0
    };
    let value = if (a == 0.0) | (a > f64::MAX) {
        ends
    } else {
        value
    };
    // Powers of negative numbers: odd powers are negative, and powers that are not integers do not
    // exist.
    let steps = (b + 4_503_599_627_370_496.0).to_bits();
    let small = b < 4_503_599_627_370_496.0;
    let integer = !small | (f64::from_bits(steps) - 4_503_599_627_370_496.0 == b);
    let odd = (if small { steps } else { b.to_bits() }) & (b < 9_007_199_254_740_992.0) as u64;
    let odd = if integer { odd } else { 0 };
    let value = f64::from_bits(value.to_bits() ^ (x.to_bits() & odd << 63));
    let missing = (f64::MIN..0.0).contains(&x) & !integer;
    let value = if missing { f64::NAN } else { value };
    let value = if x.is_nan() | y.is_nan() {
        f64::NAN
    } else {
        value
    };
    // 1 to any power is 1, even to NaN; so is anything to the power of 0.
    let one = (x == 1.0) | (y == 0.0) | ((x == -1.0) & (b == f64::INFINITY));
    if one { 1.0 } else { value }
}

/// Returns the length of the vector (x, y).
#[inline(always)]
pub(crate) fn hypot<const FMA: bool>(x: f64, y: f64) -> f64 {
    /// 2⁻⁶⁰⁰ and 2⁶⁰⁰; with these scales squares neither overflow nor underflow.
    const SCALES: [f64; 2] = [2.409_919_865_102_884e-181, 4.149_515_568_880_993e180];
    let (a, b) = (x.abs(), y.abs());
    let (greater, less) = if a < b { (b, a) } else { (a, b) };
    let (down, up) = (greater > 1e150, greater < 1e-140);
    let scale = if down { SCALES[0] } else { 1.0 };
    let scale = if up { SCALES[1] } else { scale };
    let back = if down { SCALES[1] } else { 1.0 };
    let back = if up { SCALES[0] } else { back };
    let (m, n) = (greater * scale, less * scale);
    let value = m.madd::<FMA>(m, n * n).sqrt() * back;
    let endless = (a > f64::MAX) | (b > f64::MAX);
    if endless { f64::INFINITY } else { value }
}
