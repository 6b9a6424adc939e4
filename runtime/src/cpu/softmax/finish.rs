//! Functions that compute the results of a line from its elements and statistics.

use crate::cpu::numeric::double;
use crate::cpu::reduce::logsumexp::{ExpSum, MaxFloat};
use crate::cpu::simd::FMA;

/// The function of an element and two numbers of its line.
pub(super) trait Finish: Sync {
    /// Returns the two numbers from the statistics of the line.
    fn numbers(state: &ExpSum) -> [f64; 2];
    /// Returns the element of the result.
    fn finish<T: MaxFloat>(x: T, numbers: [T; 2]) -> T;
    /// Returns the value that is kept of an element until the sum is known: the element, or its
    /// exponential.
    fn keep<T: MaxFloat>(x: T, power: T) -> T;
    /// Returns the element of the result from the kept value.
    fn last<T: MaxFloat>(kept: T, numbers: [T; 2]) -> T;
}

/// The function `exp(x - max) / sum`.
pub(super) struct Softmax;

impl Finish for Softmax {
    #[inline(always)]
    fn numbers(state: &ExpSum) -> [f64; 2] {
        // If the maximum is infinite or NaN, the result is NaN.
        [
            state.max,
            if state.max.is_finite() {
                1.0 / state.sum
            } else {
                f64::NAN
            },
        ]
    }
    #[inline(always)]
    fn finish<T: MaxFloat>(x: T, [max, factor]: [T; 2]) -> T {
        (x - max).exp_nonpositive() * factor
    }
    #[inline(always)]
    fn keep<T: MaxFloat>(_: T, power: T) -> T {
        power
    }
    #[inline(always)]
    fn last<T: MaxFloat>(kept: T, [_, factor]: [T; 2]) -> T {
        kept * factor
    }
}

/// The function `x - max - ln(sum)`.
pub(super) struct LogSoftmax;

impl Finish for LogSoftmax {
    #[inline(always)]
    fn numbers(state: &ExpSum) -> [f64; 2] {
        [
            state.max,
            if state.max.is_finite() {
                double::log::<FMA>(state.sum)
            } else {
                f64::NAN
            },
        ]
    }
    #[inline(always)]
    fn finish<T: MaxFloat>(x: T, [max, log]: [T; 2]) -> T {
        (x - max) - log
    }
    #[inline(always)]
    fn keep<T: MaxFloat>(x: T, _: T) -> T {
        x
    }
    #[inline(always)]
    fn last<T: MaxFloat>(kept: T, numbers: [T; 2]) -> T {
        Self::finish(kept, numbers)
    }
}
