//! Chains of elementwise operators.
//!
//! A program becomes a list of dense loops over blocks; a part of the result runs through all of
//! them while its blocks are in the first-level cache. Kernels are those of [`super::pointwise`]:
//! what differs is only that results between go to a block instead of a tensor, in the dtype that
//! the tensor would have had. What comes out is written to the result, or goes block by block into a
//! reduction and is never stored.

mod compile;
mod frame;
mod walk;

#[cfg(test)]
mod reduce_tests;
#[cfg(test)]
mod tests;

use nomina_core::{DType, Result};

use crate::cpu::nontemporal::NonTemporal;
use crate::cpu::parallel::{GRAIN, Shared, try_split};
use crate::cpu::reduce::{Elements, Make, execute_made};
use crate::job::{FusedJob, ReduceJob};
use crate::memory::NoMemory;
use crate::shape::{count, product};
use compile::Compiled;
use frame::Frame;
pub(crate) use walk::Operands;

/// Computes a program.
///
/// # Safety
/// The inputs' positions are readable, those of the result writable by nobody else; it is dense
/// and overlaps no input.
pub(crate) unsafe fn execute(job: &FusedJob<'_>) -> Result<()> {
    let numel = count(job.shape);
    if numel == 0 {
        return Ok(());
    }
    let mut chain = Chain::of(job);
    chain.compiled.build(job, &chain.operands)?;
    let places = job.inputs.iter().map(|(place, _)| place);
    let places = places.chain(job.also.iter().map(|(_, place)| place));
    let sizes = places.map(|place| place.dtype.size());
    chain.past =
        NonTemporal::of(numel.saturating_mul(sizes.sum::<usize>() + job.dest.dtype.size()));
    let (dest, size) = (Shared(job.dest.ptr), job.dest.dtype.size());
    let done = try_split(numel, GRAIN, &|range| {
        let to = dest.get().wrapping_add(product([range.start, size]));
        frame::with(&chain, range.len(), |frame| {
            // SAFETY: ranges share no element of the result.
            unsafe { frame.run(range.start, range.len(), to, range.end) };
            Ok(())
        })
    });
    done.map_err(|error| error.in_op(job.op))
}

/// Computes a program and reduces its result; false, and nothing has happened, where that takes the
/// result's elements in an order in which they do not lie.
///
/// # Safety
/// As [`execute`], of the reduction's result; the program's has elements.
pub(crate) unsafe fn reduce(job: &FusedJob<'_>, reduce: &ReduceJob<'_>) -> Result<bool> {
    let mut chain = Chain::of(job);
    chain.compiled.build(job, &chain.operands)?;
    // SAFETY: the program's shape and strides are those of the reduction's operand.
    unsafe { execute_made(reduce, &chain) }.map_err(|error| error.in_op(job.op))
}

/// A program, ready to be computed on any thread.
struct Chain {
    compiled: Compiled,
    operands: Operands,
    dtype: DType,
    numel: usize,
    /// How non-temporal stores write the result, if they do.
    past: Option<NonTemporal>,
}

impl Chain {
    /// Not compiled yet: what is built where it stands is not moved.
    fn of(job: &FusedJob<'_>) -> Self {
        Self {
            compiled: Compiled::default(),
            operands: Operands::new(job),
            dtype: job.dest.dtype,
            numel: job.shape.iter().product(),
            past: None,
        }
    }
}

impl Make for Chain {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn with(
        &self,
        f: &mut dyn FnMut(&mut dyn Elements) -> Result<(), NoMemory>,
    ) -> Result<(), NoMemory> {
        frame::with(self, usize::MAX, |frame| f(frame))
    }
}

impl Elements for Frame<'_> {
    unsafe fn put(&mut self, at: usize, n: usize, to: *mut u8, next: usize) {
        // SAFETY: passed on.
        unsafe { self.run(at, n, to, next) };
    }
}
