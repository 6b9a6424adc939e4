//! Drives a reducer over a plan: tiles, scratch blocks, chunks and threads.
//!
//! Work is divided by the shape alone, never by the number of threads, and the chunks of an output
//! are merged in order, so results do not depend on the number of threads.

mod columns;
mod computed_source;
mod tail;

use nomina_core::DType;

use super::elements::Make;
use super::load::{Copy2, copy2};
use super::plan::{LinePlan, Loop, offsets, runs};
use super::reducer::{BLOCK, COLS, ROWS, Reducer};
use super::split::{Shared, SmallScratch, try_for_each};
use crate::memory::NoMemory;
pub(crate) use computed_source::reduce_computed;
use tail::Tail;

/// The most elements of a gathered tile.
pub(crate) const TILE: usize = 8192;
/// The approximate number of elements that one task reads.
const TASK: usize = 1 << 16;
/// The number of cells below which the elements of an output are split into chunks.
const FEW: usize = 64;
/// The most chunks of one output; each has its own states.
const CHUNKS: usize = 256;
/// Rows shorter than this are gathered before they are reduced.
const SHORT: usize = 128;

/// The operand.
#[derive(Clone, Copy)]
pub(crate) struct ReduceSource {
    pub ptr: *const u8,
    pub dtype: DType,
}

/// The destination of results. A pointer is null if the reducer has no such result.
#[derive(Clone, Copy)]
pub(crate) struct ReduceTarget {
    pub values: *mut u8,
    pub dtype: DType,
    pub positions: *mut i64,
}

/// The strategy for walking the loops of a plan.
pub(crate) struct Driver<'a> {
    pub plan: &'a LinePlan,
    reducer: &'a dyn Reducer,
    pub source: ReduceSource,
    /// The innermost loops, over outputs and over the elements of one output.
    pub kept: Loop,
    pub inner: Loop,
    /// Whether adjacent outputs are reduced together.
    pub columns: bool,
    /// Whether elements need no conversion.
    pub same: bool,
    /// The number of groups of states; for few columns, rows are distributed over several groups.
    pub groups: usize,
    /// The outputs of one cell.
    pub width: usize,
    /// The elements of one output in one chunk.
    pub chunk: usize,
    size: usize,
    /// The producer of the elements if they are computed on the fly.
    made: Option<&'a dyn Make>,
    /// The number of adjacent walked outputs that form one output, and the number of its elements.
    tail: usize,
    count: usize,
}

/// Runs `reducer` over `plan`, which has at least one output and one element per output.
///
/// # Safety
/// The plan's offsets are within the operand and the results, and nobody else accesses the results
/// meanwhile.
pub(crate) unsafe fn reduce_lines(
    reducer: &dyn Reducer,
    plan: &LinePlan,
    source: ReduceSource,
    target: ReduceTarget,
) -> Result<(), NoMemory> {
    let tail = Tail::new(reducer, plan);
    // SAFETY: guaranteed by the caller.
    unsafe { drive(&Driver::with_tail(reducer, plan, &tail, source), target) }
}

