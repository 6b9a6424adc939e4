//! The interface between reductions and the driver: states, and blocks of elements added to them.

use std::mem::MaybeUninit;

use nomina_core::DType;

use super::whole::{LANES, Lanes};

/// The most elements of one call to [`Reducer::row`].
pub(crate) const BLOCK: usize = 4096;
/// The most columns of one call to [`Reducer::cols`], unless the reducer overrides it.
pub(crate) const COLS: usize = 512;
/// The most rows of one call to [`Reducer::cols`]: after this many additions, accumulators of
/// element type are added to wider states, and a tile that is read twice stays in the cache.
pub(crate) const ROWS: usize = 64;

/// A reduction. To the driver, states are plain bytes, `state_size` each and 16-byte aligned as an
/// array, so that the driver is compiled only once.
pub(crate) trait Reducer: Sync {
    /// Returns the dtype in which elements are loaded.
    fn load(&self) -> DType;

    /// Returns the dtype of the results.
    fn out(&self) -> DType;

    /// Returns the size of a state in bytes.
    fn state_size(&self) -> usize;

    /// Returns the most columns of one call to [`Reducer::cols`].
    fn most_cols(&self) -> usize {
        COLS
    }

    /// Returns whether elements must come in row-major order, with their positions.
    fn ordered(&self) -> bool {
        false
    }

    /// Writes `n` empty states.
    ///
    /// # Safety
    /// `states` has room for `n`.
    unsafe fn init(&self, states: *mut u8, n: usize);

    /// Adds `n` contiguous elements, the first of them at position `at`.
    ///
    /// # Safety
    /// `state` is one state, `xs` points to `n <= BLOCK` elements of the load dtype.
    unsafe fn row(&self, state: *mut u8, xs: *const u8, n: usize, at: usize);

    /// Adds `rows` rows of `cols` elements, each column to its own state; rows are `stride`
    /// elements apart, the first row at position `at`.
    ///
    /// # Safety
    /// `states` are `cols <= most_cols()` states, all `rows <= ROWS` rows are readable.
    unsafe fn cols(
        &self,
        states: *mut u8,
        xs: *const u8,
        stride: isize,
        rows: usize,
        cols: usize,
        at: usize,
    );

    /// Returns whether further elements cannot change the state.
    ///
    /// # Safety
    /// `state` is one state.
    unsafe fn done(&self, _state: *const u8) -> bool {
        false
    }

    /// Merges `n` states pairwise; the elements of `from` follow those of `into`.
    ///
    /// # Safety
    /// Both point to `n` states.
    unsafe fn merge(&self, into: *mut u8, from: *const u8, n: usize);

    /// Writes the values and, if the reduction finds positions, the positions.
    ///
    /// # Safety
    /// `states` are `n` states; `values` and `positions` are null, or have room for `n`.
    unsafe fn finish(
        &self,
        states: *const u8,
        n: usize,
        count: f64,
        values: *mut u8,
        positions: *mut i64,
    );

    /// Writes the results of outputs whose `count` elements are all available, in row-major order.
    ///
    /// # Safety
    /// The lanes have the load dtype, and at least one row and at most [`ROWS`]; `values` and
    /// `positions` are null, or have room for the results of all groups.
    unsafe fn whole(&self, lanes: &Lanes<'_>, count: f64, values: *mut u8, positions: *mut i64) {
        // SAFETY: guaranteed by the caller.
        unsafe { by_states(self, lanes, count, values, positions) }
    }
}

/// A buffer for the states of a group.
#[repr(C, align(64))]
struct States([MaybeUninit<u8>; LANES * 64]);

/// Implements [`Reducer::whole`] by states, the default.
///
/// # Safety
/// The requirements of [`Reducer::whole`].
unsafe fn by_states<R: Reducer + ?Sized>(
    reducer: &R,
    lanes: &Lanes<'_>,
    count: f64,
    values: *mut u8,
    positions: *mut i64,
) {
    assert!(reducer.state_size() <= 64);
    let (size, out) = (reducer.load().size(), reducer.out().size());
    let mut states = States([MaybeUninit::uninit(); _]);
    let states: *mut u8 = states.0.as_mut_ptr().cast();
    for group in 0..lanes.groups {
        let place = |null: bool, size: usize| if null { 0 } else { group * lanes.into * size };
        // SAFETY: there is room for the states of a group; the rest is guaranteed by the caller.
        unsafe {
            reducer.init(states, LANES);
            for (at, row) in lanes.rows.iter().enumerate() {
                let first = (group * lanes.step) as isize + row;
                let xs = lanes.xs.offset(first * size as isize);
                reducer.cols(states, xs, 0, 1, LANES, at);
            }
            let values = values.wrapping_add(place(values.is_null(), out));
            let positions = positions.wrapping_add(place(positions.is_null(), 1));
            reducer.finish(states, LANES, count, values, positions);
        }
    }
}

/// Returns a typed slice of erased states or elements.
///
/// # Safety
/// The requirements of a slice of `n` initialised `T` that nobody writes to meanwhile.
#[inline(always)]
pub(crate) unsafe fn many<'a, T>(ptr: *const u8, n: usize) -> &'a [T] {
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts(ptr.cast(), n) }
}

/// Like [`many`], for writing.
///
/// # Safety
/// The requirements of an exclusive slice of `n` initialised `T`.
#[inline(always)]
pub(crate) unsafe fn many_mut<'a, T>(ptr: *mut u8, n: usize) -> &'a mut [T] {
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts_mut(ptr.cast(), n) }
}
