//! The scalar functions beyond arithmetic, exponential and comparison.
//!
//! Those of one real number are within 4 units in the last place of the exact result in `f32` and
//! 8 in `f64`; close to a function's zero, within 2⁻²⁴ or 2⁻⁵² times max(1, |x|). `tests.rs` holds
//! them against tables computed with many digits (`scripts/special_tables.py`). `f32` computes in
//! `f64` where that is the simplest way to be exact.

mod activation;
mod analytic;
mod bits;
mod classify;
mod close;
pub(super) mod complex;
mod dd;
mod erf;
mod gamma;
mod loss;
mod real;
mod shrink;
mod whole;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod values;

use super::{Bits, Inexact, Number, Ordered, Signed};

/// What floats and complex numbers have beyond [`Inexact`].
pub(crate) trait Analytic: Inexact {
    /// The sine.
    fn sin(self) -> Self;
    /// The cosine.
    fn cos(self) -> Self;
    /// The tangent.
    fn tan(self) -> Self;
    /// The inverse sine.
    fn asin(self) -> Self;
    /// The inverse cosine.
    fn acos(self) -> Self;
    /// The inverse tangent.
    fn atan(self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// The inverse hyperbolic cosine.
    fn acosh(self) -> Self;
    /// The inverse hyperbolic tangent.
    fn atanh(self) -> Self;
    /// *e* to the power, less one.
    fn expm1(self) -> Self;
    /// Two to the power.
    fn exp2(self) -> Self;
    /// The natural logarithm of the number and one.
    fn log1p(self) -> Self;
    /// The logarithm to base 2.
    fn log2(self) -> Self;
    /// The logarithm to base 10.
    fn log10(self) -> Self;
    /// One divided by the number.
    fn reciprocal(self) -> Self;
    /// One divided by the square root.
    fn rsqrt(self) -> Self;
    /// The number times its logistic function.
    fn silu(self) -> Self;
    /// sin πx / πx
    fn sinc(self) -> Self;
    /// The logarithm of the sum of two exponentials.
    fn logaddexp(self, other: Self) -> Self;
    /// The point between this and `end` that lies `weight` of the way along.
    fn lerp(self, end: Self, weight: Self) -> Self;
}

/// What real floats have beyond [`Analytic`].
pub(crate) trait Real: Analytic + Ordered {
    /// The angle of the point (`x`, self).
    fn atan2(self, x: Self) -> Self;
    /// The length of the vector (self, `other`).
    fn hypot(self, other: Self) -> Self;
    /// The error function.
    fn erf(self) -> Self;
    /// One less the error function.
    fn erfc(self) -> Self;
    /// The inverse of the error function.
    fn erfinv(self) -> Self;
    /// The logarithm of the gamma function's magnitude.
    fn lgamma(self) -> Self;
    /// The logarithmic derivative of the gamma function.
    fn digamma(self) -> Self;
    /// The part behind the point, with the number's sign.
    fn frac(self) -> Self;
    /// Degrees to radians.
    fn deg2rad(self) -> Self;
    /// Radians to degrees.
    fn rad2deg(self) -> Self;
    /// The number times the logarithm of `other`; zero where the number is.
    fn xlogy(self, other: Self) -> Self;
    /// The number times the logarithm of one and `other`; zero where the number is.
    fn xlog1py(self, other: Self) -> Self;
    /// The logarithm to base 2 of the sum of two powers of 2.
    fn logaddexp2(self, other: Self) -> Self;
    /// The inverse of the logistic function.
    fn logit(self) -> Self;
    /// The magnitude with another number's sign.
    fn copysign(self, sign: Self) -> Self;
    /// The next number on the way to `other`.
    fn nextafter(self, other: Self) -> Self;
    /// The nearest multiple of ten to the power of `-decimals`, ties to even.
    fn round_decimals(self, decimals: Self) -> Self;
    /// The number times its normal distribution function.
    fn gelu(self) -> Self;
    /// [`Real::gelu`] by a formula with tanh.
    fn gelu_tanh(self) -> Self;
    /// ln(1 + exp(beta x)) / beta; the number itself where beta x exceeds `threshold`.
    fn softplus(self, beta: Self, threshold: Self) -> Self;
    /// The logarithm of the logistic function.
    fn logsigmoid(self) -> Self;
    /// The number times tanh of its softplus.
    fn mish(self) -> Self;
    /// `alpha` (exp(x) - 1) where negative.
    fn elu(self, alpha: Self) -> Self;
    /// [`Real::elu`] with fixed scales that keep mean and variance of what passes through.
    fn selu(self) -> Self;
    /// `slope` times the number where negative.
    fn leaky_relu(self, slope: Self) -> Self;
    /// x / (1 + |x|)
    fn softsign(self) -> Self;
    /// (x + 3) / 6, between 0 and 1.
    fn hardsigmoid(self) -> Self;
    /// The number times its [`Real::hardsigmoid`].
    fn hardswish(self) -> Self;
    /// exp(x²) erfc(x)
    fn erfcx(self) -> Self;
    /// The normal distribution function.
    fn ndtr(self) -> Self;
    /// The inverse of the normal distribution function.
    fn ndtri(self) -> Self;
    /// The logarithm of the normal distribution function.
    fn log_ndtr(self) -> Self;
    /// -x ln x
    fn entr(self) -> Self;
    /// The modified Bessel function of order 0.
    fn i0(self) -> Self;
    /// [`Real::i0`] times exp(-|x|).
    fn i0e(self) -> Self;
    /// The modified Bessel function of order 1.
    fn i1(self) -> Self;
    /// [`Real::i1`] times exp(-|x|).
    fn i1e(self) -> Self;
    /// The Hurwitz zeta function of order self.
    fn zeta(self, x: Self) -> Self;
    /// The derivative of order `n` of [`Real::digamma`].
    fn polygamma(self, n: Self) -> Self;
}

/// What floats and complex numbers have: a direction in the plane.
pub(crate) trait Angle: Inexact {
    /// The angle from the positive real axis.
    fn angle(self) -> Self::Real;
}

/// What integers and real floats have: steps, and division that leaves a rest.
pub(crate) trait Whole: Signed + Ordered {
    /// The next whole number above.
    fn ceil(self) -> Self;
    /// The next whole number below.
    fn floor(self) -> Self;
    /// The next whole number towards zero.
    fn trunc(self) -> Self;
    /// The nearest whole number, ties to even.
    fn round(self) -> Self;
    /// The quotient, rounded down. Integers: zero when `other` is.
    fn floor_divide(self, other: Self) -> Self;
    /// The quotient, rounded towards zero. Integers: zero when `other` is.
    fn trunc_divide(self, other: Self) -> Self;
    /// What [`Whole::floor_divide`] leaves; it has the divisor's sign.
    fn remainder(self, other: Self) -> Self;
    /// What [`Whole::trunc_divide`] leaves; it has the dividend's sign.
    fn fmod(self, other: Self) -> Self;
    /// Between zero and six.
    fn relu6(self) -> Self;
    /// Whether the sign is minus; floats have one at zero, too.
    fn is_negative(self) -> bool;
}

/// What every dtype has beyond [`Number`].
pub(crate) trait Classify: Number {
    /// The direction: -1, 0 or 1; of a complex number, the number divided by its magnitude.
    fn sgn(self) -> Self;
    /// Whether it, or a part of it, is infinite.
    fn is_inf(self) -> bool;
    /// Whether it, or a part of it, is NaN.
    fn is_nan(self) -> bool;
    /// `nan` for NaN, `posinf` and `neginf` for the infinities; in each part.
    fn nan_to_num(self, nan: Self, posinf: Self, neginf: Self) -> Self;
    /// Whether the imaginary part, if there is one, is zero.
    fn is_real(self) -> bool;
}

/// What integers and bool have beyond [`Bits`].
pub(crate) trait Bitwise: Bits {
    /// Bits set in both.
    fn bitwise_and(self, other: Self) -> Self;
    /// Bits set in either.
    fn bitwise_or(self, other: Self) -> Self;
    /// Bits set in one of them.
    fn bitwise_xor(self, other: Self) -> Self;
}

/// What integers have beyond [`Bitwise`].
pub(crate) trait Integer: Bitwise + Whole {
    /// Bits moved up; none are left when `by` is negative or the width.
    fn bitwise_left_shift(self, by: Self) -> Self;
    /// Bits moved down, the sign staying; only the sign is left when `by` is negative or the width.
    fn bitwise_right_shift(self, by: Self) -> Self;
    /// The greatest common divisor.
    fn gcd(self, other: Self) -> Self;
    /// The least common multiple.
    fn lcm(self, other: Self) -> Self;
}

/// The functions by the names that expressions use.
pub(crate) mod by_name {
    #![allow(dead_code, reason = "a row may name any of them")]
    pub(crate) use super::close::{isclose, isclose_nan};
    use super::loss::Loss;
    use super::shrink::Shrink;
    use super::{Analytic, Angle, Bitwise, Classify, Integer, Number, Ordered, Real, Whole};