/// Runs a driver.
///
/// # Safety
/// The requirements of [`reduce_lines`] for the driver's plan and source.
unsafe fn drive(walk: &Driver<'_>, target: ReduceTarget) -> Result<(), NoMemory> {
    let (reducer, plan) = (walk.reducer, walk.plan);
    let count = plan.count();
    let (cells, chunks) = (walk.cells(), count.div_ceil(walk.chunk));
    let work = walk.width * count.min(walk.chunk);
    let cell = |index: usize| walk.cell(index);
    let wide = walk.width * walk.groups;
    if chunks == 1 && walk.at_once() {
        return try_for_each(cells, work, &|index| {
            let (row, start, n) = cell(index);
            // SAFETY: each cell owns its outputs.
            unsafe { walk.compute(row, start, n, target) }
        });
    }
    if chunks == 1 {
        return try_for_each(cells, work, &|index| {
            let (row, start, n) = cell(index);
            let mut states = SmallScratch::bytes([wide, walk.size])?;
            // SAFETY: the scratch holds `wide` states; each cell owns its outputs.
            unsafe {
                walk.fill(states.as_mut_ptr(), row, start, n, 0, count)?;
                walk.finish(states.as_mut_ptr(), row, start, n, target)
            }
        });
    }
    let mut all = SmallScratch::bytes([cells, chunks, walk.width, walk.size])?;
    let shared = Shared(all.as_mut_ptr());
    try_for_each(cells * chunks, work, &|index| {
        let (row, start, n) = cell(index / chunks);
        let from = index % chunks * walk.chunk;
        let mut states = SmallScratch::bytes([wide, walk.size])?;
        // SAFETY: as above; each task copies its states to its own part of the buffer.
        unsafe {
            walk.fill(
                states.as_mut_ptr(),
                row,
                start,
                n,
                from,
                count.min(from + walk.chunk),
            )?;
            let to = shared.get().add(index * walk.width * walk.size);
            to.copy_from_nonoverlapping(states.as_mut_ptr(), n * walk.size);
        }
        Ok(())
    })?;
    try_for_each(cells, walk.width * chunks, &|index| {
        let (row, start, n) = cell(index);
        // SAFETY: the states of a cell's chunks are contiguous; no other task processes this cell.
        unsafe {
            let first = shared.get().add(index * chunks * walk.width * walk.size);
            for chunk in 1..chunks {
                reducer.merge(first, first.add(chunk * walk.width * walk.size), n);
            }
            walk.finish(first, row, start, n, target)
        }
    })
}

impl<'a> Driver<'a> {
    /// Chooses a strategy by the shape alone.
    pub(crate) fn new(reducer: &'a dyn Reducer, plan: &'a LinePlan, source: ReduceSource) -> Self {
        const ONE: Loop = Loop {
            size: 1,
            src: 0,
            dst: 0,
        };
        let kept = *plan.kept.last().unwrap_or(&ONE);
        let inner = *plan.reduced.last().unwrap_or(&ONE);
        let same = reducer.load() == source.dtype;
        let count = plan.count();
        let mut groups = 1;
        let columns = if count < 16 {
            true
        } else if kept.src.abs() >= inner.src.abs() {
            false
        } else {
            let follows = inner.src == kept.src * kept.size as isize;
            // Few rows are reduced in the same order, whatever the number of columns.
            if kept.size <= COLS / 4 && follows && !reducer.ordered() && count > ROWS {
                groups = (COLS / kept.size).min(inner.size).max(1);
            }
            kept.size >= 16 || groups > 1 || count <= ROWS
        };
        let width = if columns {
            // Whole rows if they are read in place; otherwise tiles that are not too flat.
            let direct = same && kept.src == 1;
            let most = if direct { reducer.most_cols() } else { COLS };
            kept.size.div_ceil(kept.size.div_ceil(most))
        } else {
            kept.size.min((TASK / count).clamp(1, 64))
        };
        let cells = plan.outputs() / kept.size * kept.size.div_ceil(width);
        let chunk = if cells >= FEW {
            count
        } else {
            let rows = (TASK / width).max(ROWS * 2).max(groups * ROWS);
            rows.max(count.div_ceil(CHUNKS))
        };
        let size = reducer.state_size();
        Self {
            plan,
            reducer,
            source,
            kept,
            inner,
            columns,
            same,
            groups,
            width,
            chunk,
            size,
            made: None,
            tail: 1,
            count,
        }
    }

    /// Like [`Driver::new`], but uses the tail's plan if there is one.
    fn with_tail(
        reducer: &'a dyn Reducer,
        plan: &'a LinePlan,
        tail: &'a Option<Tail>,
        source: ReduceSource,
    ) -> Self {
        let Some(Tail { plan: near, size }) = tail else {
            return Self::new(reducer, plan, source);
        };
        let mut walk = Self::new(reducer, near, source);
        // A cell consists of whole outputs.
        walk.width = (walk.width / size * size).max(*size);
        (walk.tail, walk.count) = (*size, plan.count());
        walk
    }

