//! The logarithm of a sum of exponentials, and the two numbers that softmax needs.

use std::marker::PhantomData;

use num_complex::Complex;

use super::accumulator::{Accumulator, RowTile};
use super::fold::{Cols, Max, RowFold, fold};
use super::real::BlockFloat;
use super::reducer::COLS;
use super::simd::{Kernel, dispatch};
use super::whole::{Group, LANES};
use crate::cpu::numeric::double;
use crate::cpu::reduce::fold::Fold;
use crate::cpu::simd::FMA;

/// The maximum so far, and the sum of exponentials of the differences from it. If the maximum is infinite or NaN, the
/// differences are from zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpSum {
    pub max: f64,
    pub sum: f64,
}

/// Returns the origin of the differences.
#[inline]
pub(crate) fn origin(max: f64) -> f64 {
    if max.is_finite() { max } else { 0.0 }
}

impl ExpSum {
    pub(crate) const EMPTY: Self = Self {
        max: f64::NEG_INFINITY,
        sum: 0.0,
    };

    /// Raises the maximum to `max` if that is greater, and returns the new origin.
    #[inline]
    fn raise(&mut self, max: f64) -> f64 {
        let old = origin(self.max);
        if max > self.max || max.is_nan() {
            self.max = max;
        }
        let new = origin(self.max);
        if self.sum != 0.0 && new != old {
            self.sum *= (old - new).exp();
        }
        new
    }

    fn merge(&mut self, other: &Self) {
        let new = self.raise(other.max);
        if other.sum != 0.0 {
            let old = origin(other.max);
            self.sum += if new == old {
                other.sum
            } else {
                other.sum * (old - new).exp()
            };
        }
    }

    /// Returns the logarithm of the sum of exponentials.
    #[inline(always)]
    pub(crate) fn value(&self) -> f64 {
        // If the maximum is infinite or NaN, the sum is meaningless.
        if self.max.is_finite() {
            self.max + double::log::<FMA>(self.sum)
        } else {
            self.max
        }
    }
}

/// The reduction of real numbers.
pub(crate) struct LogSumExp<T>(pub PhantomData<T>);

/// Element types that have a maximum.
pub(crate) trait MaxFloat: BlockFloat {
    /// The fold that computes the maximum.
    type MaxFold: Fold<X = Self, T = Self>;
}

impl MaxFloat for f32 {
    type MaxFold = Max<f32>;
}

impl MaxFloat for f64 {
    type MaxFold = Max<f64>;
}

/// A kernel that computes the sum of `exp(x - origin)` over a row. Separate from the kernel that finds the origin,
/// because both together need too many registers.
pub(crate) struct ExpRow<'a, T> {
    pub(crate) xs: &'a [T],
    pub(crate) origin: T,
}

impl<T: BlockFloat> Kernel for ExpRow<'_, T> {
    type Out = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        const LANES: usize = 16;
        let mut lanes = [T::ZERO; LANES];
        let (chunks, rest) = self.xs.as_chunks::<LANES>();
        for chunk in chunks {
            for i in 0..LANES {
                lanes[i] += (chunk[i] - self.origin).exp_nonpositive();
            }
        }
        for (lane, &x) in lanes.iter_mut().zip(rest) {
            *lane += (x - self.origin).exp_nonpositive();
        }
        lanes.iter().map(|lane| lane.wide()).sum()
    }
}

/// A kernel that adds `exp(x - origin)` over the columns of a tile.
struct ExpColumns<'a, T> {
    sums: &'a mut [T],
    origins: &'a [T],
    tile: RowTile<'a, T>,
}

impl<T: BlockFloat> Kernel for ExpColumns<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for r in 0..self.tile.rows() {
            let sums = self.sums.iter_mut().zip(self.origins);
            for ((sum, &origin), &x) in sums.zip(self.tile.row(r)) {
                *sum += (x - origin).exp_nonpositive();
            }
        }
    }
}

