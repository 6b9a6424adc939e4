//! The scalar functions that the operator table's expressions call: `add(x, y)`, `exp(x)`.
//!
//! Each is generic over a trait that says which compute dtypes have it. 16-bit floats are not
//! among them: they compute in `f32`. All are inlined into the loops that call them, so that each
//! loop compiles them for its own instruction set.

mod boolean;
mod complex;
mod convert;
pub(crate) mod double;
mod exact;
mod float;
pub(crate) mod half;
mod integer;
mod remainder;
pub(crate) mod single;
pub(crate) mod special;
mod widened;
mod wider;

#[cfg(test)]
mod tests;

use nomina_core::Element;

pub(crate) use convert::Convert;
use exact::exact;

/// What every dtype has.
pub(crate) trait Number: Element {
    /// The sum; of bool, whether either holds.
    fn add(self, other: Self) -> Self;
    /// The product; of bool, whether both hold.
    fn mul(self, other: Self) -> Self;
    /// Whether it differs from zero.
    fn truth(self) -> bool;
}

/// What all dtypes but bool have.
pub(crate) trait Signed: Number {
    /// The difference.
    fn sub(self, other: Self) -> Self;
    /// The number negated; integers wrap.
    fn neg(self) -> Self;
    /// The absolute value, or the magnitude.
    fn abs(self) -> Self::Real;
    /// A power.
    fn pow(self, exponent: Self) -> Self;
}

/// What floats and complex numbers have.
pub(crate) trait Inexact: Signed {
    /// The quotient.
    fn div(self, other: Self) -> Self;
    /// *e* to the power.
    fn exp(self) -> Self;
    /// The natural logarithm.
    fn log(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The logistic function.
    fn sigmoid(self) -> Self;
}

/// What all dtypes but complex ones have.
pub(crate) trait Ordered: Number + PartialOrd {
    /// The greater of two; NaN when either is.
    fn maximum(self, other: Self) -> Self;
    /// The smaller of two; NaN when either is.
    fn minimum(self, other: Self) -> Self;
}

/// What integers and bool have.
pub(crate) trait Bits: Number {
    /// Every bit the other way.
    fn not(self) -> Self;
}

/// The functions by the names that expressions use.
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

    /// `x` where `condition` holds, else `y`.
    #[inline(always)]
    pub(crate) fn select<T: Element>(condition: bool, x: T, y: T) -> T {
        if condition { x } else { y }
    }
}