    /// Returns the number of cells: parts of the innermost kept loop, in each round of the outer
    /// ones.
    pub(crate) fn cells(&self) -> usize {
        self.plan.outputs() / self.kept.size * self.kept.size.div_ceil(self.width)
    }

    /// Returns the round, the first output and the number of outputs of a cell.
    pub(crate) fn cell(&self, index: usize) -> (usize, usize, usize) {
        let per_row = self.kept.size.div_ceil(self.width);
        let start = index % per_row * self.width;
        (
            index / per_row,
            start,
            self.width.min(self.kept.size - start),
        )
    }

    /// Returns the offsets of a cell's first output in the operand and the result.
    pub(crate) fn origin(&self, row: usize, start: usize) -> (isize, isize) {
        let outer = &self.plan.kept[..self.plan.kept.len().saturating_sub(1)];
        let (src, dst) = offsets(outer, row);
        let start = start as isize;
        (
            self.plan.src + src + start * self.kept.src,
            self.plan.dst + dst + start * self.kept.dst,
        )
    }

    /// Reduces the elements `from..to` of `n` outputs from `start` on into fresh states. There is
    /// room for `n` times `groups` states.
    ///
    /// # Safety
    /// The requirements of [`reduce_lines`].
    pub(crate) unsafe fn fill(
        &self,
        states: *mut u8,
        row: usize,
        start: usize,
        n: usize,
        from: usize,
        to: usize,
    ) -> Result<(), NoMemory> {
        let base = self.origin(row, start).0;
        // SAFETY: the caller provides room for `n * groups` states, and all offsets are the plan's.
        unsafe {
            self.reducer.init(states, n * self.groups);
            if let Some(make) = self.made {
                self.fill_made(make, states, base, n, from, to)?;
                if self.columns {
                    self.merge_groups(states, n);
                }
                return Ok(());
            }
            if !self.columns {
                for i in 0..n {
                    let base = base + i as isize * self.kept.src;
                    self.fill_row(states.add(i * self.size), base, from, to)?;
                }
                return Ok(());
            }
            self.fill_cols(states, base, n, from, to)?;
            self.merge_groups(states, n);
        }
        Ok(())
    }

    /// Merges the groups of states into the first.
    ///
    /// # Safety
    /// The states are as [`Driver::fill`] leaves them.
    unsafe fn merge_groups(&self, states: *mut u8, n: usize) {
        for group in 1..self.groups {
            // SAFETY: there are `n` states for each group.
            unsafe {
                self.reducer
                    .merge(states, states.add(group * n * self.size), n);
            }
        }
    }

    /// Returns the address of an element of the operand.
    pub(crate) fn at(&self, offset: isize) -> *const u8 {
        self.source
            .ptr
            .wrapping_offset(offset * self.source.dtype.size() as isize)
    }

    unsafe fn fill_row(
        &self,
        state: *mut u8,
        base: isize,
        from: usize,
        to: usize,
    ) -> Result<(), NoMemory> {
        let mut at = from;
        // A single run cannot be gathered with others.
        let long = self.inner.size >= SHORT || self.plan.reduced.len() <= 1;
        if self.same && self.inner.src == 1 && long {
            runs(&self.plan.reduced, from, to, |offset, n| {
                for start in (0..n).step_by(BLOCK) {
                    let len = BLOCK.min(n - start);
                    let xs = self.at(base + offset + start as isize);
                    // SAFETY: the run is within the operand, and its elements are contiguous.
                    unsafe {
                        self.reducer.row(state, xs, len, at);
                        if self.reducer.done(state) {
                            return false;
                        }
                    }
                    at += len;
                }
                true
            });
            return Ok(());
        }
        let load = self.reducer.load();
        let mut scratch = SmallScratch::bytes([BLOCK.min(to - from), load.size()])?;
        let mut held = 0;
        runs(&self.plan.reduced, from, to, |offset, n| {
            let mut start = 0;
            while start < n {
                let len = (n - start).min(BLOCK - held);
                // SAFETY: the run is within the operand, and the scratch has room for a block.
                unsafe {
                    copy2(Copy2 {
                        src: self.at(base + offset + start as isize * self.inner.src),
                        from: self.source.dtype,
                        strides: [0, self.inner.src],
                        dst: scratch.as_mut_ptr().add(held * load.size()),
                        to: load,
                        into: [0, 1],
                        rows: 1,
                        cols: len,
                    });
                }
                held += len;
                start += len;
                if held == BLOCK {
                    // SAFETY: the scratch holds a block.
                    unsafe {
                        self.reducer.row(state, scratch.as_mut_ptr(), held, at);
                        if self.reducer.done(state) {
                            held = 0;
                            return false;
                        }
                    }
                    at += held;
                    held = 0;
                }
            }
            true
        });
        if held > 0 {
            // SAFETY: the scratch holds this number of elements.
            unsafe { self.reducer.row(state, scratch.as_mut_ptr(), held, at) };
        }
        Ok(())
    }

