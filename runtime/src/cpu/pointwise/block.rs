//! Feeding dense loops from operands that are not dense.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::kernel::{Inputs, Kernel, Loop};
use crate::backend::Place;
use crate::cpu::cast::Cast;
use crate::cpu::parallel::Shared;
use crate::plan::{OPERANDS, Plan, Walk};

/// Bytes per operand that pass through the cache at a time; four of them fit into its first level.
const BLOCK: usize = 4096;

/// A run of at least this many elements is worth a call of the loop of its own.
const LONG: usize = 128;

/// Scratch space of one operand.
#[repr(C, align(64))]
struct Scratch([MaybeUninit<u8>; BLOCK]);

/// How an operand reaches the loop.
#[derive(Clone, Copy)]
enum Feed {
    /// Read or written where it lies: the elements of a run, or of all runs, are adjacent.
    Direct,
    /// One element for all of the operation, copied into the block once.
    Constant,
    /// Gathered into the block, or scattered from it.
    Block,
}

/// An elementwise operation, ready to run on any range.
pub(super) struct Job<'a> {
    plan: &'a Plan,
    run: Loop,
    /// Elements per call of the loop.
    limit: usize,
    /// Whether calls end with the runs of the plan.
    by_run: bool,
    operands: [Operand; OPERANDS],
    count: usize,
}

#[derive(Clone, Copy)]
struct Operand {
    base: Shared,
    feed: Feed,
    cast: Cast,
    /// The distance in bytes between elements of a run.
    step: isize,
    /// The size of an element where it lies, and in the loop.
    size: usize,
    inner: usize,
}

impl<'a> Job<'a> {
    pub(super) fn new(
        kernel: &Kernel,
        plan: &'a Plan,
        dest: Place,
        inputs: &[Place],
        in_place: bool,
    ) -> Self {
        let by_run = plan.inner().size >= LONG;
        let mut operands = [Self::operand(plan, 0, dest, kernel.output, true, by_run); OPERANDS];
        for (i, (&place, &dtype)) in inputs.iter().zip(&kernel.inputs).enumerate() {
            operands[i + 1] = Self::operand(plan, i + 1, place, dtype, false, by_run);
        }
        // The loop assumes that its result overlaps no input.
        if in_place && matches!(operands[0].feed, Feed::Direct) {
            operands[0].feed = Feed::Block;
        }
        let count = inputs.len() + 1;
        let used = &operands[..count];
        let blocks = used
            .iter()
            .filter(|operand| !matches!(operand.feed, Feed::Direct));
        let widest = blocks.map(|operand| operand.inner).max();
        let limit = widest.map_or(usize::MAX, |size| BLOCK / size);
        Self {
            plan,
            run: kernel.pick(),
            limit,
            by_run,
            operands,
            count,
        }
    }

    fn operand(
        plan: &Plan,
        index: usize,
        place: Place,
        dtype: nomina_core::DType,
        dest: bool,
        by_run: bool,
    ) -> Operand {
        let (size, step) = (place.dtype.size(), plan.inner().steps[index]);
        let adjacent = if by_run {
            step == size as isize
        } else {
            plan.is_linear(index, size)
        };
        let feed = if place.dtype == dtype && adjacent {
            Feed::Direct
        } else if !dest && plan.is_constant(index) {
            Feed::Constant
        } else {
            Feed::Block
        };
        let (from, to) = if dest {
            (dtype, place.dtype)
        } else {
            (place.dtype, dtype)
        };
        let cast = Cast::new(from, to);
        Operand {
            base: Shared(place.ptr),
            feed,
            cast,
            step,
            size,
            inner: dtype.size(),
        }
    }

    /// Computes the elements of a range of the plan.
    ///
    /// # Safety
    /// As [`super::run`], and nobody else writes to the range meanwhile.
    pub(super) unsafe fn run(&self, range: Range<usize>) {
        // Indeterminate until filled, so that operations without blocks do not pay for them.
        let mut scratch = [const { MaybeUninit::<Scratch>::uninit() }; OPERANDS];
        let blocks = scratch
            .each_mut()
            .map(|block| block.as_mut_ptr().cast::<u8>());
        let most = self.limit.min(range.len());
        for (operand, &block) in self.operands[1..self.count].iter().zip(&blocks[1..]) {
            if let Feed::Constant = operand.feed {
                // SAFETY: the one element is readable; `limit` elements fit into the block.
                unsafe {
                    operand
                        .cast
                        .run(most, operand.base.get(), 0, block, operand.inner as isize);
                }
            }
        }
        let (mut walk, mut at) = (self.plan.walk(range.start), range.start);
        while at < range.end {
            let n = self.limit.min(range.end - at);
            // SAFETY: within the range, and at most `limit` elements.
            let n = unsafe {
                if self.by_run {
                    self.one_run(&mut walk, n, &blocks)
                } else {
                    self.many_runs(&mut walk, at, n, &blocks)
                }
            };
            at += n;
        }
    }