    /// As the macro of the basic functions; methods need no expression.
    macro_rules! functions {
        ($([$bound:ident] $($f:ident($x:ident $(, $arg:ident)*) -> $out:ty = $value:expr;)*)*) => {$($(
            #[inline(always)]
            pub(crate) fn $f<T: $bound>($x: T $(, $arg: T)*) -> $out {
                $value
            }
        )*)*};
    }

    functions! {
        [Number]
            logical_not(x) -> bool = !x.truth();
            logical_or(x, y) -> bool = x.truth() | y.truth();
            logical_xor(x, y) -> bool = x.truth() ^ y.truth();
        [Classify]
            isnan(x) -> bool = x.is_nan();
            isinf(x) -> bool = x.is_inf();
            isfinite(x) -> bool = !(x.is_nan() | x.is_inf());
            square(x) -> T = x.mul(x);
            isreal(x) -> bool = x.is_real();
        [Angle]
            angle(x) -> T::Real = x.angle();
        [Ordered]
            above(x, threshold, value) -> T = if x <= threshold { value } else { x };
    }

    /// Methods of a trait as functions.
    macro_rules! methods {
        ($($bound:ident: $($f:ident($x:ident $(, $arg:ident)*))*;)*) => {$($(
            #[inline(always)]
            pub(crate) fn $f<T: $bound>($x: T $(, $arg: T)*) -> T {
                $bound::$f($x $(, $arg)*)
            }
        )*)*};
    }

