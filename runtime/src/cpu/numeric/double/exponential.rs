//! Exponentials and functions composed of them.

use super::pair::{even_odd_polynomial, product, quick_sum, sum};
use crate::cpu::numeric::polynomial::{Madd, polynomial};

/// Adding this rounds a number to the nearest integer, which is then in the last bits.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first has so few bits that its product with an exponent is exact.
pub(super) const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// Like [`ROUND`], for an integer plus a bias: shifted to the exponent, the last bits form a power of two.
const fn round(bias: u16) -> f64 {
    ROUND + bias as f64
}

/// The exponent bias of the type.
const EXACT: u16 = 1023;

/// The bias for [`grow`].
const LESS: u16 = EXACT - 1;

/// The bias of powers that are scaled by 2⁵¹¹.
const RAISED: u16 = EXACT + 511;

/// Splits exp(x) into a power of two, whose exponent is in the last bits with a bias, and the remaining argument, as a
/// number and its error.
#[inline(always)]
fn split<const FMA: bool, const BIAS: u16>(x: f64) -> (f64, f64, f64) {
    let shifted = x.madd::<FMA>(std::f64::consts::LOG2_E, round(BIAS));
    let whole = shifted - round(BIAS);
    let near = whole.madd::<FMA>(-LN_2[0], x);
    let r = whole.madd::<FMA>(-LN_2[1], near);
    (shifted, r, whole.madd::<FMA>(-LN_2[1], near - r))
}

/// Computes exp(r + low) - 1 - r for the remainder of [`split`].
#[inline(always)]
fn bend<const FMA: bool>(r: f64, low: f64) -> f64 {
    const SERIES: [f64; 10] = [
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
    ];
    (r * r).madd::<FMA>(even_odd_polynomial::<FMA, 10>(r, SERIES), low)
}

/// Splits exp(x + low) into a power of two, whose exponent is in the last bits with the bias [`LESS`], and a factor, of
/// which it returns the excess over 1. x is between -800 and 750.
#[inline(always)]
pub(super) fn power<const FMA: bool>(x: f64, low: f64) -> (f64, f64) {
    let (shifted, r, rest) = split::<FMA, LESS>(x);
    let (r, low) = quick_sum(r, rest + low);
    (shifted, r + bend::<FMA>(r, low))
}

/// Splits exp(x) into a power of two, which is a normal number, and a factor, which is rounded once more than by
/// [`power`].
#[inline(always)]
pub(super) fn simple_power<const FMA: bool>(x: f64) -> (f64, f64) {
    let (shifted, r, _) = split::<FMA, EXACT>(x);
    (whole_power(shifted), 1.0 + (r + bend::<FMA>(r, 0.0)))
}

/// Multiplies a number by the power of two whose exponent is in the last bits with the bias [`LESS`]. `low` says that
/// the exponent is below -1000. Two factors are used, so that infinite and subnormal results are correct, too.
#[inline(always)]
pub(super) fn grow(x: f64, shifted: f64, low: bool) -> f64 {
    let more = if low { 512 << 52 } else { 0 };
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(more));
    x * scale * f64::from_bits(2.0_f64.to_bits() - more)
}

/// Returns two to the power in the last bits, by this bias: with the bias of the type exactly that power, with a
/// greater bias a multiple.
#[inline(always)]
pub(super) fn whole_power(shifted: f64) -> f64 {
    f64::from_bits(shifted.to_bits() << 52)
}

