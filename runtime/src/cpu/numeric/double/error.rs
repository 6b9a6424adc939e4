//! The error function and related functions.
//!
//! exp(a²) erfc(a) is smooth as a function of 1 / (1 + a/4); compare W. J. Cody, Rational Chebyshev
//! approximations for the error function, 1969, and M. M. Shepherd and J. G. Laframboise, Chebyshev
//! approximation of (1 + 2x) exp(x²) erfc x, 1981.

use super::exponential::{grow, power, simple_power};
use super::pair::{even_odd_polynomial, product};
use super::{log, log1p};
use crate::cpu::numeric::polynomial::{Madd, polynomial};

/// Returns the error function for magnitudes up to 1.
#[inline(always)]
pub(super) fn inner<const FMA: bool>(x: f64) -> f64 {
    // erf(x) / x - 1, as a function of x².
    const SERIES: [f64; 12] = [
        -7.801_188_874_097_751e-10,
        1.372_297_626_592_450_4e-8,
        -1.620_917_591_174_869_6e-7,
        1.644_751_767_787_187_3e-6,
        -1.492_474_466_333_548_9e-5,
        0.000_120_552_953_204_942_94,
        -0.000_854_832_598_969_675_8,
        0.005_223_977_607_423_468,
        -0.026_866_170_643_276_22,
        0.112_837_916_709_452_53,
        -0.376_126_389_031_835_5,
        0.128_379_167_095_512_56,
    ];
    x.madd::<FMA>(polynomial::<FMA, _, 12>(x * x, SERIES), x)
}

/// Returns the error function.
#[inline(always)]
pub(crate) fn erf<const FMA: bool>(x: f64) -> f64 {
    // -ln(1 - erf(x)), from 1 on.
    const OUTER: [f64; 17] = [
        -1.770_166_645_290_342e-11,
        6.517_267_278_824_912e-10,
        -1.090_195_754_177_827e-8,
        1.082_076_707_883_937_4e-7,
        -6.876_668_887_110_249e-7,
        2.672_608_583_439_513e-6,
        -3.609_867_114_582_070_7e-6,
        -2.799_957_464_426_368_6e-5,
        0.000_230_646_921_834_315_33,
        -0.000_919_934_542_920_716_6,
        0.002_098_756_315_512_755,
        -0.000_584_040_036_017_480_2,
        -0.018_865_404_922_620_697,
        0.102_637_662_011_660_2,
        0.636_667_573_902_678_9,
        1.128_368_713_383_86,
        1.063_459_586_923_822_2e-6,
    ];
    let a = x.abs();
    // Beyond this limit the result is 1.
    let a = if a > 6.0 { 6.0 } else { a };
    let inner = inner::<FMA>(x);
    let (scale, power) = simple_power::<FMA>(-even_odd_polynomial::<FMA, 17>(a, OUTER));
    let outer = (-scale).madd::<FMA>(power, 1.0).copysign(x);
    if a < 1.0 { inner } else { outer }
}

/// Computes exp(a²) erfc(a) for a ≥ 0.
#[inline(always)]
pub(super) fn scaled<const FMA: bool>(a: f64) -> f64 {
    const SERIES: [f64; 21] = [
        0.000_154_862_962_530_312_85,
        0.001_267_931_209_666_077_4,
        -0.000_361_809_283_330_979_1,
        -0.004_006_936_862_116_915,
        3.118_568_310_946_031_5e-5,
        0.008_031_598_886_604_244,
        0.002_439_767_732_827_927,
        -0.013_822_907_893_464_033,
        -0.011_662_068_273_021_17,
        0.019_220_112_761_329_13,
        0.038_626_679_531_165_74,
        -0.003_721_439_182_734_627,
        -0.090_528_142_612_253_5,
        -0.116_493_559_501_315_76,
        0.035_962_734_303_285_93,
        0.391_171_565_270_237_33,
        0.843_841_706_890_004_4,
        1.222_104_238_461_446_7,
        1.392_087_497_919_715_5,
        1.323_406_351_513_230_2,
        1.081_707_662_626_466_6,
    ];
    const LAST: [f64; 3] = [
        0.773_208_702_265_230_9,
        0.488_274_364_540_441,
        0.273_998_915_250_122_77,
    ];
    let sum = a.madd::<FMA>(0.25, 1.0);
    let u = 1.0 / sum;
    // The error of the inverse, including the rounding error of the sum.
    let (back, rest) = product::<FMA>(u, sum);
    let lost = a.madd::<FMA>(0.25, 1.0 - sum);
    let low = u * (((1.0 - back) - rest) - u * lost);
    let v = u - 0.5;
    // The last steps decide the rounding error, so they are computed one after another.
    let series = even_odd_polynomial::<FMA, 21>(v, SERIES);
    let series = polynomial::<FMA, _, 4>(v, [series, LAST[0], LAST[1], LAST[2]]);
    // The derivative in a is 2 a exp(a²) erfc(a) - 2/√π.
    let slope = (2.0 * a).madd::<FMA>(-(u * series), std::f64::consts::FRAC_2_SQRT_PI);
    u.madd::<FMA>(series, low * (4.0 * sum * sum) * slope)
}

