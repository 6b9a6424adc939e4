//! Real floats.

use super::vector::Vector;
use super::{Inexact, Number, Ordered, Signed};

macro_rules! float {
    ($($t:ty),*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn truth(self) -> bool {
                self != 0.0
            }
        }

        impl Signed for $t {
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn neg(self) -> Self {
                -self
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline(always)]
            fn pow(self, exponent: Self) -> Self {
                self.powf(exponent)
            }
        }

        impl Inexact for $t {
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn exp(self) -> Self {
                Vector::exp(self)
            }
            #[inline(always)]
            fn log(self) -> Self {
                Vector::log(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$t>::sqrt(self)
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                Vector::tanh(self)
            }
            // exp(-|x|) does not overflow, and small results are as exact as it is.
            #[inline(always)]
            fn sigmoid(self) -> Self {
                let e = Vector::exp(-<$t>::abs(self));
                let top = if self < 0.0 { e } else { 1.0 };
                top / (1.0 + e)
            }
        }

        impl Ordered for $t {
            // Two selects, which vectorise; `self + other` would turn a NaN's sign, and `f32::max`
            // drops NaN.
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                let greater = if self < other { other } else { self };
                if other.is_nan() { other } else { greater }
            }
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                let smaller = if self > other { other } else { self };
                if other.is_nan() { other } else { smaller }
            }
        }
    )*};
}

float!(f32, f64);
