//! The scalar functions beyond arithmetic, exponentials and comparisons.
//!
//! Functions of one real number are within 4 units in the last place of the exact result in `f32`
//! and 8 in `f64`; near a function's zero, within 2⁻²⁴ or 2⁻⁵² times max(1, |x|). `tests.rs`
//! compares them with tables computed with many digits (`scripts/special_tables.py`). `f32`
//! computes in `f64` where that is the simplest way to be accurate.

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

/// Functions of floats and complex numbers, in addition to [`Inexact`].
pub(crate) trait Analytic: Inexact {
    /// Returns the sine.
    fn sin(self) -> Self;
    /// Returns the cosine.
    fn cos(self) -> Self;
    /// Returns the tangent.
    fn tan(self) -> Self;
    /// Returns the inverse sine.
    fn asin(self) -> Self;
    /// Returns the inverse cosine.
    fn acos(self) -> Self;
    /// Returns the inverse tangent.
    fn atan(self) -> Self;
    /// Returns the hyperbolic sine.
    fn sinh(self) -> Self;
    /// Returns the hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Returns the inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// Returns the inverse hyperbolic cosine.
    fn acosh(self) -> Self;
    /// Returns the inverse hyperbolic tangent.
    fn atanh(self) -> Self;
    /// Computes *e*^x - 1.
    fn expm1(self) -> Self;
    /// Returns 2^x.
    fn exp2(self) -> Self;
    /// Computes ln(1 + x).
    fn log1p(self) -> Self;
    /// Returns the logarithm to base 2.
    fn log2(self) -> Self;
    /// Returns the logarithm to base 10.
    fn log10(self) -> Self;
    /// Returns one divided by the number.
    fn reciprocal(self) -> Self;
    /// Returns one divided by the square root.
    fn rsqrt(self) -> Self;
    /// Returns the number times its logistic function.
    fn silu(self) -> Self;
    /// Computes sin πx / πx.
    fn sinc(self) -> Self;
    /// Returns the logarithm of the sum of two exponentials.
    fn logaddexp(self, other: Self) -> Self;
    /// Returns the point at the fraction `weight` of the way from this number to `end`.
    fn lerp(self, end: Self, weight: Self) -> Self;
}

/// Functions of real floats, in addition to [`Analytic`].
pub(crate) trait Real: Analytic + Ordered {
    /// Returns the angle of the point (`x`, `self`).
    fn atan2(self, x: Self) -> Self;
    /// Returns the length of the vector (`self`, `other`).
    fn hypot(self, other: Self) -> Self;
    /// Returns the error function.
    fn erf(self) -> Self;
    /// Returns 1 - erf(x), without cancellation.
    fn erfc(self) -> Self;
    /// Returns the inverse of the error function.
    fn erfinv(self) -> Self;
    /// Returns the logarithm of the magnitude of the gamma function.
    fn lgamma(self) -> Self;
    /// Returns the logarithmic derivative of the gamma function.
    fn digamma(self) -> Self;
    /// Returns the fractional part, with the number's sign.
    fn frac(self) -> Self;
    /// Converts degrees to radians.
    fn deg2rad(self) -> Self;
    /// Converts radians to degrees.
    fn rad2deg(self) -> Self;
    /// Returns the number times the logarithm of `other`; zero if the number is zero.
    fn xlogy(self, other: Self) -> Self;
    /// Returns the number times ln(1 + `other`); zero if the number is zero.
    fn xlog1py(self, other: Self) -> Self;
    /// Returns the logarithm to base 2 of the sum of two powers of 2.
    fn logaddexp2(self, other: Self) -> Self;
    /// Returns the inverse of the logistic function.
    fn logit(self) -> Self;
    /// Returns the magnitude with the sign of another number.
    fn copysign(self, sign: Self) -> Self;
    /// Returns the next representable number towards `other`.
    fn nextafter(self, other: Self) -> Self;
    /// Rounds to `decimals` decimal places, ties to even.
    fn round_decimals(self, decimals: Self) -> Self;
    /// Returns the number times its normal distribution function.
    fn gelu(self) -> Self;
    /// Like [`Real::gelu`], by a formula with tanh.
    fn gelu_tanh(self) -> Self;
    /// Computes ln(1 + exp(beta x)) / beta, or the number itself if beta x exceeds `threshold`.
    fn softplus(self, beta: Self, threshold: Self) -> Self;
    /// Returns the logarithm of the logistic function.
    fn logsigmoid(self) -> Self;
    /// Returns the number times tanh of its softplus.
    fn mish(self) -> Self;
    /// Computes `alpha` (exp(x) - 1) for negative numbers; others are unchanged.
    fn elu(self, alpha: Self) -> Self;
    /// Like [`Real::elu`], with fixed scales that preserve the mean and variance of the inputs.
    fn selu(self) -> Self;
    /// Returns `slope` times the number if it is negative, otherwise the number.
    fn leaky_relu(self, slope: Self) -> Self;
    /// Computes x / (1 + |x|).
    fn softsign(self) -> Self;
    /// Computes (x + 3) / 6, clamped to between 0 and 1.
    fn hardsigmoid(self) -> Self;
    /// Returns the number times its [`Real::hardsigmoid`].
    fn hardswish(self) -> Self;
    /// Computes exp(x²) erfc(x).
    fn erfcx(self) -> Self;
    /// Returns the normal distribution function.
    fn ndtr(self) -> Self;
    /// Returns the inverse of the normal distribution function.
    fn ndtri(self) -> Self;
    /// Returns the logarithm of the normal distribution function.
    fn log_ndtr(self) -> Self;
    /// Computes -x ln x.
    fn entr(self) -> Self;
    /// Returns the modified Bessel function of order 0.
    fn i0(self) -> Self;
    /// Like [`Real::i0`], times exp(-|x|).
    fn i0e(self) -> Self;
    /// Returns the modified Bessel function of order 1.
    fn i1(self) -> Self;
    /// Like [`Real::i1`], times exp(-|x|).
    fn i1e(self) -> Self;
    /// Returns the Hurwitz zeta function of order `self`.
    fn zeta(self, x: Self) -> Self;
    /// Returns the derivative of order `n` of [`Real::digamma`].
    fn polygamma(self, n: Self) -> Self;
}

