//! Inverses of the error function's family.
//!
//! That of the normal distribution: a polynomial gives 22 bits and more: of the square, or of 1 / √-ln(1 - x), of which the inverse is
//! nearly a multiple. Halley's step makes three times as many, with the error by exp(z²), which neither
//! overflows nor vanishes: exp(z²) erfc(z) against exp(z² + ln(1 - x)).

use super::error::{inner, scaled};
use super::exponential::{grow, power};
use super::log;
use super::pair::{long, product};
use crate::cpu::numeric::single::Madd;

/// The number whose error function is x, not negative, and `rest` less than 1.
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
    let outer = root * long::<FMA, 16>(1.0 / root - 0.47, OUTER);
    let z = x * long::<FMA, 8>(x * x, INNER);
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

/// The number whose error function is `x`; infinite at ±1, NaN beyond.
///
/// Of w = -ln(1 - x²), or of its root (M. Giles, Approximating the erfinv function, 2011): the inverse
/// function bends with it as little as the logarithm is off.
#[inline(always)]
pub(crate) fn erfinv<const FMA: bool>(x: f64) -> f64 {
    /// Over x, of w - 3.125, up to w = 6.25.
    const NEAR: [f64; 23] = [
        -4.3227494518615404e-21,
        -1.6926624299600068e-19,
        1.3221763043475935e-18,
        1.1197186497576252e-17,
        -1.3415649866191395e-16,
        2.0101869625408113e-17,
        6.648584330272577e-15,
        -4.0534864745842894e-14,
        -8.160786336540217e-14,
        2.6334272391270385e-12,
        -1.2974674149080114e-11,
        -5.4153726650712286e-11,
        1.0512107472532316e-09,
        -4.112635165050748e-09,
        -2.9070366803396714e-08,
        4.2347878042094493e-07,
        -1.3654692038753468e-06,
        -1.3882523364914099e-05,
        0.00018673420803638513,
        -0.0007407025341652982,
        -0.006033670871430703,
        0.24015818242558948,
        1.653654562683103,
    ];
    /// Of √w - 3.25, up to w = 16.
    const FAR: [f64; 17] = [
        -5.174902239558235e-09,
        2.3087891699638596e-08,
        -2.2163830313240362e-08,
        -9.411380353176393e-08,
        4.000572852186184e-07,
        -6.205844424391479e-07,
        -4.6565212559431164e-07,
        5.082645418990482e-06,
        -1.3807592700586293e-05,
        1.70747123298129e-05,
        2.414510422875534e-05,
        -0.00022201675270145104,
        0.000856026072029632,
        -0.0024458934123190333,
        0.004652609839185521,
        1.0055052352453016,
        3.083845723103243,
    ];
    /// Of √w - 5.
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
    let w = -log::<FMA>((1.0 - a) * (1.0 + a));
    let near = a * long::<FMA, 23>(w - 3.125, NEAR);
    let root = w.sqrt();
    let far = long::<FMA, 17>(root - 3.25, FAR);
    let farthest = long::<FMA, 17>(root - 5.0, FARTHEST);
    let far = if w < 16.0 { far } else { farthest };
    let value = if w < 6.25 { near } else { far };
    let value = if a == 1.0 { f64::INFINITY } else { value };
    (if a <= 1.0 { value } else { f64::NAN }).copysign(x)
}

/// The inverse of the normal distribution function.
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
