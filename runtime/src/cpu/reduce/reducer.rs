//! What a reduction is to the driver: states, and blocks of elements that go into them.

use nomina_core::DType;

use super::whole::{Lanes, by_states};

/// The most elements of one call to [`Reducer::row`].
pub(crate) const BLOCK: usize = 4096;
/// The most columns of one call to [`Reducer::cols`], unless the reducer says otherwise.
pub(crate) const COLS: usize = 512;
/// The most rows of one call to [`Reducer::cols`]: accumulators of element type go into wider
/// states after so many additions, and a tile that is read twice stays in the cache.
pub(crate) const ROWS: usize = 64;

/// A reduction. States are plain bytes to the driver, `state_size` each and 16-byte aligned as an
/// array, so that the driver is compiled once.
pub(crate) trait Reducer: Sync {
    /// The dtype in which elements come.
    fn load(&self) -> DType;

    /// The dtype of the values it gives.
    fn out(&self) -> DType;

    /// The size of a state in bytes.
    fn state_size(&self) -> usize;

    /// The most columns of one call to [`Reducer::cols`].
    fn most_cols(&self) -> usize {
        COLS
    }

    /// Whether elements must come in row-major order, with their positions.
    fn ordered(&self) -> bool {
        false
    }

    /// Writes `n` states that have seen nothing.
    ///
    /// # Safety
    /// `states` has room for `n`.
    unsafe fn init(&self, states: *mut u8, n: usize);

    /// Takes in `n` elements that stand side by side, the first of them at position `at`.
    ///
    /// # Safety
    /// `state` is one state, `xs` points to `n <= BLOCK` elements of the load dtype.
    unsafe fn row(&self, state: *mut u8, xs: *const u8, n: usize, at: usize);

    /// Takes in `rows` rows of `cols` elements, each column into its own state; rows are `stride`
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

    /// Whether more elements cannot change the state.
    ///
    /// # Safety
    /// `state` is one state.
    unsafe fn done(&self, _state: *const u8) -> bool {
        false
    }

    /// Takes `n` states in, one by one; what they saw stands after what `into` saw.
    ///
    /// # Safety
    /// Both point to `n` states.
    unsafe fn merge(&self, into: *mut u8, from: *const u8, n: usize);

    /// Writes the values, and where the reduction finds positions, those.
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

    /// Writes the results of outputs of `count` elements that are all there, in row-major order.
    ///
    /// # Safety
    /// The lanes are of the load dtype, at least one row and at most [`ROWS`] of them; `values` and
    /// `positions` are null, or have room for the results of all groups.
    unsafe fn whole(&self, lanes: &Lanes<'_>, count: f64, values: *mut u8, positions: *mut i64) {
        // SAFETY: guaranteed by the caller.
        unsafe { by_states(self, lanes, count, values, positions) }
    }
}

/// Typed slices of erased states and elements.
///
/// # Safety
/// As for a slice of `n` initialised `T` that nobody else writes to meanwhile.
#[inline(always)]
pub(crate) unsafe fn many<'a, T>(ptr: *const u8, n: usize) -> &'a [T] {
    // SAFETY: by the caller's promise.
    unsafe { std::slice::from_raw_parts(ptr.cast(), n) }
}

/// As [`many`], for writing.
///
/// # Safety
/// As for an exclusive slice of `n` initialised `T`.
#[inline(always)]
pub(crate) unsafe fn many_mut<'a, T>(ptr: *mut u8, n: usize) -> &'a mut [T] {
    // SAFETY: by the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(ptr.cast(), n) }
}
