//! Activation functions with parameters.

use super::{Analytic, Real, activation};

/// Functions of real floats with parameters, in addition to [`Real`].
pub(crate) trait Shrink: Real {
    /// Computes `alpha` (exp(x / `alpha`) - 1) for negative numbers; others are unchanged.
    fn celu(self, alpha: Self) -> Self;
    /// Moves the number towards zero by `lambd`, but not beyond zero.
    fn softshrink(self, lambd: Self) -> Self;
    /// Returns zero if the magnitude is at most `lambd`, otherwise the number.
    fn hardshrink(self, lambd: Self) -> Self;
    /// Computes x - tanh(x).
    fn tanhshrink(self) -> Self;
    /// Returns zero if `draw`, a random number between 0 and 1, is below `p`; otherwise the number,
    /// scaled to preserve the mean.
    fn dropped(self, draw: Self, p: Self) -> Self;
    /// Like [`Real::logit`], but clamps the argument to between `eps` and 1 - `eps`.
    fn logit_eps(self, eps: Self) -> Self;
}

macro_rules! shrink {
    ($($t:ty),*) => {$(
        impl Shrink for $t {
            #[inline(always)]
            fn celu(self, alpha: Self) -> Self {
                if self <= 0.0 { alpha * Analytic::expm1(self / alpha) } else { self }
            }
            #[inline(always)]
            fn softshrink(self, lambd: Self) -> Self {
                // NaN times zero is NaN.
                let small = self * 0.0;
                let small = if self > lambd { self - lambd } else { small };
                if self < -lambd { self + lambd } else { small }
            }
            #[inline(always)]
            fn hardshrink(self, lambd: Self) -> Self {
                if (self >= -lambd) & (self <= lambd) { 0.0 } else { self }
            }
            #[inline(always)]
            fn tanhshrink(self) -> Self {
                activation::tanhshrink(self.into()) as Self
            }
            #[inline(always)]
            fn dropped(self, draw: Self, p: Self) -> Self {
                if draw < p { 0.0 } else { self / (1.0 - p) }
            }
            #[inline(always)]
            fn logit_eps(self, eps: Self) -> Self {
                let high = 1.0 - eps;
                let x = if self < eps { eps } else { self };
                Real::logit(if x > high { high } else { x })
            }
        }
    )*};
}

shrink!(f32, f64);
