//! Steps of optimizers.

use std::ops::{Add, Div, Mul, Sub};

/// A parameter, its gradient, and the `K` tensors of its state, each with `count` adjacent elements of one dtype; and
/// the formula of the step.
pub(crate) struct StepJob<F, const K: usize> {
    pub count: usize,
    pub param: *mut u8,
    pub grad: *const u8,
    pub state: [*mut u8; K],
    pub by: F,
}

/// The number type of a formula: an element, or a step of a program for all elements.
pub(crate) trait StepNumber:
    Clone + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn times(self, factor: f64) -> Self;
    fn plus(self, number: f64) -> Self;
    fn sqrt(self) -> Self;
}

/// An optimizer's update of a parameter and its state.
pub(crate) trait Formula<const K: usize>: Copy + Send + Sync {
    fn step<V: StepNumber>(self, param: V, grad: V, state: [V; K]) -> (V, [V; K]);
}

/// Preprocessing of the gradient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GradFactors {
    /// The gradient's factor.
    pub scale: f64,
    /// The factor of the parameter, which is added to the gradient.
    pub l2: f64,
}

impl GradFactors {
    #[inline(always)]
    fn apply<V: StepNumber>(self, param: &V, grad: V) -> V {
        let grad = if self.scale == 1.0 {
            grad
        } else {
            grad.times(self.scale)
        };
        // For 0 nothing is added, even if the parameter is infinite.
        if self.l2 == 0.0 {
            return grad;
        }
        grad + param.clone().times(self.l2)
    }
}

/// Adam and AdamW. The state is the running means of the gradient and of its square.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adam {
    pub grad: GradFactors,
    /// The factor of the parameter, before the update is subtracted.
    pub decay: f64,
    pub keep_mean: f64,
    pub keep_square: f64,
    /// The factor of the mean in the update.
    pub rate: f64,
    /// The factor of the root of the mean square, before `eps` is added.
    pub root: f64,
    pub eps: f64,
}

impl Formula<2> for Adam {
    #[inline(always)]
    fn step<V: StepNumber>(self, param: V, grad: V, [mean, square]: [V; 2]) -> (V, [V; 2]) {
        let grad = self.grad.apply(&param, grad);
        let mean = mean.times(self.keep_mean) + grad.clone().times(1.0 - self.keep_mean);
        let squared = grad.clone() * grad;
        let square = square.times(self.keep_square) + squared.times(1.0 - self.keep_square);
        let root = square.clone().sqrt().times(self.root).plus(self.eps);
        let taken = mean.clone().times(self.rate) / root;
        (param.times(self.decay) - taken, [mean, square])
    }
}

/// Gradient descent without momentum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descent {
    pub grad: GradFactors,
    pub rate: f64,
}

impl Formula<0> for Descent {
    #[inline(always)]
    fn step<V: StepNumber>(self, param: V, grad: V, []: [V; 0]) -> (V, [V; 0]) {
        let grad = self.grad.apply(&param, grad);
        (param - grad.times(self.rate), [])
    }
}

/// Gradient descent with momentum. The state is the running sum of gradients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Momentum {
    pub descent: Descent,
    /// The factor of the sum, before the gradient is added.
    pub keep: f64,
    /// The factor of the gradient that is added.
    pub take: f64,
    pub nesterov: bool,
}

impl Formula<1> for Momentum {
    #[inline(always)]
    fn step<V: StepNumber>(self, param: V, grad: V, [sum]: [V; 1]) -> (V, [V; 1]) {
        let grad = self.descent.grad.apply(&param, grad);
        let sum = sum.times(self.keep) + grad.clone().times(self.take);
        let way = if self.nesterov {
            grad + sum.clone().times(self.keep)
        } else {
            sum.clone()
        };
        (param - way.times(self.descent.rate), [sum])
    }
}
