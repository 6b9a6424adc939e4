//! Functions of angles, and inverse functions.
//!
//! Angles are reduced by multiples of π in several parts (W. J. Cody and W. Waite, Software Manual for
//! the Elementary Functions, 1980): full numbers with fused multiply-add, otherwise numbers so short
//! that their products are exact.

use super::exponential::ROUND;
use super::pair::quick_sum;
use crate::cpu::numeric::polynomial::{Madd, polynomial};

/// The range of sine, cosine and tangent. Beyond, too many digits of π matter, and library calls are
/// used.
const REACH: f64 = 8_388_608.0;

/// Returns whether an angle is within [`REACH`]; false for NaN.
#[inline(always)]
pub(crate) fn reaches(x: f64) -> bool {
    x.abs() <= REACH
}

/// π in parts of full precision.
const PI: [f64; 3] = [
    std::f64::consts::PI,
    1.224_646_799_147_353_2e-16,
    -2.994_769_809_718_339_7e-33,
];
/// π in parts of 30 bits, and the rest.
const SHORT_PI: [f64; 4] = [
    3.141_592_655_330_896_4,
    -1.741_103_138_400_146_3e-9,
    -7.006_868_793_909_636e-19,
    -2.270_223_721_504_440_3e-28,
];

/// Returns an angle minus `whole` times π, and the error.
#[inline(always)]
fn remains<const FMA: bool>(x: f64, whole: f64) -> (f64, f64) {
    if FMA {
        let near = whole.madd::<FMA>(-PI[0], x);
        let r = whole.madd::<FMA>(-PI[1], near);
        let low = whole.madd::<FMA>(-PI[1], near - r);
        return quick_sum(r, whole.madd::<FMA>(-PI[2], low));
    }
    let near = x - whole * SHORT_PI[0];
    let r = near - whole * SHORT_PI[1];
    let low = (near - r) - whole * SHORT_PI[1];
    let low = low - whole * SHORT_PI[2] - whole * SHORT_PI[3];
    quick_sum(r, low)
}

/// Returns the sine of a reduced angle of at most a little more than a quarter turn, negated if the
/// last bit of `shifted` is odd.
#[inline(always)]
pub(super) fn wave<const FMA: bool>(r: f64, shifted: f64) -> f64 {
    const SERIES: [f64; 8] = [
        2.722_255_284_974_861_2e-15,
        -7.643_097_782_297_914e-13,
        1.605_894_394_525_608_3e-10,
        -2.505_210_696_052_304_3e-8,
        2.755_731_921_213_618_5e-6,
        -0.000_198_412_698_412_153_14,
        0.008_333_333_333_333_212,
        -0.166_666_666_666_666_66,
    ];
    let z = r * r;
    let value = (r * z).madd::<FMA>(polynomial::<FMA, _, 8>(z, SERIES), r);
    f64::from_bits(value.to_bits() ^ shifted.to_bits() << 63)
}

/// Returns the sine, up to [`REACH`].
#[inline(always)]
pub(crate) fn sin<const FMA: bool>(x: f64) -> f64 {
    let shifted = x.madd::<FMA>(std::f64::consts::FRAC_1_PI, ROUND);
    let (r, _) = remains::<FMA>(x, shifted - ROUND);
    let value = wave::<FMA>(r, shifted);
    if x == 0.0 { x } else { value }
}

/// Returns the cosine, up to [`REACH`].
#[inline(always)]
pub(crate) fn cos<const FMA: bool>(x: f64) -> f64 {
    // The sine, shifted by a quarter turn.
    let shifted = x.madd::<FMA>(std::f64::consts::FRAC_1_PI, 0.5) + ROUND;
    let (r, _) = remains::<FMA>(x, (shifted - ROUND) - 0.5);
    wave::<FMA>(r, shifted)
}

/// Returns the tangent of at most one eighth turn, given as a number and its error.
#[inline(always)]
pub(super) fn tangent<const FMA: bool>(r: f64, low: f64) -> f64 {
    const SERIES: [f64; 14] = [
        2.103_571_633_952_855_5e-5,
        -4.561_765_545_656_77e-5,
        9.087_294_695_733_882e-5,
        -2.798_797_427_495_565_6e-5,
        0.000_137_705_003_241_357_85,
        0.000_221_784_499_324_537_8,
        0.000_595_275_072_022_308,
        0.001_454_705_785_990_715_4,
        0.003_592_298_061_216_119_7,
        0.008_863_218_121_505_752,
        0.021_869_489_686_599_818,
        0.053_968_253_923_274_91,
        0.133_333_333_334_220_43,
        0.333_333_333_333_327_2,
    ];
    let z = r * r;
    let rest = (r * z).madd::<FMA>(polynomial::<FMA, _, 14>(z, SERIES), z.madd::<FMA>(low, low));
    r + rest
}

/// Returns the tangent, up to [`REACH`].
#[inline(always)]
pub(crate) fn tan<const FMA: bool>(x: f64) -> f64 {
    let shifted = x.madd::<FMA>(std::f64::consts::FRAC_2_PI, ROUND);
    let (r, low) = remains::<FMA>(x, 0.5 * (shifted - ROUND));
    let tan = tangent::<FMA>(r, low);
    // The tangent shifted by a quarter turn is the negative inverse.
    let odd = shifted.to_bits() & 1 == 1;
    let (top, bottom) = if odd { (-1.0, tan) } else { (tan, 1.0) };
    if x == 0.0 { x } else { top / bottom }
}

