//! Reduces elements that are computed on the fly and never stored.
//!
//! Elements are processed in the same blocks as those of a stored operand of the same layout, so results are bitwise
//! equal.

use super::super::elements::{Elements, Make};
use super::super::plan::{LinePlan, runs};
use super::super::reducer::{BLOCK, ROWS, Reducer};
use super::super::split::SmallScratch;
use super::super::transposed_rows::TransposedRows;
use super::tail::Tail;
use super::{Driver, ReduceSource, ReduceTarget, SHORT, TILE, drive};
use crate::cpu::cast::Cast;
use crate::memory::NoMemory;

/// Like [`reduce_lines`](super::reduce_lines), for elements that `make` computes; the plan's offsets count them in
/// memory order. Returns false, without having done anything, if elements that are reduced together would not be
/// contiguous.
///
/// # Safety
/// The requirements of [`reduce_lines`](super::reduce_lines); the plan's offsets are within the operand that `make`
/// computes.
pub(crate) unsafe fn reduce_computed(
    reducer: &dyn Reducer,
    plan: &LinePlan,
    make: &dyn Make,
    target: ReduceTarget,
) -> Result<bool, NoMemory> {
    let source = ReduceSource {
        ptr: std::ptr::null(),
        dtype: make.dtype(),
    };
    if let Some(transposed) = TransposedRows::new(reducer, plan, source.dtype) {
        if !transposed.dense() {
            return Ok(false);
        }
        // SAFETY: guaranteed by the caller.
        unsafe { transposed.run(source, Some(make), target)? };
        return Ok(true);
    }
    let tail = Tail::new(reducer, plan);
    let mut walk = Driver::with_tail(reducer, plan, &tail, source);
    let inner = if walk.columns { walk.kept } else { walk.inner };
    if reducer.ordered() || (inner.src != 1 && inner.size != 1) {
        return Ok(false);
    }
    walk.made = Some(make);
    // SAFETY: guaranteed by the caller.
    unsafe { drive(&walk, target)? };
    Ok(true)
}

/// An adapter that converts elements to the dtype that a reducer loads.
struct Loader<'a> {
    elements: &'a mut dyn Elements,
    cast: Option<Cast>,
    from: usize,
    to: usize,
    scratch: SmallScratch,
}

impl Loader<'_> {
    /// Like [`Elements::produce`].
    unsafe fn produce(&mut self, at: usize, n: usize, to: *mut u8, next: usize) {
        let Some(cast) = self.cast else {
            // SAFETY: guaranteed by the caller.
            unsafe { self.elements.produce(at, n, to, next) };
            return;
        };
        let (from, size) = (self.from, self.to);
        for start in (0..n).step_by(BLOCK) {
            let len = BLOCK.min(n - start);
            let block = self.scratch.as_mut_ptr();
            // SAFETY: the scratch has room for a block; the rest is guaranteed by the caller.
            unsafe {
                self.elements
                    .produce(at + start, len, block, at + start + len);
                let to = to.add(start * size);
                cast.run(len, block, from as isize, to, size as isize);
            }
        }
    }
}

