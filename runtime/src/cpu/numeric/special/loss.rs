//! The terms of losses, for a prediction and its target.

use super::Real;

/// Functions of real floats as predictions.
pub(crate) trait Loss: Real {
    /// Returns half the square over `beta` up to a distance of `beta`, and the distance minus
    /// `beta` / 2 beyond.
    fn smooth_error(self, target: Self, beta: Self) -> Self;
    /// Returns half the square up to a distance of `delta`, and a line of slope `delta` beyond.
    fn huber_error(self, target: Self, delta: Self) -> Self;
    /// Returns the cross entropy of a probability, with logarithms clamped at -100.
    fn binary_entropy(self, target: Self) -> Self;
    /// Returns the cross entropy of a logit; the term of the positive class is multiplied by `weight`.
    fn logit_entropy(self, target: Self, weight: Self) -> Self;
    /// Computes `target` (ln `target` - x); zero if `target` is zero.
    fn divergence(self, target: Self) -> Self;
    /// Computes ln(1 + exp(-x `target`)).
    fn soft_margin(self, target: Self) -> Self;
    /// Returns Stirling's approximation of ln x!; zero for x up to 1.
    fn stirling(self) -> Self;
}

/// Computes ln(1 + exp(x)).
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
                // Both terms may be out of range even if their difference is not.
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
