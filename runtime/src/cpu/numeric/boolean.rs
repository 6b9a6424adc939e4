//! Arithmetic of booleans.

use super::{Bits, Number, Ordered};

impl Number for bool {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn truth(self) -> bool {
        self
    }
}

impl Ordered for bool {
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        self & other
    }
}

impl Bits for bool {
    #[inline(always)]
    fn not(self) -> Self {
        !self
    }
}
