//! Bits of integers and bool; divisors and multiples.

use super::{Bitwise, Integer};

macro_rules! bitwise {
    ($($t:ty),*) => {$(
        impl Bitwise for $t {
            #[inline(always)]
            fn bitwise_and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn bitwise_or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn bitwise_xor(self, other: Self) -> Self {
                self ^ other
            }
        }
    )*};
}

bitwise!(bool, u8, i8, i16, i32, i64);

macro_rules! integer {
    ($($t:ty),*) => {$(
        #[allow(unused_comparisons, reason = "u8 has no negative numbers")]
        impl Integer for $t {
            #[inline(always)]
            fn bitwise_left_shift(self, by: Self) -> Self {
                let fits = 0 <= by && (by as u64) < u64::from(<$t>::BITS);
                if fits { self.wrapping_shl(by as u32) } else { 0 }
            }
            #[inline(always)]
            fn bitwise_right_shift(self, by: Self) -> Self {
                let fits = 0 <= by && (by as u64) < u64::from(<$t>::BITS);
                if fits {
                    self.wrapping_shr(by as u32)
                } else if self < 0 {
                    !0
                } else {
                    0
                }
            }
            // Euclid's algorithm on magnitudes; the gcd of the smallest number wraps and stays
            // negative.
            #[inline]
            fn gcd(self, other: Self) -> Self {
                let (mut a, mut b) = (self.abs_diff(0), other.abs_diff(0));
                while a != 0 {
                    (a, b) = (b % a, a);
                }
                b as Self
            }
            #[inline]
            fn lcm(self, other: Self) -> Self {
                let divisor = Integer::gcd(self, other);
                if divisor == 0 {
                    return 0;
                }
                crate::cpu::numeric::Signed::abs(self.wrapping_div(divisor).wrapping_mul(other))
            }
        }
    )*};
}

integer!(u8, i8, i16, i32, i64);
