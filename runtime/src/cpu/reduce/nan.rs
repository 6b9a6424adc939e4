//! Sums and means of what is not NaN, and the count of what is not zero.

use std::marker::PhantomData;

use nomina_core::DType;

use super::fold::Compensated;
use super::real::Real;
use super::reducer::{COLS, Reducer, many, many_mut};
use super::simd::{Kernel, dispatch};
use super::whole::{LANES as WIDE, Lanes};

const LANES: usize = 32;
/// So many elements are summed up by themselves: each lane adds few.
const PART: usize = 16 * LANES;

/// The sum of what is not NaN, and how many that are.
#[derive(Clone, Copy)]
struct State {
    sum: Compensated,
    count: f64,
}

/// The sum of what is not NaN, or the mean.
pub(super) struct NanMean<T> {
    mean: bool,
    element: PhantomData<T>,
}

impl<T> NanMean<T> {
    pub fn new(mean: bool) -> Self {
        Self {
            mean,
            element: PhantomData,
        }
    }
}

/// An element and how many it is.
#[inline(always)]
fn taken<T: Real>(x: T) -> (T, T) {
    // Only NaN differs from itself.
    #[allow(clippy::eq_op)]
    if x == x {
        (x, T::of(1.0))
    } else {
        (T::ZERO, T::ZERO)
    }
}

/// The sum and the count of a row.
struct Row<'a, T>(&'a [T]);

impl<T: Real> Kernel for Row<'_, T> {
    type Out = (f64, f64);
    #[inline(always)]
    fn run(self) -> (f64, f64) {
        let (mut sums, mut counts) = ([T::ZERO; LANES], [T::ZERO; LANES]);
        for part in self.0.chunks(PART) {
            let mut own = [T::ZERO; LANES];
            let mut add = |i: usize, x: T| {
                let (x, one) = taken(x);
                own[i] += x;
                counts[i] += one;
            };
            let (chunks, rest) = part.as_chunks::<LANES>();
            for chunk in chunks {
                for (i, &x) in chunk.iter().enumerate() {
                    add(i, x);
                }
            }
            for (i, &x) in rest.iter().enumerate() {
                add(i, x);
            }
            for (sum, own) in sums.iter_mut().zip(own) {
                *sum += own;
            }
        }
        let total = |lanes: &[T; LANES]| lanes.iter().map(|lane| lane.wide()).sum();
        (total(&sums), total(&counts))
    }
}

/// The sums and the counts of a tile's columns.
struct Tile<'a, T> {
    sums: &'a mut [T],
    counts: &'a mut [T],
    xs: *const T,
    stride: isize,
    rows: usize,
}

impl<T: Real> Kernel for Tile<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let n = self.sums.len();
        let row = |r: usize| {
            let row = self.xs.wrapping_offset(r as isize * self.stride);
            // SAFETY: whoever made the tile says that every row has `n` elements.
            unsafe { many::<T>(row.cast(), n) }
        };
        let mut r = 0;
        while r + 4 <= self.rows {
            let (a, b, c, d) = (row(r), row(r + 1), row(r + 2), row(r + 3));
            for i in 0..n {
                let [a, b, c, d] = [a[i], b[i], c[i], d[i]].map(taken);
                self.sums[i] += (a.0 + b.0) + (c.0 + d.0);
                self.counts[i] += (a.1 + b.1) + (c.1 + d.1);
            }
            r += 4;
        }
        for r in r..self.rows {
            for (i, &x) in row(r).iter().enumerate() {
                let (x, one) = taken(x);
                self.sums[i] += x;
                self.counts[i] += one;
            }
        }
    }
}

/// Outputs whose elements are all there.
struct Whole<'a, T, const MEAN: bool> {
    lanes: &'a Lanes<'a>,
    values: *mut T,
}

impl<T: Real, const MEAN: bool> Kernel for Whole<'_, T, MEAN> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for group in 0..self.lanes.groups {
            let (mut sums, mut counts) = ([T::ZERO; WIDE], [T::ZERO; WIDE]);
            // SAFETY: whoever made this says that the lanes are there.
            let row = |row: isize| unsafe { self.lanes.row::<T>(group, row) };
            let (fours, rest) = self.lanes.rows.as_chunks::<4>();
            for rows in fours {
                let [a, b, c, d] = rows.map(row);
                for i in 0..WIDE {
                    let [a, b, c, d] = [a[i], b[i], c[i], d[i]].map(taken);
                    sums[i] += (a.0 + b.0) + (c.0 + d.0);
                    counts[i] += (a.1 + b.1) + (c.1 + d.1);
                }
            }
            for &one in rest {
                let xs = row(one);
                for i in 0..WIDE {
                    let (x, one) = taken(xs[i]);
                    sums[i] += x;
                    counts[i] += one;
                }
            }
            // SAFETY: whoever made this says that there is room.
            let values = unsafe { self.lanes.results(self.values, group) };
            for i in 0..WIDE {
                let divisor = if MEAN { counts[i].wide() } else { 1.0 };
                values[i].write(T::of(sums[i].wide() / divisor));
            }
        }
    }
}

