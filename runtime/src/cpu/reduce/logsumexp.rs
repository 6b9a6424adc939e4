//! The logarithm of a sum of exponentials, and the two numbers that softmax needs.

use std::marker::PhantomData;

use nomina_core::DType;
use num_complex::Complex;

use super::fold::{Cols, Max, Row};
use super::real::Real;
use super::reducer::{COLS, Reducer, many, many_mut};
use super::simd::{Kernel, dispatch};
use super::whole::{LANES, Lanes, fold};
use crate::cpu::numeric::double;
use crate::cpu::reduce::fold::Fold;
use crate::cpu::simd::FMA;

/// The greatest number so far, and the sum of exponentials of the distances from it. From an
/// infinite or missing number there is no distance; then it is from zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    pub max: f64,
    pub sum: f64,
}

/// What distances are taken from.
#[inline]
pub(crate) fn origin(max: f64) -> f64 {
    if max.is_finite() { max } else { 0.0 }
}

impl State {
    pub(crate) const EMPTY: Self = Self {
        max: f64::NEG_INFINITY,
        sum: 0.0,
    };

    /// DataDependent the origin up to a greater number, if `max` is one. Gives the origin.
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

    /// The logarithm of the sum of exponentials.
    #[inline(always)]
    pub(crate) fn value(&self) -> f64 {
        origin(self.max) + double::log::<FMA>(self.sum)
    }
}

/// The sum of `exp(x - origin)` over a row.
struct ExpSum<'a, T> {
    xs: &'a [T],
    origin: T,
}

impl<T: Real> Kernel for ExpSum<'_, T> {
    type Out = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        const LANES: usize = 16;
        let mut lanes = [T::ZERO; LANES];
        let mut chunks = self.xs.chunks_exact(LANES);
        for chunk in &mut chunks {
            for i in 0..LANES {
                lanes[i] += (chunk[i] - self.origin).exp();
            }
        }
        for (i, &x) in chunks.remainder().iter().enumerate() {
            lanes[i] += (x - self.origin).exp();
        }
        lanes.iter().map(|lane| lane.wide()).sum()
    }
}

/// The sums of `exp(x - origin)` over the columns of a tile.
struct ExpCols<'a, T> {
    sums: &'a mut [T],
    origins: &'a [T],
    xs: *const T,
    stride: isize,
    rows: usize,
}

impl<T: Real> Kernel for ExpCols<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let n = self.sums.len();
        for r in 0..self.rows {
            let row = self.xs.wrapping_offset(r as isize * self.stride);
            // SAFETY: whoever made the tile says that every row has `n` elements.
            let row = unsafe { many::<T>(row.cast(), n) };
            for ((sum, &origin), &x) in self.sums.iter_mut().zip(self.origins).zip(row) {
                *sum += (x - origin).exp();
            }
        }
    }
}

/// The reduction.
pub(crate) struct LogSumExp<T>(pub PhantomData<T>);

/// Element types that have a maximum.
pub(crate) trait Ordered: Real {
    /// The fold that finds it.
    type Max: Fold<X = Self, T = Self>;
}

impl Ordered for f32 {
    type Max = Max<f32>;
}

impl Ordered for f64 {
    type Max = Max<f64>;
}

/// Outputs whose elements are all there.
struct Whole<'a, T> {
    lanes: &'a Lanes<'a>,
    values: *mut T,
}

impl<T: Ordered> Kernel for Whole<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for group in 0..self.lanes.groups {
            // SAFETY: whoever made this says that the lanes are there.
            let tops = unsafe { fold::<T::Max>(self.lanes, group) };
            let origins = tops.map(|top| T::of(origin(top.wide())));
            let mut sums = [T::ZERO; LANES];
            for &row in self.lanes.rows {
                // SAFETY: as above.
                let xs = unsafe { self.lanes.row::<T>(group, row) };
                for i in 0..LANES {
                    sums[i] += (xs[i] - origins[i]).exp();
                }
            }
            // SAFETY: whoever made this says that there is room.
            let values = unsafe { self.lanes.results(self.values, group) };
            for i in 0..LANES {
                let (max, sum) = (tops[i].wide(), sums[i].wide());
                values[i].write(T::of(State { max, sum }.value()));
            }
        }
    }
}

impl<T: Ordered> Reducer for LogSumExp<T> {
    fn load(&self) -> DType {
        T::DTYPE
    }

    fn out(&self) -> DType {
        T::DTYPE
    }

    fn state_size(&self) -> usize {
        size_of::<State>()
    }

    unsafe fn init(&self, states: *mut u8, n: usize) {
        for i in 0..n {
            // SAFETY: there is room for `n` states.
            unsafe { states.cast::<State>().add(i).write(State::EMPTY) };
        }
    }

    unsafe fn row(&self, state: *mut u8, xs: *const u8, n: usize, _: usize) {
        // SAFETY: one state and `n` elements, by the contract.
        let (state, xs) = unsafe { (&mut *state.cast::<State>(), many::<T>(xs, n)) };
        let max = dispatch(Row::<T::Max>(xs, PhantomData));
        let origin = T::of(state.raise(max.wide()));
        state.sum += dispatch(ExpSum { xs, origin });
    }