/// Returns exp(x) as a power of two, whose exponent is in the last bits with a bias, and the remaining factor.
#[inline(always)]
fn parts<const FMA: bool, const BIAS: u16>(x: f64) -> (f64, f64) {
    /// (exp(r) - 1 - r) / r² for |r| up to ln 2 / 2.
    const SERIES: [f64; 10] = [
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
    ];
    let shifted = x.madd::<FMA>(std::f64::consts::LOG2_E, round(BIAS));
    let whole = shifted - round(BIAS);
    let r = whole.madd::<FMA>(-LN_2[1], whole.madd::<FMA>(-LN_2[0], x));
    let bend = even_odd_polynomial::<FMA, 10>(r, SERIES);
    (shifted, polynomial::<FMA, _, 3>(r, [bend, 1.0, 1.0]))
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

/// Returns 2^x.
#[inline(always)]
pub(crate) fn exp2<const FMA: bool>(x: f64) -> f64 {
    const SERIES: [f64; 13] = [
        2.573_783_728_096_662e-11,
        4.455_822_270_365_521e-10,
        7.054_891_451_672_409e-9,
        1.017_805_706_303_932_1e-7,
        1.321_548_682_333_603_9e-6,
        1.525_273_384_160_517_3e-5,
        0.000_154_035_303_933_547_31,
        0.001_333_355_814_640_643_2,
        0.009_618_129_107_628_487,
        0.055_504_108_664_821_625,
        0.240_226_506_959_100_72,
        std::f64::consts::LN_2,
        1.0,
    ];
    let x = if x > 1025.0 { 1025.0 } else { x };
    // Limited as in `exp`.
    let x = if x < -1534.0 { -1534.0 } else { x };
    let shifted = x + round(LESS);
    let power = polynomial::<FMA, _, 13>(x - (shifted - round(LESS)), SERIES);
    grow(power, shifted, x < -1000.0)
}

/// Computes *e*^x - 1.
#[inline(always)]
pub(crate) fn expm1<const FMA: bool>(x: f64) -> f64 {
    let near = if x > 710.0 { 710.0 } else { x };
    let near = if near < -50.0 { -50.0 } else { near };
    let (shifted, r, low) = split::<FMA, EXACT>(near);
    // Half of large powers, because the full power may be infinite.
    let great = near > 700.0;
    let (twice, one) = if great { (2.0, 0.5) } else { (1.0, 1.0) };
    let scale = whole_power(if great { shifted - 1.0 } else { shifted });
    let (high, rest) = quick_sum(scale - one, scale * r);
    let value = twice * (high + scale.madd::<FMA>(bend::<FMA>(r, low), rest));
    if x == 0.0 { x } else { value }
}

/// Returns four numbers for |x| reduced modulo ln 2: the hyperbolic sine of the remainder, its hyperbolic cosine minus
/// one, and a quarter of the sum and of the difference of the power of two and its inverse.
#[inline(always)]
fn hyperbolic<const FMA: bool>(x: f64) -> [f64; 4] {
    const SINH: [f64; 5] = [
        2.510_911_427_760_959_2e-8,
        2.755_724_401_532_294_6e-6,
        0.000_198_412_698_862_868_53,
        0.008_333_333_333_321_582,
        0.166_666_666_666_666_77,
    ];
    const COSH: [f64; 5] = [
        2.763_143_924_755_644_4e-7,
        2.480_148_950_842_329_6e-5,
        0.001_388_888_894_742_588_2,
        0.041_666_666_666_513_87,
        0.500_000_000_000_001_3,
    ];
    let a = x.abs();
    let a = if a > 710.5 { 710.5 } else { a };
    let (shifted, r, low) = split::<FMA, EXACT>(a);
    let z = r * r;
    let sinh = r + (z * r).madd::<FMA>(polynomial::<FMA, _, 5>(z, SINH), low);
    let cosh = z * polynomial::<FMA, _, 5>(z, COSH);
    let bits = shifted.to_bits() << 52;
    let power = f64::from_bits(bits.wrapping_sub(2 << 52));
    let inverse = f64::from_bits(((2 * 1022_u64) << 52).wrapping_sub(bits));
    // Beyond this limit the inverse is negligible.
    let inverse = if a > 40.0 { 0.0 } else { inverse };
    [sinh, cosh, power + inverse, power - inverse]
}

/// Returns the hyperbolic sine.
#[inline(always)]
pub(crate) fn sinh<const FMA: bool>(x: f64) -> f64 {
    let [sinh, cosh, sum, difference] = hyperbolic::<FMA>(x);
    let (high, rest) = quick_sum(difference, sum * sinh);
    let value = if difference == 0.0 {
        sinh
    } else {
        2.0 * (high + difference.madd::<FMA>(cosh, rest))
    };
    let value = if x.abs() < 1e-8 { x } else { value.copysign(x) };
    if x.abs() > f64::MAX { x } else { value }
}

/// Returns the hyperbolic cosine.
#[inline(always)]
pub(crate) fn cosh<const FMA: bool>(x: f64) -> f64 {
    let [sinh, cosh, sum, difference] = hyperbolic::<FMA>(x);
    let value = 2.0 * (sum + sum.madd::<FMA>(cosh, difference * sinh));
    if x.abs() > f64::MAX { x.abs() } else { value }
}

/// Computes `alpha` (exp(x) - 1) for negative numbers; others are unchanged.
#[inline(always)]
pub(crate) fn elu<const FMA: bool>(x: f64, alpha: f64) -> f64 {
    let value = alpha * expm1::<FMA>(x);
    if x <= 0.0 { value } else { x }
}

/// Computes `alpha` (exp(x / `alpha`) - 1) for negative numbers; others are unchanged.
#[inline(always)]
pub(crate) fn celu<const FMA: bool>(x: f64, alpha: f64) -> f64 {
    let value = alpha * expm1::<FMA>(x / alpha);
    if x <= 0.0 { value } else { x }
}

/// Like [`elu`], with fixed scales that preserve the mean and variance of the inputs.
#[inline(always)]
pub(crate) fn selu<const FMA: bool>(x: f64) -> f64 {
    const ALPHA: f64 = 1.673_263_242_354_377_2;
    const SCALE: f64 = 1.050_700_987_355_480_5;
    let negative = (SCALE * ALPHA) * expm1::<FMA>(x);
    if x <= 0.0 { negative } else { SCALE * x }
}

/// Returns x times the logistic function of the gate, given as a number and its error.
#[inline(always)]
fn gated<const FMA: bool>(x: f64, gate: f64, low: f64) -> f64 {
    let negative = gate < 0.0;
    let far = gate.abs() > 760.0;
    let a = if far { -760.0 } else { -gate.abs() };
    let low = if far { 0.0 } else { low };
    let (shifted, less) = power::<FMA>(a, if negative { low } else { -low });
    let small = a < -700.0;
    let e = grow(1.0 + less, shifted, small);
    // Multiplied by x before the power becomes subnormal.
    let top = if negative { x.madd::<FMA>(less, x) } else { x };
    let sum = 1.0 + e;
    // The rounding error of the sum, times its approximate inverse.
    let lost = (e - (sum - 1.0)) * e.madd::<FMA>(-0.5, 1.0);
    let quotient = top / sum;
    let quotient = quotient.madd::<FMA>(-lost, quotient);
    let value = if negative {
        grow(quotient, shifted, small)
    } else {
        quotient
    };
    let value = if negative & far { -0.0 } else { value };
    (if x > f64::MAX { x } else { value }).copysign(x)
}

/// Returns the number times its logistic function.
#[inline(always)]
pub(crate) fn silu<const FMA: bool>(x: f64) -> f64 {
    // Beyond this limit the result is zero, ...
    let top = if x < -760.0 { -760.0 } else { x };
    // ... and beyond this one it is x.
    let near = if top > 700.0 { 700.0 } else { top };
    let (shifted, r, low) = split::<FMA, EXACT>(-near);
    let less = r + bend::<FMA>(r, low);
    // x / (1 + exp(-x)), with both parts scaled down by 2⁵¹² where the exponential would overflow.
    let small = if x < -512.0 { 512 << 52 } else { 0 };
    let one = f64::from_bits(1.0_f64.to_bits() - small);
    let scale = f64::from_bits(whole_power(shifted).to_bits().wrapping_sub(small));
    let sum = one + scale;
    // The rounding error of the sum if the power is the greater term.
    let lost = if x < -36.0 { one - (sum - scale) } else { 0.0 };
    top * one / (sum + less.madd::<FMA>(scale, lost))
}

/// Computes x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))) by the logistic function, so that nothing cancels.
#[inline(always)]
pub(crate) fn gelu_tanh<const FMA: bool>(x: f64) -> f64 {
    const SQRT_8_OVER_PI: [f64; 2] = [1.595_769_121_605_730_8, -9.969_308_809_110_92e-17];
    const CUBIC: f64 = 0.044_715;
    // Exponentials turn absolute errors of their arguments into relative errors.
    let near = if x.abs() > 1e3 {
        1e3_f64.copysign(x)
    } else {
        x
    };
    let (square, square_low) = product::<FMA>(near, near);
    let (cubic, cubic_low) = product::<FMA>(square, CUBIC);
    let (sum, sum_low) = sum(1.0, cubic);
    let sum_low = sum_low + square_low.madd::<FMA>(CUBIC, cubic_low);
    let (inner, inner_low) = product::<FMA>(near, sum);
    let inner_low = near.madd::<FMA>(sum_low, inner_low);
    let (gate, gate_low) = product::<FMA>(inner, SQRT_8_OVER_PI[0]);
    let rest = inner_low.madd::<FMA>(SQRT_8_OVER_PI[0], inner * SQRT_8_OVER_PI[1]);
    gated::<FMA>(x, gate, gate_low + rest)
}

/// Returns the number times tanh of its softplus, by tanh ln(1 + e) = (e² + 2e) / (e² + 2e + 2).
#[inline(always)]
pub(crate) fn mish<const FMA: bool>(x: f64) -> f64 {
    let near = if x < -760.0 { -760.0 } else { x };
    let near = if near > 40.0 { 40.0 } else { near };
    let (shifted, less) = power::<FMA>(near, 0.0);
    let small = near < -700.0;
    let e = grow(1.0 + less, shifted, small);
    let rest = (e + 2.0) / e.madd::<FMA>(e + 2.0, 2.0);
    let value = grow(near.madd::<FMA>(less, near) * rest, shifted, small);
    let value = if x > 40.0 { x } else { value };
    if x < -760.0 { -0.0 } else { value }
}

/// Computes x - tanh(x).
#[inline(always)]
pub(crate) fn tanhshrink<const FMA: bool>(x: f64) -> f64 {
    // (x - tanh(x)) / x³, as a function of x²; for larger x nothing cancels.
    const SERIES: [f64; 18] = [
        -7.840_312_962_919_748e-10,
        1.244_950_115_598_856_7e-8,
        -9.532_516_600_214_71e-8,
        4.761_651_676_016_541e-7,
        -1.784_171_503_659_363e-6,
        5.507_172_018_701_312e-6,
        -1.507_095_237_377_632_4e-5,
        3.868_297_721_657_978e-5,
        -9.659_188_434_860_565e-5,
        0.000_238_994_927_040_973_8,
        -0.000_589_985_747_530_333_5,
        0.001_455_824_937_989_445,
        -0.003_592_126_532_609_303,
        0.008_863_235_370_848_216,
        -0.021_869_488_525_893_5,
        0.053_968_253_967_904_21,
        -0.133_333_333_333_328_6,
        0.333_333_333_333_333_3,
    ];
    let z = x * x;
    let near = x * (z * polynomial::<FMA, _, 18>(z, SERIES));
    if z < 1.5 { near } else { x - tanh::<FMA>(x) }
}
