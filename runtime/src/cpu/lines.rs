//! Short lines with one result per element: transposed like short rows of reductions, computed side by
//! side, and transposed back.

use std::mem::MaybeUninit;

use nomina_core::DType;

use super::cast::Cast;
use super::nontemporal::NonTemporal;
use super::reduce::LinePlan;
use super::reduce::plan::{Loop, offsets};
use super::reduce::split::{Shared, try_for_each_past};
use super::transpose::{LANES, LEAST, Transpose};
use crate::memory::{NoMemory, Scratch};

/// The most elements of a line.
pub(crate) const LENGTH: usize = 128;

/// The most bytes of the lines that are computed together.
const BYTES: usize = 64 << 10;

/// The approximate number of elements of a task.
const TASK: usize = 1 << 16;

/// Transposed lines; [`LANES`] lines form a group.
#[derive(Clone, Copy)]
pub(crate) struct TransposedLines {
    /// The first element.
    pub xs: *mut u8,
    /// The distance between groups, in elements.
    pub step: usize,
    pub groups: usize,
    /// The distance between consecutive elements of a line.
    pub pitch: usize,
    pub count: usize,
}

impl TransposedLines {
    /// Returns one element of each line of a group.
    ///
    /// # Safety
    /// The lines have type `T` and this many elements; nobody else accesses the elements meanwhile.
    #[inline(always)]
    pub unsafe fn row<'a, T>(self, group: usize, row: usize) -> &'a mut [T; LANES] {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let first = self.xs.cast::<T>().add(group * self.step);
            &mut *first.add(row * self.pitch).cast()
        }
    }
}

/// The source and destination of the lines.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub x: *const u8,
    pub dtype: DType,
    pub out: *mut u8,
    pub out_dtype: DType,
    /// The stride of the result along the lines.
    pub step: isize,
}

/// Passes lines in dtype `of` to `compute`, which overwrites them with the results. Returns false,
/// without having done anything, if the lines are long, few, or in an unsuitable layout.
///
/// # Safety
/// The plan is one of lines, in their order. Its offsets are within the operand and the result, which
/// nobody else accesses meanwhile.
pub(crate) unsafe fn short(
    plan: &LinePlan,
    ends: Ends,
    of: DType,
    compute: &(dyn Fn(TransposedLines) + Sync),
) -> Result<bool, NoMemory> {
    let Some(rows) = LineRows::new(plan, ends.step) else {
        return Ok(false);
    };
    let widest = [ends.dtype, of, ends.out_dtype].map(DType::size);
    let widest = widest.into_iter().max().unwrap_or(1);
    let (width, size) = (rows.count * rows.lines, of.size());
    if width * widest * LEAST > BYTES {
        return Ok(false);
    }
    let turn = Transpose::new(size, width, rows.across.size);
    let (high, room) = (
        turn.rows(),
        (turn.rows() * width * widest).next_multiple_of(64),
    );
    let per_round = rows.across.size.div_ceil(high);
    let blocks = per_round * rows.outer.iter().map(|one| one.size).product::<usize>();
    let together = (TASK / (high * width)).max(1);
    let bytes = ends.dtype.size() + ends.out_dtype.size();
    let past = NonTemporal::for_bytes(plan.outputs().saturating_mul(rows.count * bytes));
    let (x, out) = (Shared(ends.x.cast_mut()), Shared(ends.out));
    let work = together * high * width;
    try_for_each_past(blocks.div_ceil(together), work, past, &|task| {
        let mut all = Scratch::<MaybeUninit<u8>>::uninit([4, room])?;
        let first = all.as_mut_ptr().cast::<u8>();
        let rooms = [0, 1, 2, 3].map(|index| first.wrapping_add(index * room));
        for block in task * together..blocks.min((task + 1) * together) {
            let row = block % per_round * high;
            let n = high.min(rows.across.size - row);
            let (src, dst) = offsets(rows.outer, block / per_round);
            let at = (row * width) as isize;
            let src = (plan.src + src + at) * ends.dtype.size() as isize;
            let dst = (plan.dst + dst + at) * ends.out_dtype.size() as isize;
            // SAFETY: the rows are within the operand and the result; each buffer has room for a block.
            unsafe {
                let block = RowBlock {
                    turn,
                    rows,
                    n,
                    of,
                    past,
                };
                let (x, out) = (x.get().offset(src), out.get().offset(dst));
                block.run(x, ends.dtype, out, ends.out_dtype, rooms, compute);
            }
        }
        Ok(())
    })?;
    Ok(true)
}

