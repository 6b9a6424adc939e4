//! Reductions without unsafe code, and the single adapter that manages their memory.

use nomina_core::{DType, Element};

use super::reducer::{Reducer, many, many_mut};
use super::simd::{Kernel, dispatch};
use super::whole::{Group, LANES, Lanes};

/// A reduction in terms of one state and the elements added to it. An implementation must define the
/// effect of one element; rows, columns and short outputs follow from it by default and can be
/// overridden with loops that vectorise better.
///
/// `row`, `columns` and `whole` are compiled for each instruction set, so the functions they call
/// should be `#[inline(always)]`.
pub(crate) trait Accumulator: Sync {
    /// The element type after loading.
    type X: Element;
    /// The state that accumulates elements.
    type State: Copy;
    /// The result type.
    type Out: Element;

    /// Returns the empty state.
    fn empty(&self) -> Self::State;

    /// Adds an element.
    fn add(&self, state: &mut Self::State, x: Self::X);

    /// Merges another state, whose elements follow those of `state`.
    fn merge(&self, state: &mut Self::State, other: &Self::State);

    /// Returns the result for `count` elements.
    fn finish(&self, state: &Self::State, count: f64) -> Self::Out;

    /// Adds contiguous elements.
    #[inline(always)]
    fn row(&self, state: &mut Self::State, xs: &[Self::X]) {
        for &x in xs {
            self.add(state, x);
        }
    }

    /// Adds a tile, each column to its own state; at most [`COLS`](super::reducer::COLS) columns.
    #[inline(always)]
    fn columns(&self, states: &mut [Self::State], tile: RowTile<'_, Self::X>) {
        for r in 0..tile.rows() {
            for (state, &x) in states.iter_mut().zip(tile.row(r)) {
                self.add(state, x);
            }
        }
    }

    /// Returns the results of outputs whose elements are all available.
    #[inline(always)]
    fn whole(&self, group: Group<'_, Self::X>, count: f64) -> [Self::Out; LANES] {
        let mut states = [self.empty(); LANES];
        for xs in group.rows() {
            for i in 0..LANES {
                self.add(&mut states[i], xs[i]);
            }
        }
        states.map(|state| self.finish(&state, count))
    }
}

/// Rows of elements, all of the same length.
#[derive(Clone, Copy)]
pub(crate) struct RowTile<'a, T> {
    first: &'a [T],
    stride: isize,
    rows: usize,
}

impl<'a, T> RowTile<'a, T> {
    /// Creates a tile of `rows` rows of `cols` elements that are `stride` elements apart.
    ///
    /// # Safety
    /// All elements are readable, nobody writes to them meanwhile, and there is at least one row.
    #[inline(always)]
    pub unsafe fn new(xs: *const T, stride: isize, rows: usize, cols: usize) -> Self {
        // SAFETY: guaranteed by the caller.
        let first = unsafe { many(xs.cast(), cols) };
        Self {
            first,
            stride,
            rows,
        }
    }

    /// Returns the number of rows.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns row `r`, which must exist.
    #[inline(always)]
    pub fn row(&self, r: usize) -> &'a [T] {
        debug_assert!(r < self.rows);
        let row = self
            .first
            .as_ptr()
            .wrapping_offset(r as isize * self.stride);
        // SAFETY: the creator of the tile guarantees that every row has this number of elements.
        unsafe { many(row.cast(), self.first.len()) }
    }
}

/// [`Accumulator::row`] as a kernel.
struct RowKernel<'a, A: Accumulator>(&'a A, &'a mut A::State, &'a [A::X]);

impl<A: Accumulator> Kernel for RowKernel<'_, A> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        self.0.row(self.1, self.2);
    }
}

/// [`Accumulator::columns`] as a kernel.
struct ColumnsKernel<'a, A: Accumulator>(&'a A, &'a mut [A::State], RowTile<'a, A::X>);

impl<A: Accumulator> Kernel for ColumnsKernel<'_, A> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        self.0.columns(self.1, self.2);
    }
}

/// [`Accumulator::whole`] of all groups as a kernel.
struct WholeKernel<'a, A: Accumulator> {
    by: &'a A,
    lanes: &'a Lanes<'a>,
    count: f64,
    values: *mut A::Out,
}

impl<A: Accumulator> Kernel for WholeKernel<'_, A> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for group in 0..self.lanes.groups {
            // SAFETY: the creator of this struct guarantees that the lanes are readable and that there
            // is room for the values.
            let (group, values) = unsafe {
                let values = self.lanes.results(self.values, group);
                (self.lanes.group(group), values)
            };
            let results = self.by.whole(group, self.count);
            for i in 0..LANES {
                values[i].write(results[i]);
            }
        }
    }
}

impl<A: Accumulator> Reducer for A {
    fn load(&self) -> DType {
        A::X::DTYPE
    }

    fn out(&self) -> DType {
        A::Out::DTYPE
    }

    fn state_size(&self) -> usize {
        size_of::<A::State>()
    }

    unsafe fn init(&self, states: *mut u8, n: usize) {
        for i in 0..n {
            // SAFETY: there is room for `n` states.
            unsafe { states.cast::<A::State>().add(i).write(self.empty()) };
        }
    }

    unsafe fn row(&self, state: *mut u8, xs: *const u8, n: usize, _: usize) {
        // SAFETY: one state and `n` elements, by the contract.
        let (state, xs) = unsafe { (&mut *state.cast(), many(xs, n)) };
        dispatch(RowKernel(self, state, xs));
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
        // SAFETY: `cols` states and `rows` rows of `cols` elements, by the contract.
        let (states, tile) = unsafe {
            let tile = RowTile::new(xs.cast(), stride, rows, cols);
            (many_mut(states, cols), tile)
        };
        dispatch(ColumnsKernel(self, states, tile));
    }

    unsafe fn merge(&self, into: *mut u8, from: *const u8, n: usize) {
        // SAFETY: `n` states each, by the contract.
        let (into, from) = unsafe { (many_mut(into, n), many(from, n)) };
        for (into, from) in into.iter_mut().zip(from) {
            Accumulator::merge(self, into, from);
        }
    }

    unsafe fn finish(&self, states: *const u8, n: usize, count: f64, values: *mut u8, _: *mut i64) {
        // SAFETY: `n` states, by the contract.
        let states = unsafe { many(states, n) };
        for (i, state) in states.iter().enumerate() {
            let value = Accumulator::finish(self, state, count);
            // SAFETY: room for `n` values, by the contract.
            unsafe { values.cast::<A::Out>().add(i).write(value) };
        }
    }

    unsafe fn whole(&self, lanes: &Lanes<'_>, count: f64, values: *mut u8, _: *mut i64) {
        dispatch(WholeKernel {
            by: self,
            lanes,
            count,
            values: values.cast(),
        });
    }
}
