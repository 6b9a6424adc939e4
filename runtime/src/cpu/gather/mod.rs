//! Gather and scatter kernels.
//!
//! All of them are one double loop: over the elements of an index along a dim, and over the other
//! dims of the operands. The interface to operators is [`IndexJob`].

mod accumulate;
mod combine;
mod nonzero;
mod pick;
mod update;

#[cfg(test)]
mod tests;

use crate::cpu::parallel::threads;
use crate::job::IndexJob;
use crate::plan::Plan;

pub(crate) use nonzero::{count, positions};
pub(crate) use pick::pick;
pub(crate) use update::{takes, update};

/// Part of a job: a range along the index times a range along the innermost other dim.
#[derive(Clone, Copy)]
struct IndexTile {
    target: *mut u8,
    other: *mut u8,
    index: *const u8,
    /// The number of elements of the inner dim, and along the index.
    inner: usize,
    along: usize,
}

/// The most elements of a tile.
const TILE: usize = 1 << 14;

/// The most bytes of a row that are prefetched while the row before is processed; the processor fetches the rest by
/// itself.
const PREFETCHED: usize = 2048;

/// The fewest elements of an inner dim that a task takes if the dim has more.
const NARROW: usize = 256;

/// The number of elements of an inner dim that a task takes is a multiple of this, so that rows begin at cache lines.
const LANES: usize = 16;

/// The division of a job into tiles.
struct Cut {
    outer: Plan,
    inner: usize,
    inner_cells: usize,
    along: usize,
    along_cells: usize,
}

impl Cut {
    /// Divides the inner dim and, if `along`, the index.
    fn new(job: &IndexJob, along: bool) -> Self {
        let outer = job.rest.outer();
        let size = job.rest.inner().size.max(1);
        let mut inner = size.min(TILE);
        let along = if along {
            (TILE / inner).clamp(1, job.count.max(1))
        } else {
            // Each task walks the whole index, so there are only slightly more tasks than threads.
            let tasks = (2 * threads()).div_ceil(outer.numel().max(1));
            let cells = size.div_ceil(inner.min(size.div_ceil(tasks).max(NARROW)));
            inner = size.div_ceil(cells).next_multiple_of(LANES).min(size);
            job.count
        };
        Self {
            outer,
            inner,
            inner_cells: size.div_ceil(inner),
            along,
            along_cells: job.count.div_ceil(along.max(1)),
        }
    }

    fn cells(&self) -> usize {
        self.outer.numel() * self.inner_cells * self.along_cells
    }

    fn work(&self) -> usize {
        self.inner * self.along
    }

    fn tile(&self, job: &IndexJob, cell: usize) -> IndexTile {
        let (at, cell) = (
            cell % self.along_cells * self.along,
            cell / self.along_cells,
        );
        let (start, outer) = (
            cell % self.inner_cells * self.inner,
            cell / self.inner_cells,
        );
        let (_, offsets) = self.outer.walk(outer).take(1);
        let inner = job.rest.inner();
        let step = |operand: usize| offsets[operand] + start as isize * inner.steps[operand];
        let at_ = at as isize;
        IndexTile {
            target: job.target.ptr.wrapping_offset(step(0)),
            other: job
                .other
                .ptr
                .wrapping_offset(step(1) + at_ * job.other_step),
            index: job
                .index
                .cast::<u8>()
                .wrapping_offset(step(2) + at_ * job.index_step),
            inner: self.inner.min(inner.size - start),
            along: self.along.min(job.count - at),
        }
    }
}

/// Returns the smallest and the greatest number of an index, which is operand 0 of the plan; `None`
/// if it is empty.
///
/// # Safety
/// The plan's positions of `index` are readable.
pub(crate) unsafe fn extremes(plan: &Plan, index: *const i64) -> Option<(i64, i64)> {
    use std::sync::atomic::{AtomicI64, Ordering};

    use crate::cpu::parallel::{GRAIN, Shared};
    if plan.numel() == 0 {
        return None;
    }
    let chunks = plan.numel().div_ceil(GRAIN);
    let source = Shared(index.cast_mut().cast());
    let (least, most) = (AtomicI64::new(i64::MAX), AtomicI64::new(i64::MIN));
    let step = plan.inner().steps[0];
    crate::cpu::reduce::split::for_each(chunks, GRAIN, &|chunk| {
        let mut left = GRAIN.min(plan.numel() - chunk * GRAIN);
        let mut walk = plan.walk(chunk * GRAIN);
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        while left > 0 {
            let (n, [offset, ..]) = walk.take(left);
            left -= n;
            for i in 0..n as isize {
                // SAFETY: a position of the plan.
                let value = unsafe { source.get().offset(offset + i * step).cast::<i64>().read() };
                (low, high) = (low.min(value), high.max(value));
            }
        }
        least.fetch_min(low, Ordering::Relaxed);
        most.fetch_max(high, Ordering::Relaxed);
    });
    Some((least.into_inner(), most.into_inner()))
}
