//! [`Classify`]: signs, infinities, NaN.

use num_complex::Complex;

use super::{Angle, Classify};
use crate::cpu::numeric::{double, single};
use crate::cpu::simd::FMA;

macro_rules! whole {
    ($($t:ty: |$x:ident| $sgn:expr;)*) => {$(
        impl Classify for $t {
            #[inline(always)]
            fn sgn(self) -> Self {
                let $x = self;
                $sgn
            }
            #[inline(always)]
            fn is_inf(self) -> bool {
                false
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
            #[inline(always)]
            fn nan_to_num(self, _: Self, _: Self, _: Self) -> Self {
                self
            }
            #[inline(always)]
            fn is_real(self) -> bool {
                true
            }
        }
    )*};
}

whole! {
    bool: |x| x;
    u8: |x| x.min(1);
    i8: |x| x.signum();
    i16: |x| x.signum();
    i32: |x| x.signum();
    i64: |x| x.signum();
}

macro_rules! floats {
    ($($t:ty: $module:ident),*) => {$(
        impl Classify for $t {
            // Zero for NaN, like in PyTorch.
            #[inline(always)]
            fn sgn(self) -> Self {
                <$t>::from(i8::from(self > 0.0) - i8::from(self < 0.0))
            }
            #[inline(always)]
            fn is_inf(self) -> bool {
                self.is_infinite()
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            #[inline(always)]
            fn nan_to_num(self, nan: Self, posinf: Self, neginf: Self) -> Self {
                let x = if self.is_nan() { nan } else { self };
                let x = if self == <$t>::INFINITY { posinf } else { x };
                if self == <$t>::NEG_INFINITY { neginf } else { x }
            }
            #[inline(always)]
            fn is_real(self) -> bool {
                true
            }
        }

        impl Angle for $t {
            #[inline(always)]
            fn angle(self) -> Self {
                const PI: $t = std::f64::consts::PI as $t;
                if self.is_nan() {
                    return self;
                }
                if self < 0.0 { PI } else { 0.0 }
            }
        }

        impl Angle for Complex<$t> {
            #[inline(always)]
            fn angle(self) -> $t {
                $module::atan2::<FMA>(self.im, self.re)
            }
        }

        impl Classify for Complex<$t> {
            #[inline(always)]
            fn sgn(self) -> Self {
                let magnitude = self.re.hypot(self.im);
                if magnitude == 0.0 {
                    return Self::default();
                }
                if magnitude.is_infinite() && self.is_inf() {
                    return Self::new(<$t>::NAN, <$t>::NAN);
                }
                Self::new(self.re / magnitude, self.im / magnitude)
            }
            #[inline(always)]
            fn is_inf(self) -> bool {
                self.re.is_infinite() | self.im.is_infinite()
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.re.is_nan() | self.im.is_nan()
            }
            #[inline(always)]
            fn nan_to_num(self, nan: Self, posinf: Self, neginf: Self) -> Self {
                let part = |x| Classify::nan_to_num(x, nan.re, posinf.re, neginf.re);
                Self::new(part(self.re), part(self.im))
            }
            #[inline(always)]
            fn is_real(self) -> bool {
                self.im == 0.0
            }
        }
    )*};
}

floats!(f32: single, f64: double);
