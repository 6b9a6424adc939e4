//! Gathers: reading at indices.

use super::{Cut, Tile};
use crate::cpu::reduce::split::for_each;
use crate::job::IndexJob;

/// Writes to each place of the other the element of the target that the index names there.
///
/// # Safety
/// The operands lie where the job says, every index is in range; nobody else uses the other
/// meanwhile, and no two of its places are the same.
pub(crate) unsafe fn pick(job: &IndexJob) {
    let cut = Cut::new(job, true);
    let run = match job.target.dtype.size() {
        1 => tile::<1>,
        2 => tile::<2>,
        4 => tile::<4>,
        8 => tile::<8>,
        _ => tile::<16>,
    };
    for_each(cut.cells(), cut.work(), |cell| {
        // SAFETY: guaranteed by the caller; each tile has places of its own.
        unsafe { run(job, cut.tile(job, cell)) };
    });
}

/// # Safety
/// The requirements of [`pick`], of one tile.
unsafe fn tile<const N: usize>(job: &IndexJob, tile: Tile) {
    let [from, to, by, ..] = job.rest.inner().steps;
    let at = |k: isize, j: isize| {
        let index = tile.index.wrapping_offset(k * job.index_step + j * by);
        // SAFETY: a place of the index.
        let index = unsafe { index.cast::<i64>().read() } as isize;
        tile.target
            .wrapping_offset(index * job.target_step + j * from)
    };
    let (size, across) = (N as isize, (tile.inner as isize, tile.along as isize));
    if by == 0 && from == size && to == size && tile.inner > 1 {
        for k in 0..across.1 {
            let row = tile.other.wrapping_offset(k * job.other_step);
            // SAFETY: adjacent elements of both, `inner` many.
            unsafe { row.copy_from_nonoverlapping(at(k, 0), tile.inner * N) };
        }
        return;
    }
    let copy = |k: isize, j: isize| {
        let to = tile.other.wrapping_offset(k * job.other_step + j * to);
        // SAFETY: one element of each.
        unsafe { to.copy_from_nonoverlapping(at(k, j), N) };
    };
    if to.abs() <= job.other_step.abs() {
        (0..across.1).for_each(|k| (0..across.0).for_each(|j| copy(k, j)));
    } else {
        (0..across.0).for_each(|j| (0..across.1).for_each(|k| copy(k, j)));
    }
}