    /// # Safety
    /// As [`Job::run`]; `limit` is within the range and the blocks.
    unsafe fn one_run(
        &self,
        walk: &mut Walk<'_>,
        limit: usize,
        blocks: &[*mut u8; OPERANDS],
    ) -> usize {
        let (n, offsets) = walk.take(limit);
        let mut ptrs = *blocks;
        for (i, operand) in self.operands[..self.count].iter().enumerate() {
            // SAFETY: a run of the plan lies at this offset.
            let first = unsafe { operand.base.get().offset(offsets[i]) };
            match operand.feed {
                Feed::Direct => ptrs[i] = first,
                Feed::Block if i > 0 => {
                    // SAFETY: `n` elements of the run; they fit into the block.
                    unsafe {
                        operand
                            .cast
                            .run(n, first, operand.step, blocks[i], operand.inner as isize)
                    };
                }
                Feed::Block | Feed::Constant => {}
            }
        }
        // SAFETY: dense operands in the kernel's dtypes; the result overlaps none of them.
        unsafe { (self.run)(n, ptrs[0], inputs(&ptrs)) };
        let dest = &self.operands[0];
        if let Feed::Block = dest.feed {
            // SAFETY: the block holds `n` results; the run has room for them.
            unsafe {
                let first = dest.base.get().offset(offsets[0]);
                dest.cast
                    .run(n, blocks[0], dest.inner as isize, first, dest.step);
            }
        }
        n
    }

    /// # Safety
    /// As [`Job::run`]; `n` is within the range and the blocks.
    unsafe fn many_runs(
        &self,
        walk: &mut Walk<'_>,
        at: usize,
        n: usize,
        blocks: &[*mut u8; OPERANDS],
    ) -> usize {
        let mut ptrs = *blocks;
        let mut gathers = false;
        for (i, operand) in self.operands[..self.count].iter().enumerate() {
            match operand.feed {
                // SAFETY: the operand is linear over the whole plan.
                Feed::Direct => ptrs[i] = unsafe { operand.base.get().add(at * operand.size) },
                Feed::Block => gathers = true,
                Feed::Constant => {}
            }
        }
        let start = walk.clone();
        if gathers {
            let mut done = 0;
            while done < n {
                let (count, offsets) = walk.take(n - done);
                for (i, operand) in self.operands[..self.count].iter().enumerate().skip(1) {
                    if let Feed::Block = operand.feed {
                        // SAFETY: `count` elements of a run; the block has room for `n`.
                        unsafe {
                            let first = operand.base.get().offset(offsets[i]);
                            let block = blocks[i].add(done * operand.inner);
                            operand.cast.run(
                                count,
                                first,
                                operand.step,
                                block,
                                operand.inner as isize,
                            );
                        }
                    }
                }
                done += count;
            }
        }
        // SAFETY: dense operands in the kernel's dtypes; the result overlaps none of them.
        unsafe { (self.run)(n, ptrs[0], inputs(&ptrs)) };
        let dest = &self.operands[0];
        if let Feed::Block = dest.feed {
            let (mut walk, mut done) = (start, 0);
            while done < n {
                let (count, offsets) = walk.take(n - done);
                // SAFETY: the block holds `n` results; the run has room for `count`.
                unsafe {
                    let first = dest.base.get().offset(offsets[0]);
                    let block = blocks[0].add(done * dest.inner);
                    dest.cast
                        .run(count, block, dest.inner as isize, first, dest.step);
                }
                done += count;
            }
        }
        n
    }
}

fn inputs(ptrs: &[*mut u8; OPERANDS]) -> Inputs {
    [ptrs[1], ptrs[2], ptrs[3]].map(<*mut u8>::cast_const)
}