impl<T: Real> Reducer for NanMean<T> {
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
        let empty = State {
            sum: Compensated::ZERO,
            count: 0.0,
        };
        for i in 0..n {
            // SAFETY: there is room for `n` states.
            unsafe { states.cast::<State>().add(i).write(empty) };
        }
    }

    unsafe fn row(&self, state: *mut u8, xs: *const u8, n: usize, _: usize) {
        // SAFETY: one state and `n` elements, by the contract.
        let (state, xs) = unsafe { (&mut *state.cast::<State>(), many::<T>(xs, n)) };
        let (sum, count) = dispatch(Row(xs));
        state.sum.add(sum);
        state.count += count;
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
        let (mut sums, mut counts) = ([T::ZERO; COLS], [T::ZERO; COLS]);
        let (sums, counts) = (&mut sums[..cols], &mut counts[..cols]);
        dispatch(Tile::<T> {
            sums,
            counts,
            xs: xs.cast(),
            stride,
            rows,
        });
        // SAFETY: `cols` states, by the contract.
        let states = unsafe { many_mut::<State>(states, cols) };
        for ((state, sum), count) in states.iter_mut().zip(&*sums).zip(&*counts) {
            state.sum.add(sum.wide());
            state.count += count.wide();
        }
    }

    unsafe fn merge(&self, into: *mut u8, from: *const u8, n: usize) {
        // SAFETY: `n` states each, by the contract.
        let (into, from) = unsafe { (many_mut::<State>(into, n), many::<State>(from, n)) };
        for (into, from) in into.iter_mut().zip(from) {
            into.sum.merge(&from.sum);
            into.count += from.count;
        }
    }

    unsafe fn finish(&self, states: *const u8, n: usize, _: f64, values: *mut u8, _: *mut i64) {
        // SAFETY: `n` states, by the contract.
        let states = unsafe { many::<State>(states, n) };
        for (i, state) in states.iter().enumerate() {
            let divisor = if self.mean { state.count } else { 1.0 };
            // SAFETY: room for `n` values, by the contract.
            unsafe {
                values
                    .cast::<T>()
                    .add(i)
                    .write(T::of(state.sum.value() / divisor))
            };
        }
    }

    unsafe fn whole(&self, lanes: &Lanes<'_>, _: f64, values: *mut u8, _: *mut i64) {
        let values = values.cast();
        if self.mean {
            dispatch(Whole::<T, true> { lanes, values });
        } else {
            dispatch(Whole::<T, false> { lanes, values });
        }
    }
}

/// How many elements differ from zero: they come as truth values.
pub(super) struct Count;

/// A byte can count so many rows.
const BYTE: usize = 255;

struct Ones<'a>(&'a [u8]);

impl Kernel for Ones<'_> {
    type Out = i64;
    #[inline(always)]
    fn run(self) -> i64 {
        let mut total = 0;
        for part in self.0.chunks(LANES * BYTE) {
            let mut lanes = [0_u8; LANES];
            for chunk in part.chunks(LANES) {
                for (lane, &x) in lanes.iter_mut().zip(chunk) {
                    *lane += x;
                }
            }
            total += lanes.iter().map(|&lane| i64::from(lane)).sum::<i64>();
        }
        total
    }
}

/// Outputs whose truth values are all there.
struct Counts<'a>(&'a Lanes<'a>, *mut i64);

impl Kernel for Counts<'_> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for group in 0..self.0.groups {
            // A byte counts more rows than there are.
            let mut counts = [0_u8; WIDE];
            for &row in self.0.rows {
                // SAFETY: whoever made this says that the lanes are there, each a byte of 0 or 1.
                let xs = unsafe { self.0.row::<u8>(group, row) };
                for i in 0..WIDE {
                    counts[i] += xs[i];
                }
            }
            // SAFETY: whoever made this says that there is room.
            let values = unsafe { self.0.results(self.1, group) };
            for i in 0..WIDE {
                values[i].write(i64::from(counts[i]));
            }
        }
    }
}

impl Reducer for Count {
    fn load(&self) -> DType {
        DType::Bool
    }

    fn out(&self) -> DType {
        DType::I64
    }

    fn state_size(&self) -> usize {
        size_of::<i64>()
    }

    unsafe fn init(&self, states: *mut u8, n: usize) {
        for i in 0..n {
            // SAFETY: there is room for `n` states.
            unsafe { states.cast::<i64>().add(i).write(0) };
        }
    }

    unsafe fn row(&self, state: *mut u8, xs: *const u8, n: usize, _: usize) {
        // SAFETY: one state and `n` truth values, each a byte of 0 or 1, by the contract.
        let (state, xs) = unsafe { (&mut *state.cast::<i64>(), many::<u8>(xs, n)) };
        *state += dispatch(Ones(xs));
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
        let states = unsafe { many_mut::<i64>(states, cols) };
        for r in 0..rows {
            let row = xs.wrapping_offset(r as isize * stride);
            // SAFETY: every row has `cols` truth values, by the contract.
            let row = unsafe { many::<u8>(row, cols) };
            for (state, &x) in states.iter_mut().zip(row) {
                *state += i64::from(x);
            }
        }
    }

    unsafe fn merge(&self, into: *mut u8, from: *const u8, n: usize) {
        // SAFETY: `n` states each, by the contract.
        let (into, from) = unsafe { (many_mut::<i64>(into, n), many::<i64>(from, n)) };
        for (into, from) in into.iter_mut().zip(from) {
            *into += from;
        }
    }

    unsafe fn finish(&self, states: *const u8, n: usize, _: f64, values: *mut u8, _: *mut i64) {
        // SAFETY: `n` states, and room for `n` values, by the contract.
        unsafe {
            values
                .cast::<i64>()
                .copy_from_nonoverlapping(states.cast(), n)
        };
    }
    unsafe fn whole(&self, lanes: &Lanes<'_>, _: f64, values: *mut u8, _: *mut i64) {
        dispatch(Counts(lanes, values.cast()));
    }
}
