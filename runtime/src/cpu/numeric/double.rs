//! Functions of `f64`: the same names as in [`single`](super::single), and likewise without branches or calls.
//!
//! Results are within 2 units in the last place, except those listed in `tests/accuracy.rs`. The polynomials are
//! minimax (`scripts/minimax.py`).

mod bessel;
mod error;
mod exponential;
mod gamma;
mod logarithm;
mod pair;
mod power;
mod quantile;
mod slopes;
mod trigonometry;

pub(crate) use super::remainder::{
    floor_divide_f64 as floor_divide, fmod_f64 as fmod, remainder_f64 as remainder,
};
use super::single::{Madd, polynomial};
pub(crate) use bessel::{i0, i0e, i1, i1e};
pub(crate) use error::{erf, erfc, erfcx, gelu, log_ndtr, ndtr};
use exponential::{EXACT, LESS, RAISED, grow, round, whole_power};
pub(crate) use exponential::{
    celu, cosh, elu, exp2, expm1, gelu_tanh, mish, selu, silu, sinh, tanhshrink,
};
pub(crate) use gamma::{digamma, lgamma};
pub(crate) use logarithm::{
    acosh, asinh, atanh, entr, log, log_near, log_reaches, log1p, log2, log10, logaddexp,
    logaddexp2, logit, logit_eps, logsigmoid, softplus, xlog1py, xlogy,
};
pub(super) use pair::product;
pub(crate) use power::{hypot, pow};
pub(crate) use quantile::{erfinv, erfinv_near, erfinv_reaches, ndtri, ndtri_near, ndtri_reaches};
pub(crate) use slopes::{
    asin_slope, asinh_slope, atan_slope, atanh_slope, bell, erfcx_nth, i0_nth, i0e_nth, i1e_nth,
    sinc_nth, vanishing,
};
pub(crate) use trigonometry::{acos, asin, atan, atan2, cos, reaches, sin, sinc, tan};

/// Adding this rounds a number to the nearest integer, which is then in the last bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first has so few bits that its product with an exponent is exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// Returns exp(x) as a power of two, whose exponent is in the last bits with a bias, and the remaining factor.
#[inline(always)]
fn parts<const FMA: bool, const BIAS: u16>(x: f64) -> (f64, f64) {
    /// exp(r) for |r| up to ln 2 / 2.
    const SERIES: [f64; 12] = [
        2.511_793_564_075_060_3e-8,
        2.763_137_116_041_09e-7,
        2.755_721_610_106_685e-6,
        2.480_148_972_396_799_7e-5,
        0.000_198_412_699_175_572_3,
        0.001_388_888_894_718_432_8,
        0.008_333_333_333_307_155,
        0.041_666_666_666_514_98,
        0.166_666_666_666_667,
        0.500_000_000_000_001_2,
        1.0,
        1.0,
    ];
    let shifted = x.madd::<FMA>(std::f64::consts::LOG2_E, round(BIAS));
    let whole = shifted - round(BIAS);
    let r = whole.madd::<FMA>(-LN_2[1], whole.madd::<FMA>(-LN_2[0], x));
    (shifted, polynomial::<FMA, _, 12>(r, SERIES))
}

/// Below this, the power is zero. At 2⁻¹⁵³⁴ the scale is already zero, so no instruction underflows, which would cost
/// about 100 cycles on Intel.
const LEAST: f64 = -1063.3;

/// Returns *e*^x within 2 units in the last place, without a branch.
#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f64) -> f64 {
    // Beyond these limits the result is infinite or zero. Comparisons let NaN pass.
    let x = if x > 710.5 { 710.5 } else { x };
    let x = if x < LEAST { LEAST } else { x };
    let (shifted, power) = parts::<FMA, LESS>(x);
    grow(power, shifted, x < -700.0)
}

/// Like [`exp`], bitwise equal for arguments up to 40, for numbers that are positive only by rounding; results beyond
/// are arbitrary.
#[inline(always)]
pub(crate) fn exp_nonpositive<const FMA: bool>(x: f64) -> f64 {
    const BACK: f64 = 1.491_668_146_240_041_3e-154;
    let x = if x < LEAST { LEAST } else { x };
    let (shifted, power) = parts::<FMA, RAISED>(x);
    power * whole_power(shifted) * BACK
}

/// Returns the hyperbolic tangent within 2 units in the last place.
#[inline(always)]
pub(crate) fn tanh<const FMA: bool>(x: f64) -> f64 {
    // (tanh(x) / x - 1) / x², as a function of x².
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
    // Beyond this limit the result is 1.
    let a = if a > 20.0 { 20.0 } else { a };
    let square = a * a;
    let inner = (a * square).madd::<FMA>(polynomial::<FMA, _, 12>(square, INNER), a);
    let (shifted, power) = parts::<FMA, EXACT>(a + a);
    let outer = 1.0 - 2.0 / power.madd::<FMA>(whole_power(shifted), 1.0);
    (if a < 0.6 { inner } else { outer }).copysign(x)
}

