//! Activation functions with parameters.

use super::{Analytic, Real, activation};

/// What real floats have beyond [`Real`]: bends at numbers of the caller's.
pub(crate) trait Shrink: Real {
    /// `alpha` (exp(x / `alpha`) - 1) where negative.
    fn celu(self, alpha: Self) -> Self;
    /// Nearer to zero by `lambd`, and zero where that is further than zero.
    fn softshrink(self, lambd: Self) -> Self;
    /// Zero where the magnitude is at most `lambd`.
    fn hardshrink(self, lambd: Self) -> Self;
    /// x - tanh(x)
    fn tanhshrink(self) -> Self;
    /// Zero where a number drawn from 0 to 1 is below `p`, else scaled up to keep the mean.
    fn dropped(self, draw: Self, p: Self) -> Self;
    /// [`Real::logit`] of what lies between `eps` and one less it.
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
                // NaN times zero stays NaN.
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
