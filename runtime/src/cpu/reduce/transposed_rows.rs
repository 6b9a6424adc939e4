//! Outputs of few nearby elements: blocks of short rows are transposed so that one output per lane of a
//! register is computed at a time.
//!
//! A row may hold several outputs with interleaved elements. Elements are combined in the same order as the
//! rows of a tile.

use std::mem::MaybeUninit;

use nomina_core::DType;
use smallvec::SmallVec;

use super::drive::{ReduceSource, ReduceTarget};
use super::elements::{Elements, Make};
use super::load::{Copy2, copy2};
use super::plan::{LinePlan, Loop, Loops, offsets};
use super::reducer::{ROWS, Reducer};
use super::split::try_for_each;
use super::whole::{LANES, Lanes};
use crate::cpu::cast::Cast;
use crate::cpu::transpose::{LEAST, Transpose};
use crate::memory::{NoMemory, Scratch};

/// The most elements of a row.
const WIDTH: usize = 256;

/// The most bytes of the rows that are computed together.
const BYTES: usize = 64 << 10;

/// This many adjacent outputs are reduced together in place, without transposition.
const BESIDE: usize = 2 * LANES;

/// The approximate number of elements of a task.
const TASK: usize = 1 << 16;

/// A division of the operand into rows that each hold one or more outputs.
pub(super) struct TransposedRows<'a> {
    reducer: &'a dyn Reducer,
    /// The innermost loop over rows.
    across: Loop,
    outer: Loops,
    /// The number of elements of a row, and the distance between them.
    width: usize,
    step: isize,
    /// The loops over the outputs of a row, and their number.
    kept: Loops,
    outputs: usize,
    /// The offsets of an output's elements in a row.
    elements: SmallVec<[isize; 16]>,
    src: isize,
    dst: isize,
}

impl<'a> TransposedRows<'a> {
    /// Divides a plan into rows; `None` if its outputs are too long or the layout is unsuitable.
    pub fn new(reducer: &'a dyn Reducer, plan: &LinePlan, source: DType) -> Option<Self> {
        let count = plan.count();
        if count > ROWS {
            return None;
        }
        let reach = plan.reduced.iter().map(|one| one.src.abs()).max();
        let (across, outer, kept) = match plan.kept.iter().rposition(|one| Some(one.src) > reach) {
            Some(at) => (plan.kept[at], &plan.kept[..at], &plan.kept[at + 1..]),
            None if plan.kept.is_empty() => (ONE, &[][..], &[][..]),
            None => return None,
        };
        if kept
            .last()
            .is_some_and(|one| one.src == 1 && one.size >= BESIDE)
        {
            return None;
        }
        let mut inner: Loops = plan.reduced.iter().chain(kept).copied().collect();
        let (width, step) = match inner[..] {
            [] => (1, 0),
            [one] => (one.size, one.src),
            _ if reducer.ordered() && plan.reduced.len() > 1 => return None,
            _ => {
                inner.sort_by_key(|one| one.src);
                let mut width = 1_usize;
                for one in &inner {
                    if one.src != width as isize {
                        return None;
                    }
                    width = width.saturating_mul(one.size);
                }
                (width, 1)
            }
        };
        let size = reducer.load().size().max(source.size());
        if width > WIDTH || width * size * LEAST > BYTES {
            return None;
        }
        let single = inner.len() <= 1;
        let at = |index: usize| {
            if single {
                index as isize
            } else {
                offsets(&plan.reduced, index).0
            }
        };
        Some(Self {
            reducer,
            across,
            outer: outer.into(),
            width,
            step,
            kept: kept.into(),
            outputs: kept.iter().map(|one| one.size).product(),
            elements: (0..count).map(at).collect(),
            src: plan.src,
            dst: plan.dst,
        })
    }

    /// Returns whether rows are contiguous, as elements computed on the fly require.
    pub fn dense(&self) -> bool {
        (self.step == 1 || self.width == 1)
            && (self.across.size == 1 || self.across.src == self.width as isize)
    }

