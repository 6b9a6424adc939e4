//! Sums and products at indices, accumulated in a type wider than the elements'.
//!
//! Each element of the target is combined with all of its values in `f64`, in the order of the index, and
//! rounded once. If the target is small relative to the index, it is widened as a whole; otherwise the
//! index is sorted, and the values of each element are accumulated one after the other. Both give the same
//! bits.

use super::combine::{Combine, Narrow, Once, row};
use super::{IndexTile, PREFETCHED};
use crate::cpu::numeric::Convert;
use crate::cpu::simd::prefetch_bytes;
use crate::job::IndexJob;
use crate::memory::scratch::{push, room};
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// Widening this many elements of the target takes as long as sorting one index.
const SORTING: usize = 8;
/// Widening one element of the target takes as long as combining this many values.
const VALUES: usize = 4;
/// The most elements that are widened at once, unless one column has more.
const WIDENED: usize = 1 << 19;
/// The fewest columns that are widened at once, if there are more: a cache line.
const COLUMNS: usize = 16;
/// Columns whose accumulators are on the stack.
const STACK: usize = 64;

/// Combines the values of a tile with the elements at their indices, for the indices from `low` to below
/// `low + many`.
///
/// # Safety
/// The requirements of [`update`](super::update()) hold for the tile.
pub(super) unsafe fn accumulate<T: Narrow, R: Combine<T::Wide> + Combine<T::Single>>(
    job: &IndexJob,
    tile: IndexTile,
    low: i64,
    many: usize,
) -> Result<(), NoMemory> {
    let places = Places {
        job,
        tile,
        low,
        many,
    };
    // SAFETY: guaranteed by the caller.
    unsafe {
        if tile.along == 1 {
            places.once::<T, R>();
            Ok(())
        } else if job.is_complete && places.are_dense() {
            places.widened::<T, R>()
        } else {
            places.in_order::<T, R>()
        }
    }
}

/// A tile of a job, and the range of target indices that belong to one task.
#[derive(Clone, Copy)]
struct Places<'a> {
    job: &'a IndexJob,
    tile: IndexTile,
    low: i64,
    many: usize,
}

