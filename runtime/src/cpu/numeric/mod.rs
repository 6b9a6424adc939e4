//! The scalar functions called by the operator table's expressions: `add(x, y)`, `exp(x)`.
//!
//! Each is generic over a trait that determines the compute dtypes it supports. 16-bit floats are
//! not among them; they are computed in `f32`. All functions are inlined into the loops that call
//! them, so that each loop compiles them for its own instruction set.

mod boolean;
mod complex;
mod convert;
pub(crate) mod double;
mod exact;
mod float;
pub(crate) mod half;
mod integer;
mod polynomial;
mod remainder;
pub(crate) mod single;
pub(crate) mod special;
mod widened;
mod wider;

#[cfg(test)]
mod tests;

use nomina_core::Element;

pub(crate) use convert::Convert;

/// Functions of every dtype.
pub(crate) trait Number: Element {
    /// Returns the sum; for bool, the disjunction.
    fn add(self, other: Self) -> Self;
    /// Returns the product; for bool, the conjunction.
    fn mul(self, other: Self) -> Self;
    /// Returns whether the number differs from zero.
    fn truth(self) -> bool;
}

/// Functions of all dtypes except bool.
pub(crate) trait Signed: Number {
    /// Returns the difference.
    fn sub(self, other: Self) -> Self;
    /// Returns the negated number; integers wrap.
    fn neg(self) -> Self;
    /// Returns the absolute value, or the magnitude.
    fn abs(self) -> Self::Real;
    /// Returns a power.
    fn pow(self, exponent: Self) -> Self;
}

/// Functions of floats and complex numbers.
pub(crate) trait Inexact: Signed {
    /// Returns the quotient.
    fn div(self, other: Self) -> Self;
    /// Returns *e*^`self`.
    fn exp(self) -> Self;
    /// Returns the natural logarithm.
    fn log(self) -> Self;
    /// Returns the square root.
    fn sqrt(self) -> Self;
    /// Returns the hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Returns the logistic function.
    fn sigmoid(self) -> Self;
}

/// Functions of all dtypes except complex ones.
pub(crate) trait Ordered: Number + PartialOrd {
    /// Returns the greater of two numbers; NaN if either is.
    fn maximum(self, other: Self) -> Self;
    /// Returns the smaller of two numbers; NaN if either is.
    fn minimum(self, other: Self) -> Self;
}

/// Functions of integers and bool.
pub(crate) trait Bits: Number {
    /// Inverts every bit.
    fn not(self) -> Self;
}

/// The functions by their names in expressions.
pub(crate) mod by_name {
    #![allow(dead_code, reason = "a row may name any of them")]
    pub(crate) use super::special::by_name::*;
    use super::{Bits, Inexact, Number, Ordered, Signed};
    use nomina_core::Element;

    macro_rules! functions {
        ($($f:ident($x:ident $(, $arg:ident)*) -> $out:ty: $bound:ident, $value:expr;)*) => {$(
            #[inline(always)]
            pub(crate) fn $f<T: $bound>($x: T $(, $arg: T)*) -> $out {
                $value
            }
        )*};
    }

    functions! {
        add(x, y) -> T: Number, Number::add(x, y);
        mul(x, y) -> T: Number, Number::mul(x, y);
        eq(x, y) -> bool: Number, x == y;
        ne(x, y) -> bool: Number, x != y;
        logical_and(x, y) -> bool: Number, x.truth() & y.truth();
        sub(x, y) -> T: Signed, Signed::sub(x, y);
        neg(x) -> T: Signed, Signed::neg(x);
        abs(x) -> T::Real: Signed, Signed::abs(x);
        pow(x, y) -> T: Signed, Signed::pow(x, y);
        div(x, y) -> T: Inexact, Inexact::div(x, y);
        exp(x) -> T: Inexact, Inexact::exp(x);
        log(x) -> T: Inexact, Inexact::log(x);
        sqrt(x) -> T: Inexact, Inexact::sqrt(x);
        tanh(x) -> T: Inexact, Inexact::tanh(x);
        sigmoid(x) -> T: Inexact, Inexact::sigmoid(x);
        lt(x, y) -> bool: Ordered, x < y;
        le(x, y) -> bool: Ordered, x <= y;
        gt(x, y) -> bool: Ordered, x > y;
        ge(x, y) -> bool: Ordered, x >= y;
        maximum(x, y) -> T: Ordered, x.maximum(y);
        minimum(x, y) -> T: Ordered, x.minimum(y);
        relu(x) -> T: Ordered, x.maximum(T::default());
        clamp(x, low, high) -> T: Ordered, x.maximum(low).minimum(high);
        bitwise_not(x) -> T: Bits, Bits::not(x);
    }

    /// Returns `x` if `condition` is true, otherwise `y`.
    #[inline(always)]
    pub(crate) fn select<T: Element>(condition: bool, x: T, y: T) -> T {
        if condition { x } else { y }
    }
}
