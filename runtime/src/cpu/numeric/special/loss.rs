//! The terms of losses: of a prediction and what it should have been.

use super::Real;

/// What real floats have as predictions.
pub(crate) trait Loss: Real {
    /// Half the square over `beta` up to a distance of `beta`, then the distance less half of it.
    fn smooth_error(self, target: Self, beta: Self) -> Self;
    /// Half the square up to a distance of `delta`, then a line of that slope.
    fn huber_error(self, target: Self, delta: Self) -> Self;
    /// The cross entropy of a probability, whose logarithms end at -100.
    fn binary_entropy(self, target: Self) -> Self;
    /// The same of a logit, with `weight` on what is positive.
    fn logit_entropy(self, target: Self, weight: Self) -> Self;
    /// `target` (ln `target` - x); zero where it is.
    fn divergence(self, target: Self) -> Self;
    /// ln(1 + exp(-x `target`))
    fn soft_margin(self, target: Self) -> Self;
    /// Stirling's approximation of ln x!, zero up to 1.
    fn stirling(self) -> Self;
}

/// ln(1 + exp(x))
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

macro_rules! loss {
    ($($t:ty),*) => {$(
        impl Loss for $t {
            #[inline(always)]
            fn smooth_error(self, target: Self, beta: Self) -> Self {
                let z = (self - target).abs();
                if z < beta { 0.5 * z * z / beta } else { z - 0.5 * beta }
            }
            #[inline(always)]
            fn huber_error(self, target: Self, delta: Self) -> Self {
                let z = (self - target).abs();
                if z <= delta { 0.5 * z * z } else { delta * (z - 0.5 * delta) }
            }
            #[inline(always)]
            fn binary_entropy(self, target: Self) -> Self {
                let (x, y) = (f64::from(self), f64::from(target));
                // `max` would drop NaN.
                let end = |log: f64| if log < -100.0 { -100.0 } else { log };
                ((y - 1.0) * end((-x).ln_1p()) - y * end(x.ln())) as Self
            }
            #[inline(always)]
            fn logit_entropy(self, target: Self, weight: Self) -> Self {
                let (x, y, weight) = (f64::from(self), f64::from(target), f64::from(weight));
                let weight = (weight - 1.0) * y + 1.0;
                ((1.0 - y) * x + weight * softplus(-x)) as Self
            }
            #[inline(always)]
            fn divergence(self, target: Self) -> Self {
                let value = Real::xlogy(target, target) - target * self;
                // Both terms may be beyond the range of their difference.
                if value.is_finite() || target == 0.0 {
                    value
                } else {
                    target * (target.ln() - self)
                }
            }
            #[inline(always)]
            fn soft_margin(self, target: Self) -> Self {
                softplus(-f64::from(self) * f64::from(target)) as Self
            }
            #[inline(always)]
            fn stirling(self) -> Self {
                let x = f64::from(self);
                if x <= 1.0 {
                    return 0.0;
                }
                (x * x.ln() - x + 0.5 * (std::f64::consts::TAU * x).ln()) as Self
            }
        }
    )*};
}

loss!(f32, f64);
