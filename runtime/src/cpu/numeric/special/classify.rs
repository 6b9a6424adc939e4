//! [`Classify`]: direction, infinities, NaN.

use num_complex::Complex;

use super::Classify;

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
            fn nan_to_num(self, _: Self) -> Self {
                self
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
    ($($t:ty),*) => {$(
        impl Classify for $t {
            // Zero for NaN, as PyTorch has it.
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
            fn nan_to_num(self, nan: Self) -> Self {
                if self.is_nan() { nan } else { self.max(<$t>::MIN).min(<$t>::MAX) }
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
            fn nan_to_num(self, nan: Self) -> Self {
                Self::new(
                    Classify::nan_to_num(self.re, nan.re),
                    Classify::nan_to_num(self.im, nan.re),
                )
            }
        }
    )*};
}

floats!(f32, f64);
