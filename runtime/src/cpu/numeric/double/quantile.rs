//! Inverses of the error function and of the normal distribution function.
//!
//! For the normal distribution, a polynomial in the square or in 1 / √-ln(1 - x), to which the inverse is nearly
//! proportional, gives at least 22 bits. One step of Halley's method triples them. It uses the error times exp(z²),
//! which neither overflows nor underflows: exp(z²) erfc(z) against exp(z² + ln(1 - x)).

use super::error::{inner, scaled};
use super::exponential::{grow, power};
use super::log;
use super::logarithm::log_short;
use super::pair::{even_odd_polynomial, product};
use crate::cpu::numeric::polynomial::Madd;

/// Returns the inverse error function of x ≥ 0, given `rest` = 1 - x.
#[inline(always)]
fn inverse<const FMA: bool>(x: f64, rest: f64) -> f64 {
    const INNER: [f64; 8] = [
        0.494_088_073_666_018_26,
        -0.583_961_530_442_639_4,
        0.421_373_558_958_395_84,
        -0.047_459_400_881_381_33,
        0.104_483_247_313_046_42,
        0.126_177_375_952_958_03,
        0.232_053_681_730_273_3,
        0.886_226_735_483_658_5,
    ];
    const OUTER: [f64; 16] = [
        479.686_189_930_781_27,
        -128.191_085_877_109_26,
        -279.281_945_829_375_45,
        59.885_534_393_268_3,
        70.562_281_671_107_44,
        -13.124_819_444_271_85,
        -8.536_658_556_791_748,
        1.036_313_253_338_641_4,
        0.787_461_319_898_623_6,
        -0.202_694_062_782_749_4,
        0.152_598_375_941_713_66,
        -0.250_640_471_983_161_03,
        0.243_808_665_185_391_9,
        -0.013_455_800_580_818_076,
        -0.430_743_801_092_504_8,
        0.847_022_170_776_211_7,
    ];
    let log = log::<FMA>(rest);
    let root = (-log).sqrt();
    let outer = root * even_odd_polynomial::<FMA, 16>(1.0 / root - 0.47, OUTER);
    let z = x * even_odd_polynomial::<FMA, 8>(x * x, INNER);
    let z = if x < 0.75 { z } else { outer };
    let central = x < 0.5;
    let (square, low) = product::<FMA>(z, z);
    let (shifted, less) = power::<FMA>(square + if central { 0.0 } else { log }, low);
    let power = grow(1.0 + less, shifted, false);
    let error = if central {
        (inner::<FMA>(z) - x) * power
    } else {
        power - scaled::<FMA>(z)
    };
    let step = error * (1.0 / std::f64::consts::FRAC_2_SQRT_PI);
    z - step / z.madd::<FMA>(step, 1.0)
}

/// The greatest argument of [`erfinv_near`]: w = 5.5.
const NEAR: f64 = 0.997_954;

/// Returns whether [`erfinv_near`] is valid for `x`; false for NaN.
#[inline(always)]
pub(crate) fn erfinv_reaches(x: f64) -> bool {
    x.abs() <= NEAR
}

/// Returns the inverse error function of arguments up to [`NEAR`].
#[inline(always)]
pub(crate) fn erfinv_near<const FMA: bool>(x: f64) -> f64 {
    let a = x.abs();
    near::<FMA>(a, 1.0 - a).copysign(x)
}

/// Returns whether [`ndtri_near`] is valid for `p`; false for NaN.
#[inline(always)]
pub(crate) fn ndtri_reaches(p: f64) -> bool {
    erfinv_reaches(2.0 * p - 1.0)
}

/// Returns the inverse of the normal distribution function, for most probabilities.
#[inline(always)]
pub(crate) fn ndtri_near<const FMA: bool>(p: f64) -> f64 {
    let rest = 2.0 * if p > 0.5 { 1.0 - p } else { p };
    let x = 2.0 * p - 1.0;
    std::f64::consts::SQRT_2 * near::<FMA>(x.abs(), rest).copysign(x)
}

