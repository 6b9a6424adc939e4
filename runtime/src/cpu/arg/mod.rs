//! Reductions that find the position of an element: max and min along a dim, argmax, argmin.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use nomina_core::DType;

use super::reduce::fold::{Fold, Max, Min, RowFold};
use super::reduce::reducer::{COLS, Reducer, many, many_mut};
use super::reduce::simd::{Kernel, dispatch};
use super::reduce::whole::{LANES, Lanes};

/// An order in which the first of equal elements wins, and NaN precedes everything.
pub(crate) trait Better: Fold<X = <Self as Fold>::T, Acc = <Self as Fold>::T> {
    /// Returns whether `a` strictly precedes `b`.
    fn better(a: Self::T, b: Self::T) -> bool;
    /// Returns whether the elements are equal in the order; NaN equals NaN.
    fn same(a: Self::T, b: Self::T) -> bool;
}

macro_rules! better {
    ($($t:ident $nan:expr;)*) => {$(
        better!(Max, $t, >, $nan);
        better!(Min, $t, <, $nan);
    )*};
    ($fold:ident, $t:ident, $op:tt, $nan:expr) => {
        impl Better for $fold<$t> {
            #[inline(always)]
            fn better(a: $t, b: $t) -> bool {
                let nan: fn($t) -> bool = $nan;
                (a $op b) | (nan(a) & !nan(b))
            }
            #[inline(always)]
            fn same(a: $t, b: $t) -> bool {
                let nan: fn($t) -> bool = $nan;
                (a == b) | (nan(a) & nan(b))
            }
        }
    };
}

better! {
    bool |_| false;
    u8 |_| false;
    i8 |_| false;
    i16 |_| false;
    i32 |_| false;
    i64 |_| false;
    f32 |x| x.is_nan();
    f64 |x| x.is_nan();
}

/// The best element so far and its position, which is -1 if there is none.
#[derive(Clone, Copy)]
struct Best<T> {
    value: T,
    at: i64,
}

/// A reduction to the best element and its first position.
pub(crate) struct Position<F>(pub PhantomData<F>);

/// A kernel that finds the best element of each column of a tile, and its row.
struct BestOfColumns<'a, F: Fold> {
    best: &'a mut [F::T],
    rows_of: &'a mut [u32],
    xs: *const F::T,
    stride: isize,
    rows: usize,
}

impl<F: Better> Kernel for BestOfColumns<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let n = self.best.len();
        for r in 0..self.rows {
            let row = self.xs.wrapping_offset(r as isize * self.stride);
            // SAFETY: the creator of the tile guarantees that every row has `n` elements.
            let row = unsafe { many::<F::T>(row.cast(), n) };
            for ((best, at), &x) in self.best.iter_mut().zip(&mut *self.rows_of).zip(row) {
                let take = F::better(x, *best);
                *best = if take { x } else { *best };
                *at = if take { r as u32 } else { *at };
            }
        }
    }
}

/// A kernel that finds the first position of an element that is present.
struct Find<'a, F: Fold>(&'a [F::T], F::T);

impl<F: Better> Kernel for Find<'_, F> {
    type Out = usize;
    #[inline(always)]
    fn run(self) -> usize {
        const STEP: usize = 64;
        // Branchless over whole steps, then the first position in the step that has it.
        let has = |part: &[F::T]| part.iter().fold(false, |any, &x| any | F::same(x, self.1));
        let step = self.0.chunks(STEP).position(has).unwrap_or(0);
        let rest = &self.0[step * STEP..];
        let mut first = u32::MAX;
        for (i, &x) in rest[..rest.len().min(STEP)].iter().enumerate() {
            let at = if F::same(x, self.1) {
                i as u32
            } else {
                u32::MAX
            };
            first = first.min(at);
        }
        step * STEP + if first == u32::MAX { 0 } else { first as usize }
    }
}

/// A kernel that computes outputs whose elements are all available.
struct WholeOutputs<'a, F: Fold> {
    lanes: &'a Lanes<'a>,
    values: *mut F::T,
    positions: *mut i64,
}

