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
pub(crate) use bessel::{i0, i0e, i1, i1e};
pub(crate) use error::{erf, erfc, erfcx, gelu, log_ndtr, ndtr};
pub(crate) use exponential::{
    celu, cosh, elu, exp, exp_nonpositive, exp2, expm1, gelu_tanh, mish, selu, sigmoid, silu, sinh,
    tanh, tanhshrink,
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
