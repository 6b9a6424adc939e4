//! Arithmetic of real floats.

use super::{Inexact, Number, Ordered, Signed, double, single};
use crate::cpu::simd::FMA;

macro_rules! float {
    ($($t:ty, $module:ident;)*) => {$(
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
                $module::pow::<FMA>(self, exponent)
            }
        }

        impl Inexact for $t {
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $module::exp::<FMA>(self)
            }
            #[inline(always)]
            fn log(self) -> Self {
                $module::log::<FMA>(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$t>::sqrt(self)
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                $module::tanh::<FMA>(self)
            }
            #[inline(always)]
            fn sigmoid(self) -> Self {
                $module::sigmoid::<FMA>(self)
            }
        }

        impl Ordered for $t {
            // Two selects, which vectorise; `self + other` would change the sign of a NaN, and
            // `f32::max` drops NaN.
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

float! {
    f32, single;
    f64, double;
}