/// Consecutive rows of one line or of several interleaved lines.
#[derive(Clone, Copy)]
struct LineRows<'a> {
    across: Loop,
    outer: &'a [Loop],
    lines: usize,
    count: usize,
}

impl<'a> LineRows<'a> {
    fn new(plan: &'a LinePlan, step: isize) -> Option<Self> {
        let along = match plan.reduced[..] {
            [] => Loop {
                size: 1,
                src: 1,
                dst: 0,
            },
            [along] => along,
            _ => return None,
        };
        let (lines, kept) = match plan.kept.split_last()? {
            (one, kept) if along.size > 1 && one.src == 1 && one.dst == 1 => (one.size, kept),
            _ => (1, &plan.kept[..]),
        };
        let (&across, outer) = kept.split_last()?;
        let width = lines.saturating_mul(along.size) as isize;
        let fits = along.size <= LENGTH
            && (along.size == 1 || [along.src, step] == [lines as isize; 2])
            && [across.src, across.dst] == [width; 2]
            && across.size >= LANES;
        fits.then_some(Self {
            across,
            outer,
            lines,
            count: along.size,
        })
    }
}

/// A block of `n` rows.
struct RowBlock<'a> {
    turn: Transpose,
    rows: LineRows<'a>,
    n: usize,
    of: DType,
    past: Option<NonTemporal>,
}

impl RowBlock<'_> {
    /// Loads, transposes, computes, transposes back and stores the rows.
    ///
    /// # Safety
    /// The rows are readable at `x` and writable at `out`; each buffer has room for the block in every
    /// dtype.
    unsafe fn run(
        &self,
        x: *const u8,
        dtype: DType,
        out: *mut u8,
        out_dtype: DType,
        [a, b, c, d]: [*mut u8; 4],
        compute: &(dyn Fn(TransposedLines) + Sync),
    ) {
        let Self { turn, rows, of, .. } = *self;
        let width = rows.count * rows.lines;
        let (own, all) = (self.n * width, turn.rows() * width);
        let sizes = |from: DType, to: DType| [from, to].map(|dtype| dtype.size() as isize);
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut xs = x;
            if own < all || dtype != of || width == 1 {
                let [from, to] = sizes(dtype, of);
                Cast::new(dtype, of).run(own, x, from, c, to);
                c.add(own * of.size())
                    .write_bytes(0, (all - own) * of.size());
                xs = c;
            }
            let xs = turn.turn(xs, [a, b]);
            // Only buffers are written to: rows of one element, which need no transposition, have been
            // copied to a buffer above.
            let xs = xs.cast_mut();
            for line in 0..rows.lines {
                compute(TransposedLines {
                    xs: xs.add(line * turn.pitch() * of.size()),
                    step: turn.group(width),
                    groups: turn.rows() / LANES,
                    pitch: turn.pitch() * rows.lines,
                    count: rows.count,
                });
            }
            let others: [*mut u8; 2] = match xs {
                xs if xs == a => [b, c],
                xs if xs == b => [a, c],
                _ => [a, b],
            };
            let mut results = xs;
            if of != out_dtype {
                let [from, to] = sizes(of, out_dtype);
                Cast::new(of, out_dtype).run(all, xs, from, others[0], to);
                results = others[0];
            }
            let turn = turn.of_size(out_dtype.size());
            let rooms = if results == xs {
                others
            } else {
                [xs, others[1]]
            };
            if own == all && self.past.is_none() {
                turn.back(width, results, rooms, out);
                return;
            }
            turn.back(width, results, rooms, d);
            let bytes = own * out_dtype.size();
            match self.past {
                Some(past) => past.copy(d, out, bytes),
                None => out.copy_from_nonoverlapping(d, bytes),
            }
        }
    }
}
