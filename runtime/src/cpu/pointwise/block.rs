//! Feeds dense loops from operands that are not dense.

use std::mem::MaybeUninit;
use std::ops::Range;

use nomina_core::DType;

use super::contiguous::is_first;
use super::kernel::{DenseLoop, Inputs, Kernel};
use crate::job::Place;

use crate::cpu::cast::Cast;
use crate::cpu::nontemporal::{self, NonTemporal};
use crate::cpu::parallel::{Shared, split_by_time, threads};
use crate::plan::{Dim, OPERANDS, Plan, Steps};

/// Bytes per operand that are processed at a time; four such blocks fit in the first-level cache.
const BLOCK: usize = 4096;

/// Runs of at least this many elements get their own call of the loop.
const LONG: usize = 128;

/// Rows of a tile if an operand is contiguous across the runs: the number of rows that share a cache line.
const TILE: usize = 16;

/// The block of one operand.
#[repr(C, align(64))]
struct OperandBlock([MaybeUninit<u8>; BLOCK]);

/// How an operand reaches the loop.
#[derive(Clone, Copy, PartialEq)]
enum OperandFeed {
    /// Read or written in place.
    Direct,
    /// Copied into the block once, because it is the same for every row: one element, or one short row.
    Repeated,
    /// Gathered into the block, or scattered from it.
    Block,
}

#[derive(Clone, Copy)]
struct BlockOperand {
    base: Shared,
    feed: OperandFeed,
    cast: Cast,
    /// The distance in bytes between elements of a row, and between rows.
    step: isize,
    row_step: isize,
    /// The size of an element in the loop.
    size: isize,
}

/// An elementwise operation, divided into rows: the inner runs of its plan.
pub(super) struct RowJob {
    run: DenseLoop,
    /// The dims over rows.
    outer: Plan,
    columns: usize,
    /// The most rows and columns processed at a time.
    rows: usize,
    limit: usize,
    /// Whether rows are short, so that the loop processes several at once.
    short: bool,
    operands: [BlockOperand; OPERANDS],
    count: usize,
    /// The non-temporal stores that write the results, if they are used. Results are then contiguous and
    /// staged in a block.
    past: Option<NonTemporal>,
}

impl RowJob {
    pub(super) fn new(
        kernel: &Kernel,
        plan: &Plan,
        dest: Place,
        inputs: &[Place],
        in_place: bool,
    ) -> Self {
        let (inner, outer) = (plan.inner(), plan.outer());
        let short = inner.size < LONG;
        let operand =
            |index, place, dtype, dest| feed(plan, &outer, index, place, dtype, dest, short);
        let mut operands = [operand(0, dest, kernel.output, true); OPERANDS];
        for (i, (&place, &dtype)) in inputs.iter().zip(&kernel.inputs).enumerate() {
            operands[i + 1] = operand(i + 1, place, dtype, false);
        }
        let mut run = kernel.pick();
        if in_place {
            let mut ptrs: Inputs = [std::ptr::null(); 4];
            for (ptr, place) in ptrs.iter_mut().zip(inputs) {
                *ptr = place.ptr.cast_const();
            }
            let direct = operands[..2]
                .iter()
                .all(|one| one.feed == OperandFeed::Direct);
            match kernel.pick_own() {
                Some(own) if direct && is_first(dest.ptr, &ptrs) => run = own,
                // The loop assumes that its result overlaps no input.
                _ => operands[0].feed = OperandFeed::Block,
            }
        }
        let count = inputs.len() + 1;
        let past = past(plan, dest, inputs).filter(|_| {
            let size = dest.dtype.size();
            let adjacent = |step: isize| step == size as isize;
            !in_place
                && if short {
                    plan.is_linear(0, size)
                } else {
                    adjacent(operands[0].step)
                }
        });
        let blocks = operands[..count]
            .iter()
            .filter(|operand| operand.feed != OperandFeed::Direct);
        let fits = blocks
            .clone()
            .map(|operand| BLOCK / operand.size as usize)
            .min();
        let crossed = blocks
            .filter(|operand| operand.feed == OperandFeed::Block)
            .any(|operand| operand.row_step.abs() < operand.step.abs() && operand.row_step != 0);
        // Tiles are too narrow for whole cache lines.
        let past = past.filter(|_| !crossed);
        let fits = match past {
            None => fits,
            Some(_) => {
                operands[0].feed = OperandFeed::Block;
                let most = nontemporal::BLOCK / dest.dtype.size();
                Some(fits.map_or(most, |fits| fits.min(most)))
            }
        };
        let (rows, limit) = match fits {
            None if short => (usize::MAX, inner.size),
            None => (1, usize::MAX),
            Some(fits) if short => (fits / inner.size.max(1), inner.size),
            Some(fits) if crossed => (TILE, fits / TILE),
            Some(fits) => (1, fits),
        };
        Self {
            run,
            outer,
            columns: inner.size,
            rows,
            limit,
            short,
            operands,
            count,
            past,
        }
    }

