//! Variance: mean and squared deviations of blocks, merged.

use std::marker::PhantomData;

use nomina_core::DType;

use super::real::Real;
use super::reducer::{COLS, Reducer, many, many_mut};
use super::simd::{Kernel, dispatch};
use super::whole::{LANES as WIDE, Lanes};

const LANES: usize = 32;

/// How many elements, their mean, and the sum of their squared distances from it.
#[derive(Clone, Copy)]
struct State {
    count: f64,
    mean: f64,
    squares: f64,
}

impl State {
    const EMPTY: Self = Self {
        count: 0.0,
        mean: 0.0,
        squares: 0.0,
    };

    /// A block whose deviations from about its mean add up to `sum`, squared to `squares`.
    #[inline]
    fn block(count: f64, about: f64, sum: f64, squares: f64) -> Self {
        let off = sum / count;
        Self {
            count,
            mean: about + off,
            squares: squares - sum * off,
        }
    }

    #[inline]
    fn merge(&mut self, other: &Self) {
        if other.count == 0.0 {
            return;
        }
        let count = self.count + other.count;
        let delta = other.mean - self.mean;
        let share = other.count / count;
        self.mean += delta * share;
        self.squares += other.squares + delta * delta * self.count * share;
        self.count = count;
    }
}

/// The variance, or its root.
pub(crate) struct Variance<T> {
    /// What is taken off the count.
    pub correction: f64,
    /// Whether the root is taken.
    pub root: bool,
    /// The element type.
    pub element: PhantomData<T>,
}

/// A row, whose sum and squared deviations are taken in lanes.
struct Row<'a, T>(&'a [T]);

impl<T: Real> Kernel for Row<'_, T> {
    type Out = State;
    #[inline(always)]
    fn run(self) -> State {
        let n = self.0.len() as f64;
        let mut lanes = [T::ZERO; LANES];
        for chunk in self.0.chunks(LANES) {
            for (lane, &x) in lanes.iter_mut().zip(chunk) {
                *lane += x;
            }
        }
        let total = |lanes: &[T; LANES]| lanes.iter().map(|lane| lane.wide()).sum::<f64>();
        let about = T::of(total(&lanes) / n);
        let (mut off, mut squares) = ([T::ZERO; LANES], [T::ZERO; LANES]);
        let mut chunks = self.0.chunks_exact(LANES);
        for chunk in &mut chunks {
            for i in 0..LANES {
                let d = chunk[i] - about;
                off[i] += d;
                squares[i] += d * d;
            }
        }
        for (i, &x) in chunks.remainder().iter().enumerate() {
            let d = x - about;
            off[i] += d;
            squares[i] += d * d;
        }
        State::block(n, about.wide(), total(&off), total(&squares))
    }
}

/// A tile, whose columns go into states.
struct Tile<'a, T> {
    states: &'a mut [State],
    xs: *const T,
    stride: isize,
    rows: usize,
}

impl<T: Real> Kernel for Tile<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let n = self.states.len();
        // SAFETY: whoever made the tile says that every row has `n` elements.
        let row = |r: usize| unsafe {
            many::<T>(self.xs.wrapping_offset(r as isize * self.stride).cast(), n)
        };
        let mut about = [T::ZERO; COLS];
        for r in 0..self.rows {
            for (sum, &x) in about[..n].iter_mut().zip(row(r)) {
                *sum += x;
            }
        }
        let part = T::of(1.0 / self.rows as f64);
        for sum in &mut about[..n] {
            *sum = *sum * part;
        }
        let (mut off, mut squares) = ([T::ZERO; COLS], [T::ZERO; COLS]);
        for r in 0..self.rows {
            let xs = row(r);
            for i in 0..n {
                let d = xs[i] - about[i];
                off[i] += d;
                squares[i] += d * d;
            }
        }
        let count = self.rows as f64;
        for (i, state) in self.states.iter_mut().enumerate() {
            let (about, off, squares) = (about[i].wide(), off[i].wide(), squares[i].wide());
            state.merge(&State::block(count, about, off, squares));
        }
    }
}

/// Outputs whose elements are all there.
struct Whole<'a, T> {
    lanes: &'a Lanes<'a>,
    divisor: f64,
    root: bool,
    values: *mut T,
}

impl<T: Real> Kernel for Whole<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let lanes = self.lanes;
        let share = 1.0 / lanes.rows.len() as f64;
        let part = T::of(share);
        for group in 0..lanes.groups {
            // SAFETY: whoever made this says that the lanes are there, and room for the values.
            let row = |row: &isize| unsafe { lanes.row::<T>(group, *row) };
            let mut about = [T::ZERO; WIDE];
            for xs in lanes.rows.iter().map(row) {
                for i in 0..WIDE {
                    about[i] += xs[i];
                }
            }
            let about = about.map(|sum| sum * part);
            let (mut off, mut squares) = ([T::ZERO; WIDE], [T::ZERO; WIDE]);
            for xs in lanes.rows.iter().map(row) {
                for i in 0..WIDE {
                    let d = xs[i] - about[i];
                    off[i] += d;
                    squares[i] += d * d;
                }
            }
            // SAFETY: as above.
            let values = unsafe { lanes.results(self.values, group) };
            for i in 0..WIDE {
                let off = off[i].wide();
                let squares = squares[i].wide() - off * (off * share);
                values[i].write(T::of(finish(squares, self.divisor, self.root)));
            }
        }
    }
}

/// The variance, or its root, of squared distances; NaN of NaN.
#[inline(always)]
fn finish(squares: f64, divisor: f64, root: bool) -> f64 {
    // What rounding took below zero is zero.
    let variance = if squares < 0.0 { 0.0 } else { squares } / divisor;
    if root { variance.sqrt() } else { variance }
}

impl<T: Real> Reducer for Variance<T> {
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
        state.merge(&dispatch(Row(xs)));
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
        dispatch(Tile {
            states,
            xs: xs.cast::<T>(),
            stride,
            rows,
        });
    }

    unsafe fn merge(&self, into: *mut u8, from: *const u8, n: usize) {
        // SAFETY: `n` states each, by the contract.
        let (into, from) = unsafe { (many_mut::<State>(into, n), many::<State>(from, n)) };
        for (into, from) in into.iter_mut().zip(from) {
            into.merge(from);
        }
    }

    unsafe fn finish(&self, states: *const u8, n: usize, count: f64, values: *mut u8, _: *mut i64) {
        let divisor = (count - self.correction).max(0.0);
        for i in 0..n {
            // SAFETY: `n` states and room for `n` values, by the contract.
            unsafe {
                let squares = (*states.cast::<State>().add(i)).squares;
                let value = finish(squares, divisor, self.root);
                values.cast::<T>().add(i).write(T::of(value));
            }
        }
    }
    unsafe fn whole(&self, lanes: &Lanes<'_>, count: f64, values: *mut u8, _: *mut i64) {
        dispatch(Whole::<T> {
            lanes,
            divisor: (count - self.correction).max(0.0),
            root: self.root,
            values: values.cast(),
        });
    }
}
