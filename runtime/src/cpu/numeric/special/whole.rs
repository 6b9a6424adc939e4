//! [`Whole`]: rounding, and division with a remainder.

use super::Whole;

macro_rules! floats {
    ($($t:ty),*) => {$(
        impl Whole for $t {
            #[inline(always)]
            fn ceil(self) -> Self {
                self.ceil()
            }
            #[inline(always)]
            fn floor(self) -> Self {
                self.floor()
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                self.trunc()
            }
            #[inline(always)]
            fn round(self) -> Self {
                self.round_ties_even()
            }
            // Python's algorithm: the dividend minus the remainder, divided, which is an integer up
            // to rounding.
            #[inline(always)]
            fn floor_divide(self, other: Self) -> Self {
                if other == 0.0 {
                    return self / other;
                }
                let rest = self % other;
                let mut quotient = (self - rest) / other;
                if rest != 0.0 && (other < 0.0) != (rest < 0.0) {
                    quotient -= 1.0;
                }
                if quotient == 0.0 {
                    return (0.0 as $t).copysign(self / other);
                }
                let whole = quotient.floor();
                if quotient - whole > 0.5 { whole + 1.0 } else { whole }
            }
            #[inline(always)]
            fn trunc_divide(self, other: Self) -> Self {
                (self / other).trunc()
            }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                let rest = self % other;
                if rest != 0.0 && (other < 0.0) != (rest < 0.0) { rest + other } else { rest }
            }
            #[inline(always)]
            fn fmod(self, other: Self) -> Self {
                self % other
            }
            #[inline(always)]
            fn relu6(self) -> Self {
                crate::cpu::numeric::by_name::clamp(self, 0.0, 6.0)
            }
            #[inline(always)]
            fn is_negative(self) -> bool {
                self.is_sign_negative()
            }
        }
    )*};
}

floats!(f32, f64);

macro_rules! integers {
    ($($t:ty),*) => {$(
        #[allow(unused_comparisons, reason = "u8 has no negative numbers")]
        impl Whole for $t {
            #[inline(always)]
            fn ceil(self) -> Self {
                self
            }
            #[inline(always)]
            fn floor(self) -> Self {
                self
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                self
            }
            #[inline(always)]
            fn round(self) -> Self {
                self
            }
            // Zero divisors are rejected before a kernel runs; here they only must not panic.
            #[inline(always)]
            fn floor_divide(self, other: Self) -> Self {
                if other == 0 {
                    return 0;
                }
                let quotient = self.wrapping_div(other);
                let rest = self.wrapping_rem(other);
                if rest != 0 && (rest < 0) != (other < 0) { quotient - 1 } else { quotient }
            }
            #[inline(always)]
            fn trunc_divide(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                let rest = Whole::fmod(self, other);
                if rest != 0 && (rest < 0) != (other < 0) { rest + other } else { rest }
            }
            #[inline(always)]
            fn fmod(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }
            #[inline(always)]
            fn relu6(self) -> Self {
                self.clamp(0, 6)
            }
            #[inline(always)]
            fn is_negative(self) -> bool {
                self < 0
            }
        }
    )*};
}

integers!(u8, i8, i16, i32, i64);
