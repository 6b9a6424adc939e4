//! The modified Bessel functions of the first kind, like those of `f64` ([`double`](super::super::double)),
//! but with polynomials instead of Chebyshev series.

use super::super::widened::power;
use crate::cpu::numeric::polynomial::polynomial;

/// The coefficients of order 0, up to 8 and beyond.
const I0: ([f64; 18], [f64; 6]) = (
    [
        -0.0007370537585974815,
        0.0019382855859027598,
        -0.0012283921204752758,
        0.001395694899726882,
        -0.007218094403017911,
        0.014263941876152802,
        -0.01957152281618314,
        0.028823610782955127,
        -0.04295684565741118,
        0.05723707645684281,
        -0.06956614960137894,
        0.0791884895280145,
        -0.08495782772208654,
        0.0873515244258563,
        -0.089043902631502,
        0.09451533954038732,
        -0.11300431666811568,
        0.2070019229030639,
    ],
    [
        3.7001658296473936e-07,
        1.6386254023990039e-06,
        1.11028543034311e-05,
        0.0001361565335627208,
        0.0033605580766704964,
        0.40217651275625277,
    ],
);
/// The coefficients of order 1, up to 8 and beyond.
const I1: ([f64; 18], [f64; 6]) = (
    [
        -9.2652710033484e-05,
        0.00029311742624620133,
        -0.0003290678784048635,
        0.0004668188738499317,
        -0.0014876511089727802,
        0.0032746776056279668,
        -0.005612871848354696,
        0.009437761378793423,
        -0.015522222374868661,
        0.023731239320403816,
        -0.03368695089238168,
        0.04466698365375991,
        -0.0552775667824268,
        0.06376801438058302,
        -0.06848277471374657,
        0.06805758211077424,
        -0.06112433480572649,
        0.04468770995329854,
    ],
    [
        -4.314173102391567e-07,
        -2.009122378683998e-06,
        -1.4990886755112507e-05,
        -0.00021916874659045642,
        -0.009749584690129532,
        0.3893984553025691,
    ],
);

/// Computes exp(-x) I(x) for x ≥ 0, for order 1 divided by x up to 8; and returns whether x is beyond 8.
#[inline(always)]
fn scaled<const FMA: bool>(x: f64, (near, far): ([f64; 18], [f64; 6])) -> (f64, bool) {
    let inverse = 1.0 / x;
    let outer = inverse.sqrt() * polynomial::<FMA, _, 6>(16.0 * inverse - 1.0, far);
    let inner = polynomial::<FMA, _, 18>(0.25 * x - 1.0, near);
    let beyond = x > 8.0;
    (if beyond { outer } else { inner }, beyond)
}

/// Computes exp(-|x|) I₀(x).
#[inline(always)]
fn order0<const FMA: bool>(x: f64) -> f64 {
    scaled::<FMA>(x, I0).0
}

/// Computes exp(-|x|) I₁(x).
#[inline(always)]
fn order1<const FMA: bool>(x: f64) -> f64 {
    let (value, beyond) = scaled::<FMA>(x, I1);
    value * if beyond { 1.0 } else { x }
}

/// Returns the magnitude, clamped to where both functions overflow.
#[inline(always)]
fn near(x: f32) -> f64 {
    let a = f64::from(x.abs());
    if a > 200.0 { 200.0 } else { a }
}

/// Computes exp(-|x|) I₀(x).
#[inline(always)]
pub(crate) fn i0e<const FMA: bool>(x: f32) -> f32 {
    order0::<FMA>(x.abs().into()) as f32
}

/// Computes exp(-|x|) I₁(x).
#[inline(always)]
pub(crate) fn i1e<const FMA: bool>(x: f32) -> f32 {
    (order1::<FMA>(x.abs().into()) as f32).copysign(x)
}

/// Computes I₀(x).
#[inline(always)]
pub(crate) fn i0<const FMA: bool>(x: f32) -> f32 {
    let a = near(x);
    (order0::<FMA>(a) * power::<FMA>(a)) as f32
}

/// Computes I₁(x).
#[inline(always)]
pub(crate) fn i1<const FMA: bool>(x: f32) -> f32 {
    let a = near(x);
    ((order1::<FMA>(a) * power::<FMA>(a)) as f32).copysign(x)
}
