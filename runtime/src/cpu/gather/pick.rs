//! Gathers: reading at indices.

use super::{Cut, IndexTile, PREFETCHED};
use crate::cpu::reduce::split::for_each;
use crate::cpu::simd::prefetch_bytes;
use crate::job::IndexJob;

/// Copies the elements of the target at the given indices to the other operand.
///
/// # Safety
/// The operands are in bounds, every index is in range, and the positions of the other operand are
/// distinct; nobody else accesses it meanwhile.
pub(crate) unsafe fn pick(job: &IndexJob) {
    let cut = Cut::new(job, true);
    let run = match job.target.dtype.size() {
        1 => tile::<1>,
        2 => tile::<2>,
        4 => tile::<4>,
        8 => tile::<8>,
        _ => tile::<16>,
    };
    for_each(cut.cells(), cut.work(), &|cell| {
        // SAFETY: guaranteed by the caller; each tile owns its elements.
        unsafe { run(job, cut.tile(job, cell)) };
    });
}

/// Gathers one tile.
///
/// # Safety
/// The requirements of [`pick`], for one tile.
unsafe fn tile<const N: usize>(job: &IndexJob, tile: IndexTile) {
    let [from, to, by, ..] = job.rest.inner().steps;
    let at = |k: isize, j: isize| {
        let index = tile.index.wrapping_offset(k * job.index_step + j * by);
        // SAFETY: an element of the index.
        let index = unsafe { index.cast::<i64>().read() } as isize;
        tile.target
            .wrapping_offset(index * job.target_step + j * from)
    };
    let (size, across) = (N as isize, (tile.inner as isize, tile.along as isize));
    if by == 0 && from == size && to == size && tile.inner > 1 {
        for k in 0..across.1 {
            if k + 1 < across.1 {
                prefetch_bytes(at(k + 1, 0), PREFETCHED.min(tile.inner * N));
            }
            let row = tile.other.wrapping_offset(k * job.other_step);
            // SAFETY: `inner` contiguous elements of both operands.
            unsafe { row.copy_from_nonoverlapping(at(k, 0), tile.inner * N) };
        }
        return;
    }
    let copy = |k: isize, j: isize| {
        let to = tile.other.wrapping_offset(k * job.other_step + j * to);
        // SAFETY: one element of each operand.
        unsafe { to.copy_from_nonoverlapping(at(k, j), N) };
    };
    if to.abs() <= job.other_step.abs() {
        (0..across.1).for_each(|k| (0..across.0).for_each(|j| copy(k, j)));
    } else {
        (0..across.0).for_each(|j| (0..across.1).for_each(|k| copy(k, j)));
    }
}
