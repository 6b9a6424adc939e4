//! Inverses of the error function's family.
//!
//! A polynomial gives 22 bits and more: of the square, or of 1 / √-ln(1 - x), of which the inverse is
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
#[inline(always)]
pub(crate) fn erfinv<const FMA: bool>(x: f64) -> f64 {
    let a = x.abs();
    let value = inverse::<FMA>(a, 1.0 - a);
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