    /// Computes all outputs. Elements come from the source, or from `make`, which requires that rows are
    /// [`dense`](TransposedRows::dense).
    ///
    /// # Safety
    /// The plan's offsets are within the operand and the results, and nobody else accesses the results
    /// meanwhile.
    pub unsafe fn run(
        &self,
        source: ReduceSource,
        make: Option<&dyn Make>,
        target: ReduceTarget,
    ) -> Result<(), NoMemory> {
        let (load, out) = (self.reducer.load().size(), self.reducer.out().size());
        // Elements are transposed in the smaller of the two dtypes.
        let early = load <= source.dtype.size();
        let size = if early { load } else { source.dtype.size() };
        let transpose = Transpose::new(size, self.width, self.across.size);
        let rows = transpose.rows();
        let job = RunParameters {
            transposed: self,
            source,
            target,
            early,
            transpose,
            at: self
                .elements
                .iter()
                .map(|at| at * transpose.pitch() as isize)
                .collect(),
            room: (rows * self.width * load.max(source.dtype.size()))
                .max(rows * self.outputs * out.max(size_of::<i64>()))
                .next_multiple_of(64),
        };
        let per_round = self.across.size.div_ceil(rows);
        let blocks = per_round * self.outer.iter().map(|one| one.size).product::<usize>();
        let together = (TASK / (rows * self.width)).max(1);
        let work = together * rows * self.width;
        try_for_each(blocks.div_ceil(together), work, &|task| {
            let mut room = Scratch::<MaybeUninit<u8>>::uninit([ROOMS, job.room])?;
            let room = room.as_mut_ptr().cast::<u8>();
            let run = |elements: &mut Option<&mut (dyn Elements + '_)>| {
                for block in task * together..blocks.min((task + 1) * together) {
                    let (round, row) = (block / per_round, block % per_round * rows);
                    // SAFETY: the buffer belongs to this task, and each block owns its outputs.
                    unsafe { job.block(room, elements, round, row) };
                }
            };
            match make {
                None => run(&mut None),
                Some(make) => make.with(&mut |elements| {
                    run(&mut Some(elements));
                    Ok(())
                })?,
            }
            Ok(())
        })
    }
}

const ONE: Loop = Loop {
    size: 1,
    src: 0,
    dst: 0,
};

/// The number of buffers: two for transposing, one for gathered rows, two for results.
const ROOMS: usize = 5;

/// The parameters of one run over the rows.
struct RunParameters<'a> {
    transposed: &'a TransposedRows<'a>,
    source: ReduceSource,
    target: ReduceTarget,
    /// Whether elements are converted before they are transposed.
    early: bool,
    transpose: Transpose,
    /// The offsets of an output's elements after the transposition.
    at: SmallVec<[isize; 16]>,
    /// The size of a buffer in bytes.
    room: usize,
}

// SAFETY: the pointers are only read through, or written through by one task per location.
unsafe impl Sync for RunParameters<'_> {}

