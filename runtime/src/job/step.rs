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
    /// Returns -1, 0 or 1; NaN stays NaN.
    fn sign(self) -> Self;
    /// Returns the larger one of the number and 0; NaN stays NaN.
    fn relu(self) -> Self;
}

/// An optimizer's update of a parameter and its state.
pub(crate) trait Formula<const K: usize>: Copy + Send + Sync {
    fn step<V: StepNumber>(self, param: V, grad: V, state: [V; K]) -> (V, [V; K]);
}