/// Returns the logistic function. exp(-|x|) does not overflow, and small results are as accurate as it is.
#[inline(always)]
pub(crate) fn sigmoid<const FMA: bool>(x: f64) -> f64 {
    let e = exp_nonpositive::<FMA>(-x.abs());
    let sum = 1.0 + e;
    // The rounding error of the sum, times its approximate inverse.
    let lost = (e - (sum - 1.0)) * e.madd::<FMA>(-0.5, 1.0);
    let value = (if x < 0.0 { e } else { 1.0 }) / sum;
    value.madd::<FMA>(-lost, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the distance of two numbers in units in the last place.
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

    type One = fn(f64) -> f64;

    /// Compares both forms of a function with the platform's, whose own error is a unit or two.
    fn hold<F: Fn(f64) -> f64>(name: &str, forms: [F; 2], want: impl Fn(f64) -> f64) {
        hold_to(3.0, name, forms, want);
    }

    fn hold_to<F: Fn(f64) -> f64>(
        limit: f64,
        name: &str,
        forms: [F; 2],
        want: impl Fn(f64) -> f64,
    ) {
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
            for got in forms.each_ref().map(|form| form(x)) {
                let want = want(x);
                assert!(
                    ulps(got, want) <= limit,
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
        hold("exp", [exp::<false> as One, exp::<true>], f64::exp);
        hold("log", [log::<false> as One, log::<true>], f64::ln);
        hold("tanh", [tanh::<false> as One, tanh::<true>], f64::tanh);
        hold("exp2", [exp2::<false> as One, exp2::<true>], f64::exp2);
        hold("expm1", [expm1::<false> as One, expm1::<true>], f64::exp_m1);
        hold("sinh", [sinh::<false> as One, sinh::<true>], f64::sinh);
        hold("cosh", [cosh::<false> as One, cosh::<true>], f64::cosh);
        hold("log1p", [log1p::<false> as One, log1p::<true>], f64::ln_1p);
        hold("log2", [log2::<false> as One, log2::<true>], f64::log2);
        hold("log10", [log10::<false> as One, log10::<true>], f64::log10);
        hold("asinh", [asinh::<false> as One, asinh::<true>], libm::asinh);
        hold("atanh", [atanh::<false> as One, atanh::<true>], libm::atanh);
        hold("asin", [asin::<false> as One, asin::<true>], f64::asin);
        hold("acos", [acos::<false> as One, acos::<true>], f64::acos);
        hold("atan", [atan::<false> as One, atan::<true>], f64::atan);
        hold("erf", [erf::<false> as One, erf::<true>], libm::erf);
        hold_to(
            5.0,
            "erfc",
            [erfc::<false> as One, erfc::<true>],
            libm::erfc,
        );
    }

    /// Returns `f` on the range of the angle functions, and the identity elsewhere.
    fn within(f: One) -> impl Fn(f64) -> f64 {
        move |x| if reaches(x) { f(x) } else { x }
    }

    #[test]
    fn angles_as_the_platforms() {
        hold(
            "sin",
            [sin::<false> as One, sin::<true>].map(within),
            within(f64::sin),
        );
        hold(
            "cos",
            [cos::<false> as One, cos::<true>].map(within),
            within(f64::cos),
        );
        hold(
            "tan",
            [tan::<false> as One, tan::<true>].map(within),
            within(f64::tan),
        );
    }

    /// Numbers that functions of two arguments may treat specially.
    const CORNERS: [f64; 24] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        1.0 + f64::EPSILON,
        1.0 - 0.5 * f64::EPSILON,
        5e-324,
        -5e-324,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        4_503_599_627_370_495.5,
        9_007_199_254_740_991.0,
        -9_007_199_254_740_992.0,
        1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];

    #[test]
    fn of_two_numbers_as_the_platforms() {
        type Two = fn(f64, f64) -> f64;
        let functions: [(&str, [Two; 2], Two); 3] = [
            ("pow", [pow::<false>, pow::<true>], f64::powf),
            ("atan2", [atan2::<false>, atan2::<true>], f64::atan2),
            ("hypot", [hypot::<false>, hypot::<true>], f64::hypot),
        ];
        let points = if cfg!(miri) { 100 } else { 100_000_u64 };
        let bits = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let anywhere = |i| f64::from_bits(bits(i));
        let unit = |i| (bits(i) >> 11) as f64 / (1_u64 << 53) as f64;
        let corners = CORNERS.iter().flat_map(|&x| CORNERS.map(|y| (x, y)));
        let wide = (0..points).map(|i| (anywhere(2 * i), anywhere(2 * i + 1)));
        // Powers that neither underflow nor overflow; quotients near 1.
        let near = (0..points).map(|i| (3.0 * unit(2 * i), 1400.0 * unit(2 * i + 1) - 700.0));
        for (x, y) in corners.chain(wide).chain(near) {
            for (name, forms, want) in functions {
                let want = want(x, y);
                for got in forms.map(|form| form(x, y)) {
                    let told = format!("{name} of {x:e} and {y:e}: {got:e}, not {want:e}");
                    assert!(ulps(got, want) <= 3.0, "{told}");
                    let signs = got.is_sign_negative() == want.is_sign_negative();
                    assert!(signs || want.is_nan(), "{told}");
                }
            }
        }
    }
}