impl Places<'_> {
    /// Returns whether widening the target is cheaper than sorting the index and combining the values in its order.
    fn are_dense(&self) -> bool {
        // An index for each column is sorted as often.
        let columns = if self.job.rest.inner().steps[2] == 0 {
            self.tile.inner
        } else {
            1
        };
        let sorting = product([self.tile.along, SORTING + columns / VALUES]);
        product([self.many, columns]) <= sorting
    }

    /// Returns an index relative to `low`, if it belongs to this task.
    #[inline(always)]
    unsafe fn place(&self, k: isize, j: isize) -> Option<usize> {
        let step = self.job.rest.inner().steps[2];
        let index = self
            .tile
            .index
            .wrapping_offset(k * self.job.index_step + j * step);
        // SAFETY: an element of the index, guaranteed by the caller.
        let index = unsafe { index.cast::<i64>().read() };
        let place = index.wrapping_sub(self.low) as u64;
        (place < self.many as u64).then_some(place as usize)
    }

    #[inline(always)]
    fn target<T>(&self, place: usize, j: isize) -> *mut T {
        let step = self.job.rest.inner().steps[0];
        let index = self.low.wrapping_add(place as i64) as isize;
        let at = index
            .wrapping_mul(self.job.target_step)
            .wrapping_add(j * step);
        self.tile.target.wrapping_offset(at).cast()
    }

    #[inline(always)]
    fn value<T>(&self, k: isize, j: isize) -> *const T {
        let step = self.job.rest.inner().steps[1];
        let at = k * self.job.other_step + j * step;
        self.tile.other.wrapping_offset(at).cast::<T>().cast_const()
    }

    /// Combines the elements of a single index along the dim: no element gets more than one value.
    unsafe fn once<T: Narrow, R: Combine<T::Wide> + Combine<T::Single>>(&self) {
        for j in 0..self.tile.inner as isize {
            // SAFETY: an element of each operand; this task owns the target's.
            unsafe {
                if let Some(place) = self.place(0, j) {
                    let (own, new) = (self.target::<T>(place, j), self.value::<T>(0, j).read());
                    own.write(Once::<R>::apply(own.read(), new));
                }
            }
        }
    }

    /// Widens all elements of the target, some columns at a time.
    unsafe fn widened<T: Narrow, R: Combine<T::Wide> + Combine<T::Single>>(
        &self,
    ) -> Result<(), NoMemory> {
        let inner = self.tile.inner;
        if inner == 0 || self.many == 0 {
            return Ok(());
        }
        let width = inner.min((WIDENED / self.many).max(COLUMNS));
        let mut sums = Scratch::new([self.many, width], T::Wide::default())?;
        // Accumulators have the same order as the target, so that both are accessed sequentially.
        let [to, from, by, ..] = self.job.rest.inner().steps;
        let [each_place, each_column] = if self.job.target_step.abs() >= to.abs() {
            [width, 1]
        } else {
            [1, self.many]
        };
        for first in (0..inner).step_by(width) {
            let columns = width.min(inner - first);
            // The number of lines of accumulators, their length, and the step of the target along them.
            let (lines, length, step) = if each_column == 1 {
                (self.many, columns, to)
            } else {
                (columns, self.many, self.job.target_step)
            };
            let line = |line: usize| {
                let own = if each_column == 1 {
                    self.target::<T>(line, first as isize)
                } else {
                    self.target::<T>(0, (first + line) as isize)
                };
                (own, line * each_place.max(each_column))
            };
            for at in 0..lines {
                let (own, start) = line(at);
                // SAFETY: elements of the target that this task owns.
                unsafe { load(own, step, &mut sums[start..start + length]) };
            }
            let mut add = |place: usize, k: isize, column: usize| {
                // SAFETY: a value of the tile.
                let new = unsafe { self.value::<T>(k, (first + column) as isize).read() };
                let sum = &mut sums[place * each_place + column * each_column];
                *sum = R::apply(*sum, new.convert());
            };
            let along = self.tile.along as isize;
            // SAFETY: elements of the index, here and below.
            unsafe {
                if by == 0 && each_column == 1 {
                    for k in 0..along {
                        if let Some(place) = self.place(k, 0) {
                            let sums = &mut sums[place * width..][..columns];
                            combine::<T, R>(sums, self.value(k, first as isize), from);
                        }
                    }
                } else if by.abs() <= self.job.index_step.abs() {
                    for k in 0..along {
                        for column in 0..columns {
                            if let Some(place) = self.place(k, (first + column) as isize) {
                                add(place, k, column);
                            }
                        }
                    }
                } else {
                    for column in 0..columns {
                        for k in 0..along {
                            if let Some(place) = self.place(k, (first + column) as isize) {
                                add(place, k, column);
                            }
                        }
                    }
                }
            }
            for at in 0..lines {
                let (own, start) = line(at);
                // SAFETY: elements of the target that this task owns.
                unsafe { store(&sums[start..start + length], own, step) };
            }
        }
        Ok(())
    }

    /// Sorts the index and combines the values of each target element that it contains.
    unsafe fn in_order<T: Narrow, R: Combine<T::Wide> + Combine<T::Single>>(
        &self,
    ) -> Result<(), NoMemory> {
        let inner = self.tile.inner;
        let mut order = room([self.tile.along])?;
        if self.job.rest.inner().steps[2] == 0 {
            // SAFETY: guaranteed by the caller, here and below.
            unsafe {
                self.sort(&mut order, 0)?;
                let mut runs = order.chunk_by(|a, b| a.0 == b.0).peekable();
                while let Some(run) = runs.next() {
                    if let Some(next) = runs.peek() {
                        self.prefetch(next[0]);
                    }
                    if let &[single] = run
                        && self.row::<T, R>(single)
                    {
                        continue;
                    }
                    for first in (0..inner).step_by(STACK) {
                        self.run::<T, R>(run, first, STACK.min(inner - first));
                    }
                }
            }
            return Ok(());
        }
        for j in 0..inner {
            // SAFETY: guaranteed by the caller.
            unsafe {
                self.sort(&mut order, j as isize)?;
                for run in order.chunk_by(|a, b| a.0 == b.0) {
                    self.run::<T, R>(run, j, 1);
                }
            }
        }
        Ok(())
    }

    /// Sorts the target positions in one column of the index, each with its position along the index.
    unsafe fn sort(&self, order: &mut Vec<(usize, usize)>, j: isize) -> Result<(), NoMemory> {
        order.clear();
        for k in 0..self.tile.along {
            // SAFETY: guaranteed by the caller.
            if let Some(place) = unsafe { self.place(k as isize, j) } {
                push(order, (place, k))?;
            }
        }
        order.sort_unstable();
        Ok(())
    }

    /// Prefetches the elements of a target position, and one of its values.
    #[inline(always)]
    fn prefetch(&self, (place, k): (usize, usize)) {
        let [to, from, ..] = self.job.rest.inner().steps;
        let bytes =
            |step: isize| PREFETCHED.min(step.unsigned_abs().saturating_mul(self.tile.inner));
        prefetch_bytes(self.target::<u8>(place, 0), bytes(to));
        prefetch_bytes(self.value::<u8>(k as isize, 0), bytes(from));
    }

    /// Combines the elements of a target position with one value each. Returns false, without having done anything, if
    /// they are not contiguous.
    #[inline(always)]
    unsafe fn row<T: Narrow, R: Combine<T::Single>>(&self, (place, k): (usize, usize)) -> bool {
        let [to, from, ..] = self.job.rest.inner().steps;
        let size = size_of::<T>() as isize;
        if to != size || (from != size && from != 0) {
            return false;
        }
        let (own, new) = (self.target::<T>(place, 0), self.value::<T>(k as isize, 0));
        // SAFETY: the tile's elements of the target position, which this task owns, and their values.
        unsafe { row::<T, Once<R>>(own, new, self.tile.inner, from != 0) };
        true
    }

    /// Combines the values of one target position, in up to `STACK` columns.
    #[inline(always)]
    unsafe fn run<T: Narrow, R: Combine<T::Wide> + Combine<T::Single>>(
        &self,
        run: &[(usize, usize)],
        first: usize,
        columns: usize,
    ) {
        let mut sums = [T::Wide::default(); STACK];
        let (sums, place) = (&mut sums[..columns], run[0].0);
        let [to, from, ..] = self.job.rest.inner().steps;
        let own = self.target::<T>(place, first as isize);
        // SAFETY: elements of the target that this task owns, and values of the tile.
        unsafe {
            load(own, to, sums);
            for &(_, k) in run {
                combine::<T, R>(sums, self.value(k as isize, first as isize), from);
            }
            store(sums, own, to);
        }
    }
}