impl Driver<'_> {
    /// Like [`Driver::fill`], but does not merge the groups.
    ///
    /// # Safety
    /// The requirements of [`Driver::fill`]; the outputs' first elements are at `base`.
    pub(super) unsafe fn fill_made(
        &self,
        make: &dyn Make,
        states: *mut u8,
        base: isize,
        n: usize,
        from: usize,
        to: usize,
    ) -> Result<(), NoMemory> {
        let (own, load) = (self.source.dtype, self.reducer.load());
        make.with(&mut |elements| {
            let cast = (!self.same).then(|| Cast::new(own, load));
            let mut loader = Loader {
                elements,
                cast,
                from: own.size(),
                to: load.size(),
                scratch: SmallScratch::bytes([usize::from(cast.is_some()), BLOCK, own.size()])?,
            };
            // SAFETY: guaranteed by the caller.
            unsafe {
                if self.columns {
                    self.made_cols(&mut loader, states, base, n, from, to)
                } else {
                    self.made_rows(&mut loader, states, base, n, from, to)
                }
            }
        })
    }

    unsafe fn made_rows(
        &self,
        loader: &mut Loader<'_>,
        states: *mut u8,
        base: isize,
        n: usize,
        from: usize,
        to: usize,
    ) -> Result<(), NoMemory> {
        let size = loader.to;
        let count = to - from;
        // Contiguous whole rows are computed together.
        let follow = self.plan.reduced.len() <= 1 && self.kept.src == count as isize;
        let together = if follow && count <= BLOCK {
            (TILE / count).clamp(1, n)
        } else {
            1
        };
        if together > 1 {
            let mut tile = SmallScratch::bytes([together, count, size])?;
            let tile = tile.as_mut_ptr();
            for first in (0..n).step_by(together) {
                let rows = together.min(n - first);
                let at = base + (first * count) as isize;
                // SAFETY: whole rows of the operand; the tile has room for them, and there is a state for each.
                unsafe {
                    let (at, n) = (at as usize, rows * count);
                    loader.produce(at, n, tile, at + n);
                    for row in 0..rows {
                        let state = states.add((first + row) * self.size);
                        let xs = tile.add(row * count * size);
                        self.reducer.row(state, xs, count, 0);
                    }
                }
            }
            return Ok(());
        }
        let mut block = SmallScratch::bytes([BLOCK.min(count), size])?;
        let block = block.as_mut_ptr();
        // Long runs of a stored operand would be read in place, each separately.
        let long = self.same && self.inner.size >= SHORT;
        for i in 0..n {
            let base = base + i as isize * self.kept.src;
            // SAFETY: there is a state for each output.
            let state = unsafe { states.add(i * self.size) };
            let (mut held, mut at) = (0, from);
            runs(&self.plan.reduced, from, to, |offset, n| {
                let mut start = 0;
                while start < n {
                    let len = (n - start).min(BLOCK - held);
                    let first = (base + offset) as usize + start;
                    // SAFETY: the run is within the operand, and the block has room for it.
                    unsafe { loader.produce(first, len, block.add(held * size), first + len) };
                    held += len;
                    start += len;
                    if held == BLOCK || (long && start == n) {
                        // SAFETY: the block holds this number of elements.
                        unsafe {
                            self.reducer.row(state, block, held, at);
                            at += held;
                            held = 0;
                            if self.reducer.done(state) {
                                return false;
                            }
                        }
                    }
                }
                true
            });
            if held > 0 {
                // SAFETY: as above.
                unsafe { self.reducer.row(state, block, held, at) };
            }
        }
        Ok(())
    }

    unsafe fn made_cols(
        &self,
        loader: &mut Loader<'_>,
        states: *mut u8,
        base: isize,
        n: usize,
        from: usize,
        to: usize,
    ) -> Result<(), NoMemory> {
        let (size, step) = (loader.to, self.inner.src);
        let widest = n * self.groups;
        let room = if self.same {
            ROWS * widest
        } else {
            TILE.max(widest)
        };
        let mut tile = SmallScratch::bytes([room, size])?;
        let tile = tile.as_mut_ptr();
        let mut at = from;
        runs(&self.plan.reduced, from, to, |offset, len| {
            let mut start = 0;
            while start < len {
                let groups = if len - start >= self.groups {
                    self.groups
                } else {
                    1
                };
                let (cols, stride) = (n * groups, step * groups as isize);
                let most = if self.same {
                    ROWS
                } else {
                    ROWS.min((TILE / cols).max(1))
                };
                let rows = ((len - start) / groups).min(most);
                let first = base + offset + start as isize * step;
                // SAFETY: the rows are within the operand, and the tile has room for them.
                unsafe {
                    if stride == cols as isize {
                        let (at, n) = (first as usize, rows * cols);
                        loader.produce(at, n, tile, at + n);
                    } else {
                        for row in 0..rows {
                            let at = (first + row as isize * stride) as usize;
                            let place = tile.add(row * cols * size);
                            loader.produce(at, cols, place, at + stride as usize);
                        }
                    }
                    self.reducer
                        .cols(states, tile, cols as isize, rows, cols, at);
                }
                start += rows * groups;
                at += rows * groups;
            }
            true
        });
        Ok(())
    }
}