/// Computes exp(x²) erfc(x).
#[inline(always)]
pub(crate) fn erfcx<const FMA: bool>(x: f64) -> f64 {
    const HALF: f64 = 0.5 * std::f64::consts::FRAC_2_SQRT_PI;
    let a = x.abs();
    let near = if a > 1e9 { 1e9 } else { a };
    let series = scaled::<FMA>(near);
    let series = if a > 1e9 { HALF / a } else { series };
    // Beyond this limit the result is infinite.
    let near = if a > 26.65 { 26.65 } else { a };
    let (square, low) = product::<FMA>(near, near);
    let (shifted, less) = power::<FMA>(square, low);
    let twice = 2.0 * grow(1.0 + less, shifted, false) - series;
    let twice = if a > 26.65 { f64::INFINITY } else { twice };
    if x < 0.0 { twice } else { series }
}

/// Returns the logarithm of the normal distribution function.
#[inline(always)]
pub(crate) fn log_ndtr<const FMA: bool>(x: f64) -> f64 {
    let upper = log1p::<FMA>(-ndtr::<FMA>(-x));
    let a = -x * std::f64::consts::FRAC_1_SQRT_2;
    let series = erfcx::<FMA>(if a < 0.0 { 0.0 } else { a });
    let lower = log::<FMA>(0.5 * series) - 0.5 * x * x;
    if x > -1.0 { upper } else { lower }
}

/// Computes `factor` erfc(a) for a ≥ 0, given the square of a in two parts.
#[inline(always)]
fn tail<const FMA: bool>(a: f64, square: (f64, f64), factor: f64) -> f64 {
    let a = if a > 27.5 { 27.5 } else { a };
    let far = square.0 > 760.0;
    let high = if far { 760.0 } else { square.0 };
    let low = if far { 0.0 } else { square.1 };
    let (shifted, less) = power::<FMA>(-high, -low);
    let series = scaled::<FMA>(a);
    let product = factor * series.madd::<FMA>(less, series);
    grow(product, shifted, high > 700.0)
}

/// Returns 1 - erf(x), without cancellation.
#[inline(always)]
pub(crate) fn erfc<const FMA: bool>(x: f64) -> f64 {
    let a = x.abs();
    let near = if a > 30.0 { 30.0 } else { a };
    let tail = tail::<FMA>(near, product::<FMA>(near, near), 1.0);
    if x < 0.0 { 2.0 - tail } else { tail }
}

/// Returns `factor` times the normal distribution function of -a.
#[inline(always)]
fn normal_tail<const FMA: bool>(a: f64, factor: f64) -> f64 {
    let near = if a > 40.0 { 40.0 } else { a };
    let (square, low) = product::<FMA>(near, near);
    tail::<FMA>(
        near * std::f64::consts::FRAC_1_SQRT_2,
        (0.5 * square, 0.5 * low),
        0.5 * factor,
    )
}

/// Returns the normal distribution function.
#[inline(always)]
pub(crate) fn ndtr<const FMA: bool>(x: f64) -> f64 {
    let tail = normal_tail::<FMA>(x.abs(), 1.0);
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// Returns the number times its normal distribution function.
#[inline(always)]
pub(crate) fn gelu<const FMA: bool>(x: f64) -> f64 {
    // Small results keep their digits if they are multiplied by the number first.
    let near = if x < -40.0 { -40.0 } else { x };
    let near = if near > 40.0 { 40.0 } else { near };
    let tail = normal_tail::<FMA>(near.abs(), near);
    let value = if x > 0.0 { x - tail } else { tail };
    let value = if x > 40.0 { x } else { value };
    if x < -40.0 { -0.0 } else { value }
}