/// Functions of floats and complex numbers as directions in the plane.
pub(crate) trait Angle: Inexact {
    /// Returns the angle from the positive real axis.
    fn angle(self) -> Self::Real;
}

/// Functions of integers and real floats: rounding, and division with a remainder.
pub(crate) trait Whole: Signed + Ordered {
    /// Rounds up to an integer.
    fn ceil(self) -> Self;
    /// Rounds down to an integer.
    fn floor(self) -> Self;
    /// Rounds towards zero to an integer.
    fn trunc(self) -> Self;
    /// Rounds to the nearest integer, ties to even.
    fn round(self) -> Self;
    /// Returns the quotient, rounded down; for integers, zero if `other` is zero.
    fn floor_divide(self, other: Self) -> Self;
    /// Returns the quotient, rounded towards zero; for integers, zero if `other` is zero.
    fn trunc_divide(self, other: Self) -> Self;
    /// Returns the remainder of [`Whole::floor_divide`], which has the divisor's sign.
    fn remainder(self, other: Self) -> Self;
    /// Returns the remainder of [`Whole::trunc_divide`], which has the dividend's sign.
    fn fmod(self, other: Self) -> Self;
    /// Clamps to between zero and six.
    fn relu6(self) -> Self;
    /// Returns whether the sign is negative; floats have a sign at zero, too.
    fn is_negative(self) -> bool;
}

/// Functions of every dtype, in addition to [`Number`].
pub(crate) trait Classify: Number {
    /// Returns the sign: -1, 0 or 1; for a complex number, the number divided by its magnitude.
    fn sgn(self) -> Self;
    /// Returns whether the number, or a part of it, is infinite.
    fn is_inf(self) -> bool;
    /// Returns whether the number, or a part of it, is NaN.
    fn is_nan(self) -> bool;
    /// Replaces NaN by `nan` and the infinities by `posinf` and `neginf`, in each part.
    fn nan_to_num(self, nan: Self, posinf: Self, neginf: Self) -> Self;
    /// Returns whether the imaginary part, if there is one, is zero.
    fn is_real(self) -> bool;
}

/// Functions of integers and bool, in addition to [`Bits`].
pub(crate) trait Bitwise: Bits {
    /// Returns the bits set in both numbers.
    fn bitwise_and(self, other: Self) -> Self;
    /// Returns the bits set in either number.
    fn bitwise_or(self, other: Self) -> Self;
    /// Returns the bits set in exactly one of the numbers.
    fn bitwise_xor(self, other: Self) -> Self;
}

/// Functions of integers, in addition to [`Bitwise`].
pub(crate) trait Integer: Bitwise + Whole {
    /// Shifts left; zero if `by` is negative or at least the width.
    fn bitwise_left_shift(self, by: Self) -> Self;
    /// Shifts right arithmetically; only the sign is left if `by` is negative or at least the
    /// width.
    fn bitwise_right_shift(self, by: Self) -> Self;
    /// Returns the greatest common divisor.
    fn gcd(self, other: Self) -> Self;
    /// Returns the least common multiple.
    fn lcm(self, other: Self) -> Self;
}

/// The functions by their names in expressions.
pub(crate) mod by_name {
    #![allow(dead_code, reason = "a row may name any of them")]
    pub(crate) use super::close::{isclose, isclose_nan};
    use super::loss::Loss;
    use super::shrink::Shrink;
    use super::{Analytic, Angle, Bitwise, Classify, Integer, Number, Ordered, Real, Whole};

    /// Like the macro of the basic functions; methods need no expression.
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

    /// Defines functions for the methods of a trait.
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

    /// Returns whether the number is infinite and positive.
    #[inline(always)]
    pub(crate) fn isposinf<T: Ordered + Classify>(x: T) -> bool {
        x.is_inf() && x > T::default()
    }

    /// Returns whether the number is infinite and negative.
    #[inline(always)]
    pub(crate) fn isneginf<T: Ordered + Classify>(x: T) -> bool {
        x.is_inf() && x < T::default()
    }

    /// Returns whether the sign bit is set; for an integer, whether it is negative.
    #[inline(always)]
    pub(crate) fn signbit<T: Whole>(x: T) -> bool {
        x.is_negative()
    }

    /// Returns the greater of two numbers, ignoring NaN if the other is a number.
    #[inline(always)]
    #[allow(clippy::eq_op, reason = "NaN differs from itself")]
    pub(crate) fn fmax<T: Ordered>(x: T, y: T) -> T {
        if x >= y || y != y { x } else { y }
    }

    /// Returns the smaller of two numbers, ignoring NaN if the other is a number.
    #[inline(always)]
    #[allow(clippy::eq_op, reason = "NaN differs from itself")]
    pub(crate) fn fmin<T: Ordered>(x: T, y: T) -> T {
        if x <= y || y != y { x } else { y }
    }

    /// Returns zero for negative numbers, one for positive ones, and `y` at zero.
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