impl<F: Better> Kernel for WholeOutputs<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let lanes = self.lanes;
        for group in 0..lanes.groups {
            // SAFETY: the creator of this struct guarantees that the lanes are readable.
            let row = |row: isize| unsafe { lanes.row::<F::T>(group, row) };
            let (mut best, mut at) = (*row(lanes.rows[0]), [0_u32; LANES]);
            for (r, &one) in lanes.rows.iter().enumerate().skip(1) {
                let xs = row(one);
                for i in 0..LANES {
                    let take = F::better(xs[i], best[i]);
                    best[i] = if take { xs[i] } else { best[i] };
                    at[i] = if take { r as u32 } else { at[i] };
                }
            }
            // SAFETY: the creator of this struct guarantees that there is room, unless the pointers
            // are null.
            unsafe {
                if !self.values.is_null() {
                    *lanes.results(self.values, group) = best.map(MaybeUninit::new);
                }
                if !self.positions.is_null() {
                    let positions = lanes.results(self.positions, group);
                    for i in 0..LANES {
                        positions[i].write(i64::from(at[i]));
                    }
                }
            }
        }
    }
}

impl<F: Better> Reducer for Position<F> {
    fn load(&self) -> DType {
        <F::T as nomina_core::Element>::DTYPE
    }

    fn out(&self) -> DType {
        <F::T as nomina_core::Element>::DTYPE
    }

    fn state_size(&self) -> usize {
        size_of::<Best<F::T>>()
    }

    fn ordered(&self) -> bool {
        true
    }

    unsafe fn init(&self, states: *mut u8, n: usize) {
        for i in 0..n {
            let empty = Best {
                value: F::IDENTITY,
                at: -1,
            };
            // SAFETY: there is room for `n` states.
            unsafe { states.cast::<Best<F::T>>().add(i).write(empty) };
        }
    }

    unsafe fn row(&self, state: *mut u8, xs: *const u8, n: usize, at: usize) {
        // SAFETY: one state and `n` elements, by the contract.
        let (state, xs) = unsafe { (&mut *state.cast::<Best<F::T>>(), many::<F::T>(xs, n)) };
        // Most blocks do not change the state; the position is searched only in those that do.
        let best = dispatch(RowFold::<F>(xs, PhantomData));
        if state.at < 0 || F::better(best, state.value) {
            let first = dispatch(Find::<F>(xs, best));
            *state = Best {
                value: xs[first],
                at: (at + first) as i64,
            };
        }
    }

    unsafe fn cols(
        &self,
        states: *mut u8,
        xs: *const u8,
        stride: isize,
        rows: usize,
        cols: usize,
        at: usize,
    ) {
        // SAFETY: `cols` states, and a first row of `cols` elements, by the contract.
        let (states, first) =
            unsafe { (many_mut::<Best<F::T>>(states, cols), many::<F::T>(xs, cols)) };
        let (mut best, mut rows_of) = ([F::IDENTITY; COLS], [0_u32; COLS]);
        best[..cols].copy_from_slice(first);
        let (best, rows_of) = (&mut best[..cols], &mut rows_of[..cols]);
        dispatch(BestOfColumns::<F> {
            best,
            rows_of,
            xs: xs.cast(),
            stride,
            rows,
        });
        for ((state, &value), &row) in states.iter_mut().zip(&*best).zip(&*rows_of) {
            if state.at < 0 || F::better(value, state.value) {
                *state = Best {
                    value,
                    at: (at + row as usize) as i64,
                };
            }
        }
    }

    unsafe fn merge(&self, into: *mut u8, from: *const u8, n: usize) {
        // SAFETY: `n` states each, by the contract.
        let (into, from) =
            unsafe { (many_mut::<Best<F::T>>(into, n), many::<Best<F::T>>(from, n)) };
        for (into, from) in into.iter_mut().zip(from) {
            if into.at < 0 || (from.at >= 0 && F::better(from.value, into.value)) {
                *into = *from;
            }
        }
    }

    unsafe fn finish(
        &self,
        states: *const u8,
        n: usize,
        _: f64,
        values: *mut u8,
        positions: *mut i64,
    ) {
        // SAFETY: `n` states, by the contract.
        let states = unsafe { many::<Best<F::T>>(states, n) };
        for (i, state) in states.iter().enumerate() {
            // SAFETY: each is null or has room for `n`, by the contract.
            unsafe {
                if !values.is_null() {
                    values.cast::<F::T>().add(i).write(state.value);
                }
                if !positions.is_null() {
                    positions.add(i).write(state.at);
                }
            }
        }
    }
    unsafe fn whole(&self, lanes: &Lanes<'_>, _: f64, values: *mut u8, positions: *mut i64) {
        dispatch(WholeOutputs::<F> {
            lanes,
            values: values.cast(),
            positions,
        });
    }
}