    /// Computes all elements, on several threads if that pays.
    ///
    /// # Safety
    /// The requirements of [`super::execute`].
    pub(super) unsafe fn run(&self) {
        let (rows, columns) = (self.outer.numel(), self.columns);
        if self.short || rows >= 4 * threads() {
            // SAFETY: ranges share no row.
            split_by_time(rows, columns, &|rows| unsafe {
                self.part(rows, 0..columns)
            });
        } else {
            // SAFETY: ranges share no column.
            split_by_time(columns, rows, &|columns| unsafe {
                self.part(0..rows, columns)
            });
        }
    }

    /// Computes some columns of some rows; all columns if rows are short.
    ///
    /// # Safety
    /// The requirements of [`super::execute`]; nobody else writes to this part of the result meanwhile.
    unsafe fn part(&self, rows: Range<usize>, columns: Range<usize>) {
        if rows.is_empty() || columns.is_empty() {
            return;
        }
        // Uninitialised until filled, so that operations without blocks do not pay for them.
        let mut scratch = [const { MaybeUninit::<OperandBlock>::uninit() }; OPERANDS + 1];
        let blocks = scratch
            .each_mut()
            .map(|block| block.as_mut_ptr().cast::<u8>());
        let width = columns.len().min(self.limit);
        let height = rows.len().min(self.rows);
        for (i, operand) in self.operands[..self.count].iter().enumerate() {
            if operand.feed == OperandFeed::Repeated {
                // A number repeats along rows, too; its `step` is zero. SAFETY: its elements are readable;
                // the block has room for rows and columns.
                unsafe { operand.gather(operand.base.get(), blocks[i], [height, width]) };
            }
        }
        let (mut walk, mut left) = (self.outer.walk(rows.start), rows.len());
        while left > 0 {
            let (height, offsets) = walk.take(left.min(self.rows));
            left -= height;
            let mut at = columns.start;
            while at < columns.end {
                let mut width = self.limit.min(columns.end - at);
                if self.past.is_some() && !self.short {
                    let dest = &self.operands[0];
                    let to = dest.base.get();
                    let to = to.wrapping_offset(offsets[0] + at as isize * dest.step);
                    width = NonTemporal::until_block(to, dest.step as usize, width);
                }
                // SAFETY: a tile within the rows and columns; the blocks have room for it.
                unsafe { self.tile(&offsets, at as isize, [height, width], &blocks) };
                at += width;
            }
        }
        if let Some(past) = self.past {
            past.settle();
        }
    }

    /// Computes adjacent rows from column `at` on; `offsets` are relative to the operands' bases.
    ///
    /// # Safety
    /// The requirements of [`RowJob::part`]; the tile fits in the blocks.
    unsafe fn tile(
        &self,
        offsets: &Steps,
        at: isize,
        [height, width]: [usize; 2],
        blocks: &[*mut u8; OPERANDS + 1],
    ) {
        let [first, rest @ .., last] = blocks;
        let mut ptrs = [*first; OPERANDS];
        ptrs[1..].copy_from_slice(rest);
        // The distance in bytes between rows, in the buffers that the loop accesses.
        let mut strides = [0; OPERANDS];
        for (i, operand) in self.operands[..self.count].iter().enumerate() {
            // SAFETY: the offset is that of an element of the operand.
            let first = unsafe { operand.base.get().offset(offsets[i] + at * operand.step) };
            strides[i] = width as isize * operand.size;
            match operand.feed {
                OperandFeed::Direct => (ptrs[i], strides[i]) = (first, operand.row_step),
                // SAFETY: elements of the tile, which fit in the block.
                OperandFeed::Block if i > 0 => unsafe {
                    operand.gather(first, blocks[i], [height, width])
                },
                OperandFeed::Block | OperandFeed::Repeated => {}
            }
        }
        // Short rows that are adjacent in every operand, as `feed` ensures, form one run.
        let (calls, n) = if self.short {
            (1, height * width)
        } else {
            (height, width)
        };
        for row in 0..calls as isize {
            let mut ptrs = ptrs;
            for (ptr, stride) in ptrs.iter_mut().zip(&strides) {
                *ptr = ptr.wrapping_offset(row * stride);
            }
            let inputs: Inputs = [ptrs[1], ptrs[2], ptrs[3], ptrs[4]].map(<*mut u8>::cast_const);
            // SAFETY: dense operands in the kernel's dtypes; the result overlaps none of them.
            unsafe { (self.run)(n, ptrs[0], inputs) };
        }
        let dest = &self.operands[0];
        if dest.feed == OperandFeed::Block {
            // SAFETY: the block holds the tile's results; the tile has room for them.
            unsafe {
                let first = dest.base.get().offset(offsets[0] + at * dest.step);
                match self.past {
                    None => dest.scatter(blocks[0], first, [height, width]),
                    Some(past) => dest.pass(past, [blocks[0], *last], first, height * width),
                }
            }
        }
    }
}

