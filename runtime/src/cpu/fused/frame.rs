//! Runs a program over blocks of its result. The blocks are divided among threads, each of which has its
//! own frame of intermediate blocks.

use std::mem::MaybeUninit;

use nomina_core::{DType, Result};

use super::compile::{BlockLoop, Compiled};
use super::walk::{Feed, Reads, WalkOperands};
use crate::SmallVec;
use crate::cpu::nontemporal::NonTemporal;
use crate::cpu::parallel::{GRAIN, Shared, try_split};
use crate::cpu::pointwise::Inputs;
use crate::cpu::reduce::{Elements, Make, execute_made};
use crate::cpu::simd::prefetch_bytes;
use crate::job::{Constant, FusedJob, ReduceJob};
use crate::memory::{NoMemory, Scratch};
use crate::shape::{count, product};

/// The approximate bytes of all blocks together; they fit in the first-level cache.
const CACHE: usize = 24 * 1024;
/// The most elements of a block, and the fewest.
const LONGEST: usize = 1024;
const SHORTEST: usize = 128;
/// The most bytes of a large operand per block: the distance that the hardware prefetcher covers.
const NEAR: usize = 1024;
/// The number of elements from which operands are large.
const LARGE: usize = 1 << 17;
/// The number of elements from which operands are also prefetched by instructions.
const FAR: usize = 1 << 22;

/// The size of a cache line, to which blocks are aligned.
const LINE: usize = 64;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct CacheLine([u8; LINE]);

/// Cache lines on the stack; larger frames are allocated.
const LINES: usize = CACHE / LINE + 24;

/// Computes a program.
///
/// # Safety
/// The inputs' positions are readable. The result is dense, overlaps no input, and nobody else accesses it.
pub(crate) unsafe fn execute(job: &FusedJob<'_>) -> Result<()> {
    let numel = count(job.shape);
    if numel == 0 {
        return Ok(());
    }
    let mut chain = SharedProgram::new(job);
    chain.compiled.build(job, &chain.operands)?;
    let places = job.inputs.iter().map(|(place, _)| place);
    let places = places.chain(job.also.iter().map(|(_, place)| place));
    let sizes = places.map(|place| place.dtype.size());
    chain.past =
        NonTemporal::for_bytes(numel.saturating_mul(sizes.sum::<usize>() + job.dest.dtype.size()));
    let (dest, size) = (Shared(job.dest.ptr), job.dest.dtype.size());
    let done = try_split(numel, GRAIN, &|range| {
        let to = dest.get().wrapping_add(product([range.start, size]));
        with(&chain, range.len(), |frame| {
            // SAFETY: ranges share no element of the result.
            unsafe { frame.run(range.start, range.len(), to, range.end) };
            Ok(())
        })
    });
    done.map_err(|error| error.in_op(job.op))
}

/// Computes a program and reduces its result. Returns false, without having done anything, if the reduction
/// would read the elements in an order other than their memory order.
///
/// # Safety
/// The requirements of [`execute`] for the result of the reduction; the program's result is not empty.
pub(crate) unsafe fn reduce(job: &FusedJob<'_>, reduce: &ReduceJob<'_>) -> Result<bool> {
    let mut chain = SharedProgram::new(job);
    chain.compiled.build(job, &chain.operands)?;
    // SAFETY: the program's shape and strides are those of the reduction's operand.
    unsafe { execute_made(reduce, &chain) }.map_err(|error| error.in_op(job.op))
}

/// A program that any thread can compute.
pub(super) struct SharedProgram {
    compiled: Compiled,
    operands: WalkOperands,
    dtype: DType,
    numel: usize,
    /// The non-temporal stores that write the result, if they are used.
    past: Option<NonTemporal>,
}

impl SharedProgram {
    /// Creates an uncompiled chain. It is compiled in place, so that the result is not moved.
    fn new(job: &FusedJob<'_>) -> Self {
        Self {
            compiled: Compiled::default(),
            operands: WalkOperands::new(job),
            dtype: job.dest.dtype,
            numel: job.shape.iter().product(),
            past: None,
        }
    }
}

impl Make for SharedProgram {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn with(
        &self,
        f: &mut dyn FnMut(&mut dyn Elements) -> Result<(), NoMemory>,
    ) -> Result<(), NoMemory> {
        with(self, usize::MAX, |frame| f(frame))
    }
}

