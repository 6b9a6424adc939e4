//! Outputs of few elements, computed side by side from all their elements at once.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::fold::{Fold, four, one_by_one};
use super::reducer::Reducer;
use super::simd::Kernel;
pub(crate) use crate::cpu::transpose::LANES;

/// All elements of several outputs; [`LANES`] outputs form a group.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<'a> {
    pub xs: *const u8,
    /// The distance between groups, in elements.
    pub step: usize,
    pub groups: usize,
    /// The offsets of the outputs' elements from the first of their group, in elements.
    pub rows: &'a [isize],
    /// The distance between the results of consecutive groups, in elements.
    pub into: usize,
}

impl<'a> Lanes<'a> {
    /// Returns one of the groups.
    ///
    /// # Safety
    /// The lanes have type `T`, the group exists, and nobody writes to it meanwhile.
    #[inline(always)]
    pub unsafe fn group<T>(&'a self, group: usize) -> Group<'a, T> {
        Group {
            lanes: self,
            group,
            element: PhantomData,
        }
    }

    /// Returns one element of each output of a group.
    ///
    /// # Safety
    /// The lanes have type `T`, and the group has such a row.
    #[inline(always)]
    pub unsafe fn row<T>(&self, group: usize, row: isize) -> &[T; LANES] {
        let at = (group * self.step) as isize + row;
        // SAFETY: guaranteed by the caller.
        unsafe { &*self.xs.cast::<T>().offset(at).cast() }
    }

    /// Returns the room for the results of a group.
    ///
    /// # Safety
    /// `results` has room for the results of all groups, and nobody else accesses it meanwhile.
    #[inline(always)]
    pub unsafe fn results<'b, T>(
        self,
        results: *mut T,
        group: usize,
    ) -> &'b mut [MaybeUninit<T>; LANES] {
        // SAFETY: guaranteed by the caller.
        unsafe { &mut *results.add(group * self.into).cast() }
    }
}

/// A group of outputs whose elements are all available.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a, T> {
    lanes: &'a Lanes<'a>,
    group: usize,
    element: PhantomData<T>,
}

impl<'a, T: Copy + 'a> Group<'a, T> {
    /// Returns the number of elements of each output.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.lanes.rows.len()
    }

    /// Returns element `r` of each output.
    #[inline(always)]
    pub fn row(self, r: usize) -> &'a [T; LANES] {
        self.at(self.lanes.rows[r])
    }

    /// Iterates over the elements of the outputs.
    #[inline(always)]
    pub fn rows(self) -> impl Iterator<Item = &'a [T; LANES]> {
        self.lanes.rows.iter().map(move |&row| self.at(row))
    }

    /// Like [`Group::row`], for four rows from `r` on.
    #[inline(always)]
    pub fn four(self, r: usize) -> [&'a [T; LANES]; 4] {
        [
            self.row(r),
            self.row(r + 1),
            self.row(r + 2),
            self.row(r + 3),
        ]
    }

    #[inline(always)]
    fn at(self, row: isize) -> &'a [T; LANES] {
        // SAFETY: the creator of the group guarantees that its lanes are readable.
        unsafe { self.lanes.row(self.group, row) }
    }
}

/// Folds each output of a group, in the same order as tiles of columns.
#[inline(always)]
pub(crate) fn fold<F: Fold>(group: Group<'_, F::X>) -> [F::T; LANES] {
    let mut all = [F::IDENTITY; LANES];
    let whole = group.count() / 4 * 4;
    for r in (0..whole).step_by(4) {
        let [a, b, c, d] = group.four(r);
        for i in 0..LANES {
            all[i] = F::combine(all[i], four::<F>([a[i], b[i], c[i], d[i]]));
        }
    }
    for r in whole..group.count() {
        let xs = group.row(r);
        for i in 0..LANES {
            all[i] = F::combine(all[i], F::widen(xs[i]));
        }
    }
    all
}

/// A kernel that computes the folds of all groups, divided by the count if they are means.
pub(super) struct WholeFold<'a, F: Fold, const MEAN: bool> {
    pub lanes: &'a Lanes<'a>,
    pub count: f64,
    pub values: *mut F::T,
    pub fold: PhantomData<F>,
}

impl<F: Fold, const MEAN: bool> Kernel for WholeFold<'_, F, MEAN> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let divisor = if MEAN { self.count } else { 1.0 };
        for group in 0..self.lanes.groups {
            // SAFETY: the creator of this struct guarantees that the lanes are readable and that
            // there is room for the values.
            let (lanes, values) = unsafe {
                let lanes: Group<'_, F::X> = self.lanes.group(group);
                (lanes, self.lanes.results(self.values, group))
            };
            let all = fold::<F>(lanes);
            for i in 0..LANES {
                let mut state = F::start();
                F::add(&mut state, all[i]);
                values[i].write(F::finish(&state, divisor));
            }
            // A loop of its own: with a branch in the loop above, it would not be vectorized.
            let mut overflowed = false;
            for part in all {
                overflowed |= F::overflows(part);
            }
            if overflowed {
                recompute_overflowed::<F>(lanes, &all, divisor, values);
            }
        }
    }
}

/// Computes the overflowed folds again, element by element.
#[cold]
#[inline(never)]
fn recompute_overflowed<F: Fold>(
    lanes: Group<'_, F::X>,
    all: &[F::T; LANES],
    divisor: f64,
    values: &mut [MaybeUninit<F::T>; LANES],
) {
    for i in (0..LANES).filter(|&i| F::overflows(all[i])) {
        let mut state = F::start();
        one_by_one::<F>(&mut state, lanes.rows().map(|row| &row[i]));
        values[i].write(F::finish(&state, divisor));
    }
}

/// A buffer for the states of a group.
#[repr(C, align(64))]
struct States([MaybeUninit<u8>; LANES * 64]);

/// Implements [`Reducer::whole`] by states, the default.
///
/// # Safety
/// The requirements of [`Reducer::whole`].
pub(super) unsafe fn by_states<R: Reducer + ?Sized>(
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