/// Like [`erfinv`], for a nonnegative number up to [`NEAR`] and its difference from 1.
#[inline(always)]
fn near<const FMA: bool>(a: f64, rest: f64) -> f64 {
    /// (erfinv(a) / a minus its value at zero) / w, as a function of w - 2.75.
    const SERIES: [f64; 22] = [
        -4.034432193559508e-20,
        3.006790405856518e-20,
        3.964397274733938e-18,
        -1.6436816138673215e-17,
        -1.5047820061926228e-16,
        1.548321960596165e-15,
        -7.468163451032686e-16,
        -7.19121799264056e-14,
        4.447469000498407e-13,
        1.0564401330402064e-12,
        -2.8550218107458327e-11,
        1.1188443251551417e-10,
        8.061830075361634e-10,
        -1.050217215618995e-08,
        2.0661668941124742e-08,
        4.261334020827294e-07,
        -3.7407018606140985e-06,
        8.008772409987069e-07,
        0.00020686385533409492,
        -0.0016074575203839623,
        -0.0006154675689442074,
        0.24602279482967304,
    ];
    // -ln(1 - a²)
    let w = -log_short::<FMA>(rest * (2.0 - rest));
    // The value at zero is added separately, so that nothing cancels.
    let over = even_odd_polynomial::<FMA, 22>(w - 2.75, SERIES);
    a * w.madd::<FMA>(over, 1.0 / std::f64::consts::FRAC_2_SQRT_PI)
}

/// Returns the inverse error function; infinite at ±1, NaN beyond.
///
/// The polynomials are in w = -ln(1 - x²) or its root (M. Giles, Approximating the erfinv function, 2011), on which the
/// inverse depends so weakly that the error of the logarithm does not matter.
#[inline(always)]
pub(crate) fn erfinv<const FMA: bool>(x: f64) -> f64 {
    /// Coefficients in √w - 3.1875, up to w = 16.
    const FAR: [f64; 19] = [
        1.856229501804403e-09,
        -2.946638488509031e-09,
        -8.15958849502436e-09,
        3.445870023904598e-08,
        -4.4595841098528835e-08,
        -6.996297088891985e-08,
        4.6572162557343107e-07,
        -9.442848525160111e-07,
        7.017858057539951e-08,
        5.2171940839432275e-06,
        -1.672024615048398e-05,
        2.47035692994919e-05,
        1.5059273314081646e-05,
        -0.00022947187463825857,
        0.000926659794094883,
        -0.0026686804734815874,
        0.005131825158820187,
        1.0048941431698657,
        3.021020430574567,
    ];
    /// Coefficients in √w - 5.
    const FARTHEST: [f64; 17] = [
        -6.668563297537239e-12,
        2.5060792340627403e-11,
        -4.144970278480724e-11,
        4.8656475999502513e-11,
        4.9369051365605586e-11,
        -1.0052203184892073e-09,
        6.7650647640844974e-09,
        -3.754102273611281e-08,
        1.9421024179957773e-07,
        -9.585120448240952e-07,
        4.497186243444477e-06,
        -1.9661727317455157e-05,
        7.598401193096744e-05,
        -0.00021502518738337727,
        -0.00013872089842761003,
        1.010300465194305,
        4.8499064013749065,
    ];
    let a = x.abs();
    let near = near::<FMA>(a, 1.0 - a);
    let root = (-log::<FMA>((1.0 - a) * (1.0 + a))).sqrt();
    let far = even_odd_polynomial::<FMA, 19>(root - 3.1875, FAR);
    let farthest = even_odd_polynomial::<FMA, 17>(root - 5.0, FARTHEST);
    let far = if root < 4.0 { far } else { farthest };
    let value = if a <= NEAR { near } else { far };
    let value = if a == 1.0 { f64::INFINITY } else { value };
    (if a <= 1.0 { value } else { f64::NAN }).copysign(x)
}

/// Returns the inverse of the normal distribution function.
#[inline(always)]
pub(crate) fn ndtri<const FMA: bool>(p: f64) -> f64 {
    let upper = p > 0.5;
    let rest = 2.0 * if upper { 1.0 - p } else { p };
    let x = (2.0 * p - 1.0).abs();
    let value = std::f64::consts::SQRT_2 * inverse::<FMA>(x, rest);
    let value = if rest == 0.0 { f64::INFINITY } else { value };
    let value = if upper { value } else { -value };
    if (0.0..=1.0).contains(&p) {
        value
    } else {
        f64::NAN
    }
}
