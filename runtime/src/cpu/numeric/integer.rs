//! Arithmetic of integers. It wraps, like PyTorch's.

use super::{Bits, Number, Ordered, Signed};

macro_rules! integer {
    ($($t:ty: $abs:expr;)*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn truth(self) -> bool {
                self != 0
            }
        }

        impl Signed for $t {
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn abs(self) -> Self {
                let abs: fn(Self) -> Self = $abs;
                abs(self)
            }
            /// Computes a power by squaring. For a negative exponent the result is truncated to an
            /// integer: 1 and -1 have integer inverses, any other base gives 0.
            #[inline(always)]
            fn pow(self, exponent: Self) -> Self {
                #[allow(unused_comparisons, reason = "u8 has no negative exponents")]
                if exponent < 0 {
                    let minus_one = (0 as $t).wrapping_sub(1);
                    return match self {
                        1 => 1,
                        _ if self == minus_one => if exponent & 1 == 0 { 1 } else { self },
                        _ => 0,
                    };
                }
                let (mut power, mut base, mut left): (Self, Self, Self) = (1, self, exponent);
                while left > 0 {
                    if left & 1 == 1 {
                        power = power.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    left >>= 1;
                }
                power
            }
        }

        impl Ordered for $t {
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                self.max(other)
            }
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                self.min(other)
            }
        }

        impl Bits for $t {
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
        }
    )*};
}

integer! {
    u8: |x| x;
    i8: |x| x.wrapping_abs();
    i16: |x| x.wrapping_abs();
    i32: |x| x.wrapping_abs();
    i64: |x| x.wrapping_abs();
}