/// Computes sin πx / πx.
#[inline(always)]
pub(crate) fn sinc<const FMA: bool>(x: f64) -> f64 {
    let x = x.abs();
    // Numbers beyond the first bound are integers; beyond the second, even integers.
    let near = if x < 4_503_599_627_370_496.0 { x } else { 0.0 };
    let shifted = near + ROUND;
    // Exact, by sin π(n + r) = ± sin πr.
    let r = std::f64::consts::PI * (near - (shifted - ROUND));
    let value = wave::<FMA>(r, shifted) / (std::f64::consts::PI * x);
    let value = if x == 0.0 { 1.0 } else { value };
    if x > f64::MAX { f64::NAN } else { value }
}

/// Computes atan(t) - t for a tangent t of at most one eighth turn.
#[inline(always)]
fn bend<const FMA: bool>(t: f64) -> f64 {
    const SERIES: [f64; 20] = [
        1.350_022_549_560_858_8e-5,
        -0.000_154_908_069_023_801_85,
        0.000_844_006_066_452_787_7,
        -0.002_920_847_266_478_365_3,
        0.007_266_346_323_370_193,
        -0.013_999_313_604_576_89,
        0.022_089_876_093_171_347,
        -0.029_989_542_130_461_86,
        0.036_696_124_485_361_89,
        -0.042_218_505_461_209_94,
        0.047_233_463_356_045_75,
        -0.052_538_219_795_311_22,
        0.058_805_964_701_375_356,
        -0.066_664_157_031_009_93,
        0.076_922_812_805_296_31,
        -0.090_909_071_281_188_61,
        0.111_111_110_142_157_16,
        -0.142_857_142_828_245_58,
        0.199_999_999_999_559_09,
        -0.333_333_333_333_331,
    ];
    let z = t * t;
    t * (z * polynomial::<FMA, _, 20>(z, SERIES))
}

/// The rounding error of π/2; twice this is that of π.
const LOW: f64 = 6.123_233_995_736_766e-17;

/// Returns the inverse tangent.
#[inline(always)]
pub(crate) fn atan<const FMA: bool>(x: f64) -> f64 {
    let a = x.abs();
    let steep = a > 1.0;
    let t = if steep { -1.0 / a } else { a };
    let (turn, low) = if steep {
        (std::f64::consts::FRAC_PI_2, LOW)
    } else {
        (0.0, 0.0)
    };
    let (sum, rest) = quick_sum(turn, t);
    (sum + (rest + (low + bend::<FMA>(t)))).copysign(x)
}

/// Returns the angle of the point (`x`, `y`).
#[inline(always)]
pub(crate) fn atan2<const FMA: bool>(y: f64, x: f64) -> f64 {
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
    let left = x.is_sign_negative();
    let (turn, low) = if left {
        (std::f64::consts::PI, 2.0 * LOW)
    } else {
        (0.0, 0.0)
    };
    let (turn, low) = if steep {
        (std::f64::consts::FRAC_PI_2, LOW)
    } else {
        (turn, low)
    };
    let t = if steep != left { -t } else { t };
    let (sum, rest) = quick_sum(turn, t);
    (sum + (rest + (low + bend::<FMA>(t)))).copysign(y)
}

/// Returns the inverse sine of a number up to one half, or of √((1 - a) / 2), and whether it is the
/// latter.
#[inline(always)]
fn arc<const FMA: bool>(a: f64) -> (f64, bool) {
    const SERIES: [f64; 13] = [
        0.032_657_229_431_175_105,
        -0.021_044_368_559_152_97,
        0.021_739_029_637_628_502,
        0.003_693_673_023_049_416,
        0.010_783_536_072_218_537,
        0.011_398_347_935_038_968,
        0.013_980_885_916_498_572,
        0.017_351_606_976_597_895,
        0.022_372_215_235_377_788,
        0.030_381_942_700_674_375,
        0.044_642_857_174_706_91,
        0.074_999_999_999_707_91,
        0.166_666_666_666_667_6,
    ];
    let far = a > 0.5;
    let z = if far { 0.5 * (1.0 - a) } else { a * a };
    let s = if far { z.sqrt() } else { a };
    let value = (s * z).madd::<FMA>(polynomial::<FMA, _, 13>(z, SERIES), s);
    (value, far)
}

/// Returns the inverse sine.
#[inline(always)]
pub(crate) fn asin<const FMA: bool>(x: f64) -> f64 {
    let (arc, far) = arc::<FMA>(x.abs());
    let outer = (std::f64::consts::FRAC_PI_2 - (arc + arc)) + LOW;
    (if far { outer } else { arc }).copysign(x)
}

/// Returns the inverse cosine.
#[inline(always)]
pub(crate) fn acos<const FMA: bool>(x: f64) -> f64 {
    let (arc, far) = arc::<FMA>(x.abs());
    let inner = std::f64::consts::FRAC_PI_2 - (arc.copysign(x) - LOW);
    let twice = arc + arc;
    let outer = if x < 0.0 {
        std::f64::consts::PI - (twice - 2.0 * LOW)
    } else {
        twice
    };
    if far { outer } else { inner }
}
