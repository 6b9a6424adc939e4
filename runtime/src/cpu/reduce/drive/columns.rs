//! Columns of few elements that are read in place.

use nomina_core::DType;
use smallvec::SmallVec;

use super::super::load::{Copy2, copy2};
use super::super::plan::runs;
use super::super::reducer::ROWS;
use super::super::split::SmallScratch;
use super::super::whole::{LANES, Lanes};
use super::{Driver, ReduceTarget, TILE, line};
use crate::memory::NoMemory;

/// Up to this many rows are read together, wherever they are: the number of streams that the hardware
/// prefetcher follows.
const STREAMS: usize = 16;

/// More rows are read together only if they span at most this many bytes.
const NEAR: usize = 64 << 10;

impl Driver<'_> {
    /// Returns whether adjacent outputs should be reduced from all their elements at once.
    pub(super) fn at_once(&self) -> bool {
        let count = self.plan.count();
        let span = self.inner.src.unsigned_abs() * count * self.source.dtype.size();
        self.columns
            && self.same
            && self.tail == 1
            && self.made.is_none()
            && self.kept.src == 1
            && self.plan.reduced.len() <= 1
            && count <= ROWS
            && (count <= STREAMS || span <= NEAR)
    }

    /// Adds the elements `from..to` of `n` adjacent outputs, whose first elements are at `base`, to their states.
    ///
    /// # Safety
    /// The requirements of [`Driver::fill`].
    pub(super) unsafe fn fill_cols(
        &self,
        states: *mut u8,
        base: isize,
        n: usize,
        from: usize,
        to: usize,
    ) -> Result<(), NoMemory> {
        let (load, step) = (self.reducer.load(), self.inner.src);
        let direct = self.same && (self.kept.src == 1 || n == 1);
        let mut scratch = SmallScratch::bytes([usize::from(!direct), TILE, load.size()])?;
        let mut at = from;
        runs(&self.plan.reduced, from, to, |offset, len| {
            let mut start = 0;
            while start < len {
                // Adjacent rows that go to different groups of states form one wider row.
                let groups = if len - start >= self.groups {
                    self.groups
                } else {
                    1
                };
                let (cols, stride) = (n * groups, step * groups as isize);
                let most = ROWS.min(if direct { ROWS } else { (TILE / cols).max(1) });
                let rows = ((len - start) / groups).min(most);
                let xs = self.at(base + offset + start as isize * step);
                // SAFETY: the tile is within the operand: if there is more than one group, `groups`
                // rows are contiguous in memory. The scratch has room for a tile.
                unsafe {
                    if direct {
                        self.reducer.cols(states, xs, stride, rows, cols, at);
                    } else {
                        copy2(Copy2 {
                            src: xs,
                            from: self.source.dtype,
                            strides: [stride, self.kept.src],
                            dst: scratch.as_mut_ptr(),
                            to: load,
                            into: [cols as isize, 1],
                            rows,
                            cols,
                        });
                        let tile = scratch.as_mut_ptr();
                        self.reducer
                            .cols(states, tile, cols as isize, rows, cols, at);
                    }
                }
                start += rows * groups;
                at += rows * groups;
            }
            true
        });
        Ok(())
    }

    /// Computes `n` outputs from `start` on.
    ///
    /// # Safety
    /// The requirements of [`reduce_lines`](super::reduce_lines), for a driver that satisfies `at_once`.
    pub(super) unsafe fn compute(
        &self,
        row: usize,
        start: usize,
        n: usize,
        target: ReduceTarget,
    ) -> Result<(), NoMemory> {
        let (src, dst) = self.origin(row, start);
        let (size, out) = (self.source.dtype.size(), self.reducer.out());
        let count = self.plan.count();
        let mut rows: SmallVec<[isize; ROWS]> = SmallVec::new();
        rows.extend((0..count as isize).map(|r| r * self.inner.src));
        let beside = self.kept.dst == 1;
        let straight = [target.dtype == out && beside, beside];
        let (groups, left) = (n / LANES, n % LANES);
        // Buffers for results that cannot be written directly, and for an incomplete last group.
        let held = |null: bool, straight: bool| match (null, straight) {
            (true, _) => 0,
            (false, true) => LANES,
            (false, false) => n.next_multiple_of(LANES),
        };
        let null = [target.values.is_null(), target.positions.is_null()];
        let mut values = SmallScratch::bytes([held(null[0], straight[0]), out.size()])?;
        let mut positions = SmallScratch::bytes([held(null[1], straight[1]), size_of::<i64>()])?;
        let mut rest = SmallScratch::bytes([usize::from(left > 0), count, LANES, size])?;
        let rest = rest.as_mut_ptr();
        let ends = [
            (values.as_mut_ptr(), target.values, out, target.dtype),
            (
                positions.as_mut_ptr(),
                target.positions.cast(),
                DType::I64,
                DType::I64,
            ),
        ];
        // SAFETY: the columns are within the operand, their results within the target; scratches have the
        // sizes above, and an incomplete group is padded with zeros.
        unsafe {
            let of = |xs: *const u8, groups: usize, rows: &[isize], [v, p]: [*mut u8; 2]| {
                let lanes = Lanes {
                    xs,
                    step: LANES,
                    groups,
                    rows,
                    into: LANES,
                };
                self.reducer.whole(&lanes, count as f64, v, p.cast());
            };
            let place = |i: usize, first: usize| {
                let (held, to, from, dtype) = ends[i];
                match (null[i], straight[i]) {
                    (true, _) => to,
                    (_, true) if first < groups * LANES => {
                        to.offset((dst + first as isize) * dtype.size() as isize)
                    }
                    (_, true) => held,
                    (_, false) => held.add(first * from.size()),
                }
            };
            if groups > 0 {
                of(self.at(src), groups, &rows, [0, 1].map(|i| place(i, 0)));
            }
            let first = groups * LANES;
            if left > 0 {
                rest.write_bytes(0, count * LANES * size);
                let dtype = self.source.dtype;
                copy2(Copy2 {
                    src: self.at(src + first as isize),
                    from: dtype,
                    strides: [self.inner.src, 1],
                    dst: rest,
                    to: dtype,
                    into: [LANES as isize, 1],
                    rows: count,
                    cols: left,
                });
                let mut rows: SmallVec<[isize; ROWS]> = SmallVec::new();
                rows.extend((0..count).map(|r| (r * LANES) as isize));
                of(rest, 1, &rows, [0, 1].map(|i| place(i, first)));
            }
            for (i, (held, to, from, dtype)) in ends.into_iter().enumerate() {
                let at = |first: usize| {
                    let at = dst + first as isize * self.kept.dst;
                    to.wrapping_offset(at * dtype.size() as isize)
                };
                match (null[i], straight[i]) {
                    (true, _) => {}
                    (_, true) => line(held, from, at(first), dtype, 1, left),
                    (_, false) => line(held, from, at(0), dtype, self.kept.dst, n),
                }
            }
        }
        Ok(())
    }
}