/// Returns the non-temporal stores for the results of a large operation.
fn past(plan: &Plan, dest: Place, inputs: &[Place]) -> Option<NonTemporal> {
    let moving = |&(i, _): &(usize, &Place)| !plan.is_constant(i + 1);
    let sizes = inputs.iter().enumerate().filter(moving);
    let sizes = sizes.map(|(_, place)| place.dtype.size());
    let bytes = dest.dtype.size() + sizes.sum::<usize>();
    NonTemporal::for_bytes(plan.numel().saturating_mul(bytes))
}

/// Decides how an operand reaches the loop, which reads or writes it as `dtype`.
fn feed(
    plan: &Plan,
    outer: &Plan,
    index: usize,
    place: Place,
    dtype: DType,
    dest: bool,
    short: bool,
) -> BlockOperand {
    let Dim { steps, .. } = plan.inner();
    let (step, row_step) = (steps[index], outer.inner().steps[index]);
    let size = place.dtype.size();
    let dense = if short {
        plan.is_linear(index, size)
    } else {
        step == size as isize
    };
    let feed = if place.dtype == dtype && dense {
        OperandFeed::Direct
    } else if !dest && outer.is_constant(index) && (short || step == 0) {
        OperandFeed::Repeated
    } else {
        OperandFeed::Block
    };
    let (from, to) = if dest {
        (dtype, place.dtype)
    } else {
        (place.dtype, dtype)
    };
    let cast = Cast::new(from, to);
    BlockOperand {
        base: Shared(place.ptr),
        feed,
        cast,
        step,
        row_step,
        size: dtype.size() as isize,
    }
}

impl BlockOperand {
    /// Gathers a tile into a block: row by row, or column by column if rows are short.
    ///
    /// # Safety
    /// The tile is readable from `first` on and fits in the block.
    unsafe fn gather(&self, first: *const u8, block: *mut u8, [height, width]: [usize; 2]) {
        let (size, row) = (self.size, self.size * width as isize);
        // SAFETY: guaranteed by the caller.
        unsafe {
            if width < height {
                for j in 0..width as isize {
                    let source = first.offset(j * self.step);
                    self.cast
                        .run(height, source, self.row_step, block.offset(j * size), row);
                }
            } else {
                for i in 0..height as isize {
                    let source = first.offset(i * self.row_step);
                    self.cast
                        .run(width, source, self.step, block.offset(i * row), size);
                }
            }
        }
    }

    /// Writes `n` contiguous elements from a block by non-temporal stores. If they need conversion, they
    /// pass through the second block.
    ///
    /// # Safety
    /// There is room for `n` elements from `first` on; the first block holds them, and the second has room
    /// for them.
    unsafe fn pass(&self, past: NonTemporal, blocks: [*mut u8; 2], first: *mut u8, n: usize) {
        let [mut block, spare] = blocks;
        let size = self.cast.sizes()[1];
        // SAFETY: guaranteed by the caller.
        unsafe {
            if !self.cast.copies() {
                self.cast.run(n, block, self.size, spare, size);
                block = spare;
            }
            past.copy(block, first, n * size as usize);
        }
    }

    /// Scatters a tile from a block to its destination.
    ///
    /// # Safety
    /// The tile is writable from `first` on, and the block holds it.
    unsafe fn scatter(&self, block: *const u8, first: *mut u8, [height, width]: [usize; 2]) {
        let (size, row) = (self.size, self.size * width as isize);
        // SAFETY: guaranteed by the caller.
        unsafe {
            if width < height {
                for j in 0..width as isize {
                    let dest = first.offset(j * self.step);
                    self.cast
                        .run(height, block.offset(j * size), row, dest, self.row_step);
                }
            } else {
                for i in 0..height as isize {
                    let dest = first.offset(i * self.row_step);
                    self.cast
                        .run(width, block.offset(i * row), size, dest, self.step);
                }
            }
        }
    }
}