impl<T: MaxFloat> Accumulator for LogSumExp<T> {
    type X = T;
    type State = ExpSum;
    type Out = T;

    fn empty(&self) -> ExpSum {
        ExpSum::EMPTY
    }

    #[inline(always)]
    fn add(&self, state: &mut ExpSum, x: T) {
        let origin = state.raise(x.wide());
        state.sum += (x.wide() - origin).exp();
    }

    fn merge(&self, state: &mut ExpSum, other: &ExpSum) {
        state.merge(other);
    }

    #[inline(always)]
    fn finish(&self, state: &ExpSum, _: f64) -> T {
        T::from_f64(state.value())
    }

    #[inline(always)]
    fn row(&self, state: &mut ExpSum, xs: &[T]) {
        let max = dispatch(RowFold::<T::MaxFold>(xs, PhantomData));
        let origin = T::from_f64(state.raise(max.wide()));
        state.sum += dispatch(ExpRow { xs, origin });
    }

    #[inline(always)]
    fn columns(&self, states: &mut [ExpSum], tile: RowTile<'_, T>) {
        let n = states.len();
        let mut tops = [T::NEG_INFINITY; COLS];
        let out = &mut tops[..n];
        dispatch(Cols::<T::MaxFold> { out, tile });
        for (state, top) in states.iter_mut().zip(&mut tops) {
            *top = T::from_f64(state.raise(top.wide()));
        }
        let mut sums = [T::ZERO; COLS];
        let (sums, origins) = (&mut sums[..n], &tops[..n]);
        dispatch(ExpColumns {
            sums: &mut *sums,
            origins,
            tile,
        });
        for (state, sum) in states.iter_mut().zip(sums) {
            state.sum += sum.wide();
        }
    }

    #[inline(always)]
    fn whole(&self, group: Group<'_, T>, _: f64) -> [T; LANES] {
        let tops = fold::<T::MaxFold>(group);
        let origins = tops.map(|top| T::from_f64(origin(top.wide())));
        let mut sums = [T::ZERO; LANES];
        for xs in group.rows() {
            for i in 0..LANES {
                sums[i] += (xs[i] - origins[i]).exp_nonpositive();
            }
        }
        let mut results = [T::ZERO; LANES];
        for i in 0..LANES {
            let (max, sum) = (tops[i].wide(), sums[i].wide());
            results[i] = T::from_f64(ExpSum { max, sum }.value());
        }
        results
    }
}

/// The reduction of complex numbers; differences are from the greatest real part.
pub(crate) struct ComplexLogSumExp;

/// Like [`ExpSum`].
#[derive(Clone, Copy)]
pub(crate) struct ComplexState {
    max: f64,
    sum: Complex<f64>,
}

impl ComplexState {
    fn raise(&mut self, max: f64) -> f64 {
        let old = origin(self.max);
        if max > self.max || max.is_nan() {
            self.max = max;
        }
        let new = origin(self.max);
        if new != old && self.sum != Complex::ZERO {
            self.sum *= (old - new).exp();
        }
        new
    }
}

impl Accumulator for ComplexLogSumExp {
    type X = Complex<f64>;
    type State = ComplexState;
    type Out = Complex<f64>;

    fn empty(&self) -> ComplexState {
        ComplexState {
            max: f64::NEG_INFINITY,
            sum: Complex::ZERO,
        }
    }

    fn add(&self, state: &mut ComplexState, x: Complex<f64>) {
        let origin = state.raise(x.re);
        state.sum += (x - origin).exp();
    }

    fn merge(&self, state: &mut ComplexState, other: &ComplexState) {
        let new = state.raise(other.max);
        if other.sum != Complex::ZERO {
            state.sum += other.sum * (origin(other.max) - new).exp();
        }
    }

    fn finish(&self, state: &ComplexState, _: f64) -> Complex<f64> {
        state.sum.ln() + origin(state.max)
    }
}