/// Widens elements that are `step` bytes apart.
///
/// # Safety
/// There is a readable element for each accumulator.
#[inline(always)]
unsafe fn load<T: Narrow>(own: *const T, step: isize, sums: &mut [T::Wide]) {
    if step == size_of::<T>() as isize {
        // SAFETY: guaranteed by the caller, here and below.
        let own = unsafe { std::slice::from_raw_parts(own, sums.len()) };
        for (sum, own) in sums.iter_mut().zip(own) {
            *sum = own.convert();
        }
        return;
    }
    for (i, sum) in sums.iter_mut().enumerate() {
        let own = own.wrapping_byte_offset(i as isize * step);
        // SAFETY: as above.
        *sum = unsafe { own.read() }.convert();
    }
}

/// Combines accumulators with values that are `step` bytes apart.
///
/// # Safety
/// There is a readable value for each accumulator.
#[inline(always)]
unsafe fn combine<T: Narrow, R: Combine<T::Wide>>(
    sums: &mut [T::Wide],
    new: *const T,
    step: isize,
) {
    if step == size_of::<T>() as isize {
        // SAFETY: guaranteed by the caller, here and below.
        let new = unsafe { std::slice::from_raw_parts(new, sums.len()) };
        for (sum, new) in sums.iter_mut().zip(new) {
            *sum = R::apply(*sum, new.convert());
        }
        return;
    }
    if step == 0 && !sums.is_empty() {
        // SAFETY: guaranteed by the caller.
        let new = unsafe { new.read() }.convert();
        for sum in sums.iter_mut() {
            *sum = R::apply(*sum, new);
        }
        return;
    }
    for (i, sum) in sums.iter_mut().enumerate() {
        let new = new.wrapping_byte_offset(i as isize * step);
        // SAFETY: as above.
        *sum = R::apply(*sum, unsafe { new.read() }.convert());
    }
}

/// Rounds accumulators to elements that are `step` bytes apart.
///
/// # Safety
/// There is an element for each accumulator, which nobody else accesses.
#[inline(always)]
unsafe fn store<T: Narrow>(sums: &[T::Wide], own: *mut T, step: isize) {
    if step == size_of::<T>() as isize {
        // SAFETY: guaranteed by the caller, here and below.
        let own = unsafe { std::slice::from_raw_parts_mut(own, sums.len()) };
        for (own, sum) in own.iter_mut().zip(sums) {
            *own = sum.convert();
        }
        return;
    }
    for (i, sum) in sums.iter().enumerate() {
        let own = own.wrapping_byte_offset(i as isize * step);
        // SAFETY: as above.
        unsafe { own.write(sum.convert()) };
    }
}