    methods! {
        Analytic: sin(x) cos(x) tan(x) asin(x) acos(x) atan(x) sinh(x) cosh(x) asinh(x) acosh(x)
            atanh(x) expm1(x) exp2(x) log1p(x) log2(x) log10(x) reciprocal(x) rsqrt(x) silu(x) sinc(x)
            logaddexp(x, y) lerp(x, end, weight);
        Real: atan2(x, y) hypot(x, y) erf(x) erfc(x) erfinv(x) lgamma(x) digamma(x) frac(x)
            deg2rad(x) rad2deg(x) xlogy(x, y) xlog1py(x, y) logaddexp2(x, y) logit(x)
            copysign(x, sign) nextafter(x, y) round_decimals(x, decimals) gelu(x) gelu_tanh(x) softplus(x, beta, threshold)
            logsigmoid(x) mish(x) elu(x, alpha) selu(x) leaky_relu(x, slope) softsign(x)
            hardsigmoid(x) hardswish(x) erfcx(x) ndtr(x) ndtri(x) log_ndtr(x) entr(x) i0(x) i0e(x)
            i1(x) i1e(x) zeta(x, y) polygamma(x, n);
        Shrink: celu(x, alpha) softshrink(x, lambd) hardshrink(x, lambd) tanhshrink(x)
            logit_eps(x, eps) dropped(x, draw, p);
        Loss: smooth_error(x, y, beta) huber_error(x, y, delta) binary_entropy(x, y)
            logit_entropy(x, y, weight) divergence(x, y) soft_margin(x, y) stirling(x);
        Classify: sgn(x) nan_to_num(x, nan, posinf, neginf);
        Whole: ceil(x) floor(x) trunc(x) round(x) floor_divide(x, y) trunc_divide(x, y)
            remainder(x, y) fmod(x, y) relu6(x);
        Bitwise: bitwise_and(x, y) bitwise_or(x, y) bitwise_xor(x, y);
        Integer: bitwise_left_shift(x, by) bitwise_right_shift(x, by) gcd(x, y) lcm(x, y);
    }

    /// Whether it is infinite and positive.
    #[inline(always)]
    pub(crate) fn isposinf<T: Ordered + Classify>(x: T) -> bool {
        x.is_inf() && x > T::default()
    }

    /// Whether it is infinite and negative.
    #[inline(always)]
    pub(crate) fn isneginf<T: Ordered + Classify>(x: T) -> bool {
        x.is_inf() && x < T::default()
    }

    /// Whether the sign bit is set; of an integer, whether it is negative.
    #[inline(always)]
    pub(crate) fn signbit<T: Whole>(x: T) -> bool {
        x.is_negative()
    }

    /// The greater of two; of a number and NaN, the number.
    #[inline(always)]
    #[allow(clippy::eq_op, reason = "NaN differs from itself")]
    pub(crate) fn fmax<T: Ordered>(x: T, y: T) -> T {
        if x >= y || y != y { x } else { y }
    }

    /// The smaller of two; of a number and NaN, the number.
    #[inline(always)]
    #[allow(clippy::eq_op, reason = "NaN differs from itself")]
    pub(crate) fn fmin<T: Ordered>(x: T, y: T) -> T {
        if x <= y || y != y { x } else { y }
    }

    /// Zero where negative, one where positive, `y` at zero.
    #[inline(always)]
    pub(crate) fn heaviside<T: Ordered + Classify>(x: T, y: T) -> T {
        if x == T::default() {
            y
        } else if x > T::default() {
            x.sgn()
        } else {
            T::default()
        }
    }
}
