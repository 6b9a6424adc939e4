//! Chains of elementwise operators.
//!
//! A program becomes a list of dense loops over blocks; a chunk of the result runs through all of
//! them while its blocks are in the first-level cache. Kernels are those of [`super::pointwise`]:
//! what differs is only that results between go to a block instead of a tensor, in the dtype that
//! the tensor would have had.

mod compile;
mod walk;

#[cfg(test)]
mod tests;

use std::mem::MaybeUninit;
use std::ops::Range;

use nomina_core::Result;

use crate::call::FusedJob;
use crate::cpu::constant::Constant;
use crate::cpu::parallel::{GRAIN, Shared, try_split};
use crate::cpu::pointwise::Inputs;
use crate::memory::{NoMemory, Scratch};
use compile::{Compiled, Step};
use walk::Operand;

/// Bytes of the blocks of all values together, about: they fit into the first-level cache.
const CACHE: usize = 24 * 1024;
/// The most elements of a block, and the fewest.
const LONGEST: usize = 1024;
const SHORTEST: usize = 128;

/// Blocks are aligned to the lines of the cache.
const LINE: usize = 64;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// Computes a program.
///
/// # Safety
/// The inputs' positions are readable, those of the result writable by nobody else; it is dense
/// and overlaps no input.
pub(crate) unsafe fn execute(job: &FusedJob<'_>) -> Result<()> {
    let numel: usize = job.shape.iter().product();
    if numel == 0 {
        return Ok(());
    }
    let operands = walk::operands(job);
    let compiled = Compiled::new(job, &operands)?;
    let chain = Chain {
        compiled: &compiled,
        operands: &operands,
        dest: Shared(job.dest.ptr),
        size: job.dest.dtype.size(),
    };
    // SAFETY: ranges share no element of the result.
    try_split(numel, GRAIN, &|range| unsafe { chain.part(range) })
        .map_err(|error| error.in_op(job.op))
}

struct Chain<'a> {
    compiled: &'a Compiled,
    operands: &'a walk::Operands,
    dest: Shared,
    size: usize,
}

impl Chain<'_> {
    /// Computes some elements of the result, counted as they lie.
    ///
    /// # Safety
    /// As [`execute`]; nobody else writes to them meanwhile.
    unsafe fn part(&self, range: Range<usize>) -> Result<(), NoMemory> {
        let compiled = self.compiled;
        let widths = compiled.slots.iter().sum::<usize>().max(1);
        let block = (CACHE / widths).clamp(SHORTEST, LONGEST).min(range.len());
        let lines = |size: usize| (block * size).div_ceil(LINE);
        let total = compiled.slots.iter().map(|&size| lines(size)).sum();
        let mut scratch = Scratch::<MaybeUninit<Line>>::uninit(total)?;
        let mut ptrs = crate::SmallVec::<[*mut u8; 24]>::new();
        let mut at = scratch.as_mut_ptr().cast::<Line>();
        ptrs.push(std::ptr::null_mut());
        for &size in &compiled.slots {
            ptrs.push(at.cast());
            at = at.wrapping_add(lines(size));
        }
        for constant in &compiled.constants {
            let element = Constant::new(constant.value, constant.dtype);
            let size = constant.dtype.size() as isize;
            // SAFETY: the slot holds a block of the dtype.
            unsafe {
                constant
                    .cast
                    .run(block, element.as_ptr(), 0, ptrs[constant.slot], size)
            };
        }
        for feed in &compiled.feeds {
            let operand = &self.operands.each[feed.operand];
            if operand.constant && !feed.direct(operand) {
                // SAFETY: an operand's element; the slot holds a block.
                unsafe {
                    feed.cast
                        .run(block, operand.base.get(), 0, ptrs[feed.slot], feed.size)
                };
            }
        }
        let mut start = range.start;
        while start < range.end {
            let n = block.min(range.end - start);
            // SAFETY: the elements are the caller's; blocks have room for `n`.
            unsafe { self.tile(start, n, &mut ptrs) };
            start += n;
        }
        Ok(())
    }

    /// # Safety
    /// As [`Chain::part`]; `ptrs` are blocks with room for `n` elements.
    unsafe fn tile(&self, start: usize, n: usize, ptrs: &mut [*mut u8]) {
        for feed in &self.compiled.feeds {
            let operand: &Operand = &self.operands.each[feed.operand];
            if feed.direct(operand) {
                let offset = start as isize * operand.size;
                ptrs[feed.slot] = operand.base.get().wrapping_offset(offset);
            } else if !operand.constant {
                // SAFETY: the elements are the operand's; the block has room for them.
                unsafe { self.operands.gather(feed, start, n, ptrs[feed.slot]) };
            }
        }
        ptrs[0] = self.dest.get().wrapping_add(start * self.size);
        for step in &self.compiled.steps {
            match *step {
                Step::Loop { run, out, from } => {
                    let inputs: Inputs = from.map(|at| ptrs[at].cast_const());
                    // SAFETY: blocks in the kernel's dtypes; the result's is none of the inputs'.
                    unsafe { run(n, ptrs[out], inputs) };
                }
                Step::Cast {
                    cast,
                    out,
                    from,
                    sizes,
                } => {
                    // SAFETY: blocks in the cast's dtypes, two of them.
                    unsafe { cast.run(n, ptrs[from], sizes[0], ptrs[out], sizes[1]) };
                }
            }
        }
    }
}