    /// Merges the adjacent states of each output. Returns the number of states left.
    ///
    /// # Safety
    /// There are `n` states, a multiple of the tail's size.
    unsafe fn merge_tail(&self, states: *mut u8, n: usize) -> Result<usize, NoMemory> {
        let (tail, size) = (self.tail, self.size);
        if tail == 1 {
            return Ok(n);
        }
        let outputs = n / tail;
        let mut apart = SmallScratch::bytes([n, size])?;
        let apart = apart.as_mut_ptr();
        // SAFETY: there is room for these states; they are merged in their original order.
        unsafe {
            for output in 0..outputs {
                for at in 0..tail {
                    let from = states.add((output * tail + at) * size);
                    let to = apart.add((at * outputs + output) * size);
                    to.copy_from_nonoverlapping(from, size);
                }
            }
            states.copy_from_nonoverlapping(apart, outputs * size);
            for at in 1..tail {
                let from = apart.add(at * outputs * size);
                self.reducer.merge(states, from, outputs);
            }
        }
        Ok(outputs)
    }

    /// Writes the results of `n` outputs from `start` on.
    unsafe fn finish(
        &self,
        states: *mut u8,
        row: usize,
        start: usize,
        n: usize,
        target: ReduceTarget,
    ) -> Result<(), NoMemory> {
        let step = self.kept.dst;
        let base = self.origin(row, start / self.tail).1;
        let out = self.reducer.out();
        // SAFETY: the states are the caller's; cells are whole outputs.
        let n = unsafe { self.merge_tail(states, n)? };
        let room = |null: bool, size: usize| SmallScratch::bytes([usize::from(!null), n, size]);
        let mut values = room(target.values.is_null(), out.size())?;
        let mut positions = room(target.positions.is_null(), size_of::<i64>())?;
        let pick = |null: bool, scratch: &mut SmallScratch| {
            if null {
                std::ptr::null_mut()
            } else {
                scratch.as_mut_ptr()
            }
        };
        let (v, p) = (
            pick(target.values.is_null(), &mut values),
            pick(target.positions.is_null(), &mut positions),
        );
        let count = self.count as f64;
        // SAFETY: the scratches have room for `n`; the offsets are within the results.
        unsafe {
            self.reducer.finish(states, n, count, v, p.cast());
            if !v.is_null() {
                let to = target
                    .values
                    .wrapping_offset(base * target.dtype.size() as isize);
                line(v, out, to, target.dtype, step, n);
            }
            if !p.is_null() {
                let to = target.positions.wrapping_offset(base);
                line(p, DType::I64, to.cast(), DType::I64, step, n);
            }
        }
        Ok(())
    }
}

/// Writes `n` results.
pub(super) unsafe fn line(
    src: *const u8,
    from: DType,
    dst: *mut u8,
    to: DType,
    step: isize,
    n: usize,
) {
    let (strides, into) = ([0, 1], [0, step]);
    // SAFETY: guaranteed by the caller.
    unsafe {
        copy2(Copy2 {
            src,
            from,
            strides,
            dst,
            to,
            into,
            rows: 1,
            cols: n,
        })
    };
}

// SAFETY: the pointers are only read through, or written through by one task per location.
unsafe impl Sync for Driver<'_> {}
// SAFETY: as above.
unsafe impl Sync for ReduceTarget {}
