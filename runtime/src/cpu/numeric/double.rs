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

/// The natural logarithm, within 2 units in the last place.
#[inline(always)]
pub(crate) fn log<const FMA: bool>(x: f64) -> f64 {
    /// √½, where the mantissas begin.
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    // 2 artanh(s) / s - 2 over s², of the square.
    const SERIES: [f64; 7] = [
        0.147_965_437_676_664_98,
        0.153_139_954_310_699_63,
        0.181_835_663_018_140_53,
        0.222_221_985_389_389_03,
        0.285_714_287_426_798_55,
        0.399_999_999_994_135_9,
        0.666_666_666_666_673_4,
    ];
    // Numbers below the normal ones become normal.
    let tiny = x < f64::MIN_POSITIVE;
    let bits = (if tiny {
        x * 18_014_398_509_481_984.0
    } else {
        x
    })
    .to_bits();
    let parts = bits.wrapping_sub(ROOT_HALF);
    let mantissa = f64::from_bits((parts & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT_HALF));
    // The exponent, made positive first: not every instruction set shifts signs along, or converts
    // such integers.
    let whole = f64::from_bits((parts.wrapping_add(1 << 62) >> 52) | ROUND.to_bits());
    let whole = whole - (ROUND + 1024.0) - if tiny { 54.0 } else { 0.0 };
    // log(1 + f) = f - (f²/2 - s (f²/2 + series)), where s = f / (2 + f): f is exact.
    let f = mantissa - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let half = 0.5 * f * f;
    let inner = half.madd::<FMA>(s, s * (z * polynomial::<FMA, _, 7>(z, SERIES)));
    let rest = whole.madd::<FMA>(LN_2[1], inner) - half;
    let value = whole.madd::<FMA>(LN_2[0], f + rest);
    let value = if x > f64::MAX { x } else { value };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    if x >= 0.0 { value } else { f64::NAN }
}

/// The hyperbolic tangent, within 2 units in the last place.
#[inline(always)]
pub(crate) fn tanh<const FMA: bool>(x: f64) -> f64 {
    // tanh(x) / x - 1 over x², of the square.
    const INNER: [f64; 12] = [
        6.356_815_152_014_995e-6,
        -3.087_273_297_813_35e-5,
        9.221_096_724_690_632e-5,
        -2.373_676_132_194_646_1e-4,
        5.895_744_835_905_266e-4,
        -1.455_753_770_466_083e-3,
        3.592_118_187_002_82e-3,
        -8.863_234_724_431_701e-3,
        2.186_948_849_412_406e-2,
        -5.396_825_396_696_719_5e-2,
        0.133_333_333_333_313_57,
        -0.333_333_333_333_333_2,
    ];
    let a = x.abs();
    // From here on the result is 1.
    let a = if a > 20.0 { 20.0 } else { a };
    let square = a * a;
    let inner = (a * square).madd::<FMA>(polynomial::<FMA, _, 12>(square, INNER), a);
    let outer = 1.0 - 2.0 / (exp::<FMA>(a + a) + 1.0);
    (if a < 0.6 { inner } else { outer }).copysign(x)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The distance of two numbers in units of the last place.
    fn ulps(got: f64, want: f64) -> f64 {
        if got == want || got.is_nan() && want.is_nan() {
            return 0.0;
        }
        let distance = (got - want).abs() / (want.abs().next_up() - want.abs());
        if distance.is_nan() {
            f64::INFINITY
        } else {
            distance
        }
    }

    /// Holds both forms of a function against the platform's, whose own error is a unit or two.
    fn hold(name: &str, forms: [fn(f64) -> f64; 2], want: fn(f64) -> f64) {
        let points = if cfg!(miri) { 100 } else { 100_000_u64 };
        let anywhere = (0..points).map(|i| f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let part = |i: u64| i as f64 / points as f64;
        let ranges =
            (0..points).flat_map(|i| [-745.0 + 1460.0 * part(i), 2.0 * part(i), -22.0 * part(i)]);
        let special = [
            0.0,
            -0.0,
            1.0,
            5e-324,
            1e-310,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        for x in anywhere.chain(ranges).chain(special) {
            for got in forms.map(|form| form(x)) {
                let want = want(x);
                assert!(
                    ulps(got, want) <= 3.0,
                    "{name} of {x:e}: {got:e}, not {want:e}"
                );
                let signs = got.is_sign_negative() == want.is_sign_negative();
                assert!(
                    signs || want.is_nan(),
                    "{name} of {x:e}: {got:e}, not {want:e}"
                );
            }
        }
    }

    #[test]
    fn as_the_platforms() {
        hold("exp", [exp::<false>, exp::<true>], f64::exp);
        hold("log", [log::<false>, log::<true>], f64::ln);
        hold("tanh", [tanh::<false>, tanh::<true>], f64::tanh);
    }
}