    unsafe fn cols(
        &self,
        states: *mut u8,
        xs: *const u8,
        stride: isize,
        rows: usize,
        cols: usize,
        _: usize,
    ) {
        // SAFETY: `cols` states, by the contract.
        let states = unsafe { many_mut::<State>(states, cols) };
        let mut tops = [T::NEG_INFINITY; COLS];
        let tops = &mut tops[..cols];
        dispatch(Cols::<T::Max> {
            out: tops,
            xs: xs.cast(),
            stride,
            rows,
        });
        for (state, top) in states.iter_mut().zip(&mut *tops) {
            *top = T::of(state.raise(top.wide()));
        }
        let mut sums = [T::ZERO; COLS];
        let sums = &mut sums[..cols];
        dispatch(ExpCols {
            sums,
            origins: tops,
            xs: xs.cast::<T>(),
            stride,
            rows,
        });
        for (state, sum) in states.iter_mut().zip(&*sums) {
            state.sum += sum.wide();
        }
    }

    unsafe fn merge(&self, into: *mut u8, from: *const u8, n: usize) {
        // SAFETY: `n` states each, by the contract.
        let (into, from) = unsafe { (many_mut::<State>(into, n), many::<State>(from, n)) };
        for (into, from) in into.iter_mut().zip(from) {
            into.merge(from);
        }
    }

    unsafe fn finish(&self, states: *const u8, n: usize, _: f64, values: *mut u8, _: *mut i64) {
        for i in 0..n {
            // SAFETY: `n` states and room for `n` values, by the contract.
            unsafe {
                let state = &*states.cast::<State>().add(i);
                values.cast::<T>().add(i).write(T::of(state.value()));
            }
        }
    }

    unsafe fn whole(&self, lanes: &Lanes<'_>, _: f64, values: *mut u8, _: *mut i64) {
        dispatch(Whole::<T> {
            lanes,
            values: values.cast(),
        });
    }
}

/// The reduction of complex numbers: distances are from the greatest real part.
pub(crate) struct ComplexLogSumExp;

#[derive(Clone, Copy)]
struct ComplexState {
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
        if new != old && self.sum != Complex::new(0.0, 0.0) {
            self.sum *= (old - new).exp();
        }
        new
    }

    fn add(&mut self, x: Complex<f64>) {
        let origin = self.raise(x.re);
        self.sum += (x - origin).exp();
    }
}

impl Reducer for ComplexLogSumExp {
    fn load(&self) -> DType {
        DType::C128
    }

    fn out(&self) -> DType {
        DType::C128
    }

    fn state_size(&self) -> usize {
        // A multiple of 8 that an array of 16-byte aligned words can hold side by side.
        size_of::<ComplexState>()
    }

    unsafe fn init(&self, states: *mut u8, n: usize) {
        let empty = ComplexState {
            max: f64::NEG_INFINITY,
            sum: Complex::new(0.0, 0.0),
        };
        for i in 0..n {
            // SAFETY: there is room for `n` states.
            unsafe { states.cast::<ComplexState>().add(i).write(empty) };
        }
    }

    unsafe fn row(&self, state: *mut u8, xs: *const u8, n: usize, _: usize) {
        // SAFETY: one state and `n` elements, by the contract.
        let (state, xs) = unsafe { (&mut *state.cast::<ComplexState>(), many(xs, n)) };
        for &x in xs {
            state.add(x);
        }
    }

    unsafe fn cols(
        &self,
        states: *mut u8,
        xs: *const u8,
        stride: isize,
        rows: usize,
        cols: usize,
        _: usize,
    ) {
        // SAFETY: `cols` states, by the contract.
        let states = unsafe { many_mut::<ComplexState>(states, cols) };
        for r in 0..rows {
            let row = xs
                .cast::<Complex<f64>>()
                .wrapping_offset(r as isize * stride);
            // SAFETY: every row has `cols` elements, by the contract.
            let row = unsafe { many::<Complex<f64>>(row.cast(), cols) };
            for (state, &x) in states.iter_mut().zip(row) {
                state.add(x);
            }
        }
    }

    unsafe fn merge(&self, into: *mut u8, from: *const u8, n: usize) {
        // SAFETY: `n` states each, by the contract.
        let (into, from) = unsafe {
            (
                many_mut::<ComplexState>(into, n),
                many::<ComplexState>(from, n),
            )
        };
        for (into, from) in into.iter_mut().zip(from) {
            let new = into.raise(from.max);
            if from.sum != Complex::new(0.0, 0.0) {
                into.sum += from.sum * (origin(from.max) - new).exp();
            }
        }
    }

    unsafe fn finish(&self, states: *const u8, n: usize, _: f64, values: *mut u8, _: *mut i64) {
        for i in 0..n {
            // SAFETY: `n` states and room for `n` values, by the contract.
            unsafe {
                let state = &*states.cast::<ComplexState>().add(i);
                let value = state.sum.ln() + origin(state.max);
                values.cast::<Complex<f64>>().add(i).write(value);
            }
        }
    }
}