/// The state with which one thread computes a program.
pub(super) struct Frame<'a> {
    chain: &'a SharedProgram,
    /// The block of each slot; 0 is the result itself.
    ptrs: SmallVec<[*mut u8; 24]>,
    /// The most elements processed at a time.
    block: usize,
    /// The non-temporal stores for results, and the staging block for them.
    passing: Option<(NonTemporal, *mut u8)>,
}

/// Calls `f` with a frame for runs of at most `most` elements.
///
/// # Errors
/// If memory for many blocks cannot be allocated, or if `f` fails.
pub(super) fn with(
    chain: &SharedProgram,
    most: usize,
    f: impl FnOnce(&mut Frame<'_>) -> Result<(), NoMemory>,
) -> Result<(), NoMemory> {
    let compiled = &chain.compiled;
    let block = block(chain, most);
    let lines = |size: usize| (block * size).div_ceil(LINE);
    let passing = chain.past.map_or(0, |_| lines(chain.dtype.size()));
    let blocks = compiled.slots.iter().map(|&size| lines(size));
    let total = blocks.sum::<usize>() + passing;
    let mut stack = [const { MaybeUninit::<CacheLine>::uninit() }; LINES];
    let mut heap;
    let mut at = if total <= LINES {
        stack.as_mut_ptr().cast::<CacheLine>()
    } else {
        heap = Scratch::<MaybeUninit<CacheLine>>::uninit([total])?;
        heap.as_mut_ptr().cast()
    };
    let mut frame = Frame {
        chain,
        ptrs: SmallVec::new(),
        block,
        passing: chain.past.map(|past| (past, at.cast())),
    };
    at = at.wrapping_add(passing);
    frame.ptrs.push(std::ptr::null_mut());
    for &size in &compiled.slots {
        frame.ptrs.push(at.cast());
        at = at.wrapping_add(lines(size));
    }
    frame.fill();
    let result = f(&mut frame);
    if let Some(past) = chain.past {
        past.settle();
    }
    result
}

/// Returns the number of elements to process at a time, for runs of at most `most`.
fn block(chain: &SharedProgram, most: usize) -> usize {
    let widths = chain.compiled.slots.iter().sum::<usize>().max(1);
    let mut block = (CACHE / widths).clamp(SHORTEST, LONGEST);
    if chain.numel >= LARGE {
        block = block.min(NEAR / chain.dtype.size());
    }
    let row = chain.operands.row;
    if chain.operands.short {
        // Whole rows, so that operands that repeat per row fill their blocks only once.
        block.min(most.max(row)).max(row) / row * row
    } else {
        // Equal parts of a row.
        let parts = row.div_ceil(block);
        let part = row.div_ceil(parts).next_multiple_of(LINE / 4);
        part.min(most.max(1))
    }
}

impl Frame<'_> {
    /// Fills the blocks whose content never changes.
    fn fill(&mut self) {
        let (compiled, n) = (&self.chain.compiled, self.block);
        for constant in &compiled.constants {
            let element = Constant::new(constant.value, constant.dtype);
            let size = constant.dtype.size() as isize;
            let block = self.ptrs[constant.slot];
            // SAFETY: the slot holds a block of the dtype.
            unsafe { constant.cast.run(n, element.as_ptr(), 0, block, size) };
        }
        for feed in &compiled.feeds {
            let operand = &self.chain.operands.each[feed.operand];
            let block = self.ptrs[feed.home];
            // SAFETY: elements of the operand; the slot holds a block, which is whole rows if they repeat.
            unsafe {
                match feed.reads {
                    Reads::Once => feed.cast.run(n, operand.base.get(), 0, block, feed.size),
                    Reads::Rows => {
                        let row = self.chain.operands.row;
                        for start in (0..n).step_by(row) {
                            let to = block.wrapping_add(start * feed.size as usize);
                            let from = operand.base.get();
                            feed.cast.run(row, from, operand.inner(), to, feed.size);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Computes `n` elements of the result from `start` on, in memory order, and prefetches those at
    /// `next`, which are likely to follow.
    ///
    /// # Safety
    /// The elements are within the result and the inputs; there is room for `n` at `to`, which overlaps no
    /// input.
    pub(super) unsafe fn run(&mut self, start: usize, n: usize, to: *mut u8, next: usize) {
        let (row, short) = (self.chain.operands.row, self.chain.operands.short);
        let size = self.chain.dtype.size();
        let (mut at, end) = (start, start + n);
        while at < end {
            let column = at % row;
            let most = if short { self.block } else { row };
            let n = self.block.min(most - column).min(end - at);
            let to = to.wrapping_add((at - start) * size);
            // Non-temporal stores write whole cache lines, so blocks end at line boundaries.
            let within = to.addr() % LINE / size;
            let n = if self.passing.is_some() && n == self.block && n > LINE {
                n - within
            } else {
                n
            };
            let next = if at + n < end { at + n } else { next };
            // SAFETY: guaranteed by the caller; blocks have room for `n`.
            unsafe { self.tile(at, n, to, next) };
            at += n;
        }
    }

    /// Computes `n` elements, within a row unless rows are short, and prefetches those at `next`.
    ///
    /// # Safety
    /// The requirements of [`Frame::run`]; blocks have room for `n` elements.
    unsafe fn tile(&mut self, start: usize, n: usize, to: *mut u8, next: usize) {
        let SharedProgram {
            compiled, operands, ..
        } = self.chain;
        let column = start % operands.row;
        for feed in &compiled.feeds {
            let operand = &operands.each[feed.operand];
            let home = self.ptrs[feed.home];
            self.ptrs[feed.slot] = match feed.reads {
                Reads::Dense => {
                    let offset = start as isize * operand.size;
                    operand.base.get().wrapping_offset(offset)
                }
                Reads::Direct => operands.at(operand, start),
                Reads::Rows => home.wrapping_add(column * feed.size as usize),
                Reads::Once => home,
                Reads::Block => {
                    // SAFETY: elements of the operand, for which the block has room.
                    unsafe { operands.gather(feed, start, n, home) };
                    home
                }
            };
        }
        self.ptrs[0] = self.passing.map_or(to, |(_, block)| block);
        let steps = compiled.steps.len();
        for (i, step) in compiled.steps.iter().enumerate() {
            if self.chain.numel >= FAR {
                self.fetch(next, n, i, steps);
            }
            match *step {
                BlockLoop::Loop { run, out, from } => {
                    let inputs: Inputs = from.map(|at| self.ptrs[at].cast_const());
                    // SAFETY: blocks in the kernel's dtypes; the result's block is not one of the inputs'.
                    unsafe { run(n, self.ptrs[out], inputs) };
                }
                BlockLoop::Cast {
                    cast,
                    out,
                    from,
                    sizes,
                } => {
                    let source = self.ptrs[from];
                    // SAFETY: two different blocks in the cast's dtypes.
                    unsafe { cast.run(n, source, sizes[0], self.ptrs[out], sizes[1]) };
                }
            }
        }
        for &(slot, to, size) in &compiled.stored {
            let to = to.get().wrapping_add(start * size);
            // SAFETY: the block holds `n` elements, for which there is room.
            unsafe {
                match self.passing {
                    Some((past, _)) => past.copy(self.ptrs[slot], to, n * size),
                    None => to.copy_from_nonoverlapping(self.ptrs[slot], n * size),
                }
            }
        }
        if let Some((past, block)) = self.passing {
            // SAFETY: the block holds `n` results, for which there is room.
            unsafe { past.copy(block, to, n * self.chain.dtype.size()) };
        }
    }

    /// Prefetches one of `parts` parts of the `n` elements at `next`, so that memory is busy while the
    /// loops compute.
    #[inline]
    fn fetch(&self, next: usize, n: usize, part: usize, parts: usize) {
        let SharedProgram {
            compiled, operands, ..
        } = self.chain;
        let ahead = |feed: &&Feed| feed.reads == Reads::Dense;
        for feed in compiled.feeds.iter().filter(ahead) {
            let size = feed.size as usize;
            let base = operands.each[feed.operand].base.get();
            let (start, end) = (n * size * part / parts, n * size * (part + 1) / parts);
            prefetch_bytes(base.wrapping_add(next * size + start), end - start);
        }
    }
}

impl Elements for Frame<'_> {
    unsafe fn produce(&mut self, at: usize, n: usize, to: *mut u8, next: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.run(at, n, to, next) };
    }
}
