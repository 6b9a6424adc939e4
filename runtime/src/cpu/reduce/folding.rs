//! Folds as reducers.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use nomina_core::{DType, Element};

use super::accumulator::RowTile;
use super::fold::{Cols, Fold, RowFold, WholeFold, one_by_one};
use super::reducer::{Reducer, many, many_mut};
use super::simd::dispatch;
use super::whole::Lanes;

/// The most columns at a time: whole rows of most tensors, so that memory is read sequentially, and few enough
/// that the accumulators stay in the first-level cache.
const WIDE: usize = 2560;

/// A fold as a reducer; the result is divided by the count if it is a mean. Zero-sized, so that boxing it does
/// not allocate.
pub(crate) struct Folding<F, const MEAN: bool>(PhantomData<F>);

/// A fold whose result is not divided.
pub(crate) type Plain<F> = Folding<F, false>;

/// A fold whose result is divided by the count.
pub(crate) type Mean<F> = Folding<F, true>;

impl<F, const MEAN: bool> Folding<F, MEAN> {
    pub const NEW: Self = Self(PhantomData);
}

impl<F: Fold, const MEAN: bool> Reducer for Folding<F, MEAN> {
    fn load(&self) -> DType {
        F::X::DTYPE
    }

    fn out(&self) -> DType {
        F::T::DTYPE
    }

    fn state_size(&self) -> usize {
        size_of::<F::Acc>()
    }

    fn most_cols(&self) -> usize {
        WIDE
    }

    unsafe fn init(&self, states: *mut u8, n: usize) {
        for i in 0..n {
            // SAFETY: there is room for `n` states.
            unsafe { states.cast::<F::Acc>().add(i).write(F::start()) };
        }
    }

    unsafe fn row(&self, state: *mut u8, xs: *const u8, n: usize, _: usize) {
        // SAFETY: one state and `n` elements, by the contract.
        unsafe { add_row::<F>(&mut *state.cast(), many(xs, n)) }
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
        // SAFETY: `rows` rows of `cols` elements and `cols` states, by the contract.
        unsafe {
            let tile = RowTile::new(xs.cast(), stride, rows, cols);
            add_columns::<F>(many_mut(states, cols), tile);
        }
    }

    unsafe fn done(&self, state: *const u8) -> bool {
        // SAFETY: one state, by the contract.
        F::done(unsafe { &*state.cast() })
    }

    unsafe fn merge(&self, into: *mut u8, from: *const u8, n: usize) {
        // SAFETY: `n` states each, by the contract.
        let (into, from) = unsafe { (many_mut::<F::Acc>(into, n), many::<F::Acc>(from, n)) };
        for (into, from) in into.iter_mut().zip(from) {
            F::merge(into, from);
        }
    }

    unsafe fn finish(&self, states: *const u8, n: usize, count: f64, values: *mut u8, _: *mut i64) {
        let divisor = if MEAN { count } else { 1.0 };
        for i in 0..n {
            // SAFETY: `n` states and room for `n` values, by the contract.
            unsafe {
                let acc = &*states.cast::<F::Acc>().add(i);
                values.cast::<F::T>().add(i).write(F::finish(acc, divisor));
            }
        }
    }

    unsafe fn whole(&self, lanes: &Lanes<'_>, count: f64, values: *mut u8, _: *mut i64) {
        dispatch(WholeFold::<F, MEAN> {
            lanes,
            count,
            values: values.cast(),
            fold: PhantomData,
        });
    }
}

/// Adds a row to a state.
fn add_row<F: Fold>(acc: &mut F::Acc, xs: &[F::X]) {
    let part = dispatch(RowFold::<F>(xs, PhantomData));
    if F::overflows(part) {
        one_by_one::<F>(acc, xs.iter());
    } else {
        F::add(acc, part);
    }
}

/// Adds each column of a tile to its state.
fn add_columns<F: Fold>(states: &mut [F::Acc], tile: RowTile<'_, F::X>) {
    let mut parts = [const { MaybeUninit::uninit() }; WIDE];
    let parts = &mut parts[..states.len()];
    parts.fill(MaybeUninit::new(F::IDENTITY));
    // SAFETY: these elements were written.
    let parts = unsafe { many_mut::<F::T>(parts.as_mut_ptr().cast(), states.len()) };
    dispatch(Cols::<F> { out: parts, tile });
    if parts
        .iter()
        .fold(false, |any, &part| any | F::overflows(part))
    {
        for (i, (state, &part)) in states.iter_mut().zip(&*parts).enumerate() {
            if F::overflows(part) {
                one_by_one::<F>(state, (0..tile.rows()).map(|r| &tile.row(r)[i]));
            } else {
                F::add(state, part);
            }
        }
        return;
    }
    for (state, &part) in states.iter_mut().zip(&*parts) {
        F::add(state, part);
    }
}