impl RunParameters<'_> {
    /// Computes the block of rows from `row` on.
    ///
    /// # Safety
    /// The requirements of [`TransposedRows::run`]; there are [`ROOMS`] buffers at `room`, aligned like
    /// tensors.
    unsafe fn block(
        &self,
        room: *mut u8,
        elements: &mut Option<&mut (dyn Elements + '_)>,
        round: usize,
        row: usize,
    ) {
        let transposed = self.transposed;
        let n = self.transpose.rows().min(transposed.across.size - row);
        let (src, dst) = offsets(&transposed.outer, round);
        let src = transposed.src + src + row as isize * transposed.across.src;
        let dst = transposed.dst + dst + row as isize * transposed.across.dst;
        let room = |index: usize| room.wrapping_add(index * self.room);
        let (load, out) = (transposed.reducer.load(), transposed.reducer.out());
        // SAFETY: the rows are within the operand, their results within the target; the buffers are large
        // enough.
        unsafe {
            let xs = self.turned([0, 1, 2].map(room), elements, src, n);
            // Results that need not be transposed back are written to their destination directly.
            let there = n == self.transpose.rows()
                && self.transpose.in_order()
                && transposed.outputs == 1
                && transposed.across.dst == 1;
            let straight = |to: DType, of: DType| there && to == of;
            let place = |all: *mut u8, straight: bool, size: usize, spare: *mut u8| {
                if all.is_null() {
                    all
                } else if straight {
                    all.wrapping_offset(dst * size as isize)
                } else {
                    spare
                }
            };
            let ReduceTarget {
                values,
                dtype,
                positions,
            } = self.target;
            let positions = positions.cast::<u8>();
            let wide = size_of::<i64>();
            let v = place(values, straight(dtype, out), out.size(), room(3));
            let p = place(positions, there, wide, room(4));
            for output in 0..transposed.outputs {
                let first = offsets(&transposed.kept, output).0 * self.transpose.pitch() as isize;
                // Results have the strides of elements.
                let to = output * self.transpose.pitch();
                let lanes = Lanes {
                    xs: xs.offset(first * load.size() as isize),
                    step: self.transpose.group(transposed.width),
                    groups: self.transpose.rows() / LANES,
                    rows: &self.at,
                    into: self.transpose.group(transposed.outputs),
                };
                let put = |all: *mut u8, size: usize| {
                    if all.is_null() {
                        all
                    } else {
                        all.wrapping_add(to * size)
                    }
                };
                transposed.reducer.whole(
                    &lanes,
                    transposed.elements.len() as f64,
                    put(v, out.size()),
                    put(p, wide).cast(),
                );
            }
            if !values.is_null() && !straight(dtype, out) {
                let to = (values, dtype);
                self.write(v, out, to, [0, 1, 2].map(room), dst, n);
            }
            if !positions.is_null() && !there {
                let to = (positions, DType::I64);
                self.write(p, DType::I64, to, [0, 1, 2].map(room), dst, n);
            }
        }
    }

    /// Returns a block of `n` rows, transposed, in the dtype that the reducer loads. Missing rows are
    /// zeros.
    unsafe fn turned(
        &self,
        [a, b, c]: [*mut u8; 3],
        elements: &mut Option<&mut (dyn Elements + '_)>,
        src: isize,
        n: usize,
    ) -> *const u8 {
        let transposed = self.transposed;
        let (from, load) = (self.source.dtype, transposed.reducer.load());
        let (own, all) = (
            n * transposed.width,
            self.transpose.rows() * transposed.width,
        );
        let to = if self.early { load } else { from };
        let place = |src: isize| {
            let at = src * from.size() as isize;
            self.source.ptr.wrapping_offset(at)
        };
        // SAFETY: the rows are within the operand; the buffers have room for a block in either dtype.
        unsafe {
            let rows = match elements {
                None if n == self.transpose.rows() && from == to && transposed.dense() => {
                    place(src)
                }
                None => {
                    copy2(Copy2 {
                        src: place(src),
                        from,
                        strides: [transposed.across.src, transposed.step],
                        dst: c,
                        to,
                        into: [transposed.width as isize, 1],
                        rows: n,
                        cols: transposed.width,
                    });
                    c.cast_const()
                }
                Some(elements) => {
                    let at = src as usize;
                    if from == to {
                        elements.produce(at, own, c, at + own);
                    } else {
                        elements.produce(at, own, a, at + own);
                        let [wide, size] = [from, to].map(|dtype| dtype.size() as isize);
                        Cast::new(from, to).run(own, a, wide, c, size);
                    }
                    c.cast_const()
                }
            };
            if own < all && rows == c {
                c.add(own * to.size())
                    .write_bytes(0, (all - own) * to.size());
            }
            let xs = self.transpose.turn(rows, [a, b]);
            if to == load {
                return xs;
            }
            let other = if xs == a { b } else { a };
            let [size, wide] = [to, load].map(|dtype| dtype.size() as isize);
            Cast::new(to, load).run(all, xs, size, other, wide);
            other
        }
    }

    /// Writes the results of `n` rows, the first at offset `at`.
    unsafe fn write(
        &self,
        results: *mut u8,
        dtype: DType,
        (to, to_dtype): (*mut u8, DType),
        [a, b, c]: [*mut u8; 3],
        at: isize,
        n: usize,
    ) {
        let transposed = self.transposed;
        let (size, outputs) = (dtype.size(), transposed.outputs);
        let transpose = self.transpose.of_size(size);
        let place = |at: isize| to.wrapping_offset(at * to_dtype.size() as isize);
        let row_major = dtype == to_dtype
            && transposed.across.dst == outputs as isize
            && (0..outputs).all(|output| offsets(&transposed.kept, output).1 == output as isize);
        // SAFETY: the buffers have room for the results, which are within the target.
        unsafe {
            if row_major && n == transpose.rows() {
                transpose.back(outputs, results, [a, b], place(at));
                return;
            }
            transpose.back(outputs, results, [a, b], c);
            for output in 0..outputs {
                copy2(Copy2 {
                    src: c.add(output * size),
                    from: dtype,
                    strides: [0, outputs as isize],
                    dst: place(at + offsets(&transposed.kept, output).1),
                    to: to_dtype,
                    into: [0, transposed.across.dst],
                    rows: 1,
                    cols: n,
                });
            }
        }
    }
}
