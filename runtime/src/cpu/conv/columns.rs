//! im2col and col2im: copies windows to columns, and sums columns into windows.

use super::add::add_rows;
use super::lower::{Lower, LowerOrder};
use super::number::compute;
use super::{elements, positions, taps};
use crate::job::{ColumnsJob, Sliding};

use crate::cpu::cast::Cast;
use crate::cpu::parallel::{GRAIN, split, try_split};
use crate::cpu::reduce::split::SmallScratch;
use crate::memory::NoMemory;

/// Runs `im2col` or `fold`.
///
/// # Safety
/// All elements are in bounds; nobody else accesses the result meanwhile.
pub(crate) unsafe fn execute(job: &ColumnsJob) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if job.fold {
            fold(job)
        } else {
            im2col(job);
            Ok(())
        }
    }
}

unsafe fn im2col(job: &ColumnsJob) {
    let mut windows = job.windows;
    if windows[2] == Sliding::NONE {
        // Lines are copied as a whole, and those of a single element would be slow.
        windows.rotate_right(1);
    }
    let [_, h, w] = &windows;
    let (rows, count, size) = (
        taps(&job.windows),
        positions(&job.windows),
        elements(&job.windows),
    );
    let element = job.dtype.size();
    split(job.planes, GRAIN / (rows * count).max(1), &|range| {
        for plane in range {
            let lower = Lower {
                windows: &windows,
                x: job.x.wrapping_add(plane * size * element),
                channels: 1,
                strides: [0, (h.size * w.size) as isize, w.size as isize, 1],
                from: 0,
                count,
            };
            let out = job.out.wrapping_add(plane * rows * count * element);
            // SAFETY: the result has `taps × positions` elements for each plane.
            unsafe { lower.write_bits(element, LowerOrder::Rows, out) };
        }
    });
}

unsafe fn fold(job: &ColumnsJob) -> Result<(), NoMemory> {
    let (rows, count, size) = (
        taps(&job.windows),
        positions(&job.windows),
        elements(&job.windows),
    );
    let cast = Cast::new(compute(job.dtype), job.dtype);
    let [wide, element] = cast.sizes();
    try_split(job.planes, GRAIN / (rows * count).max(1), &|range| {
        let mut sums = SmallScratch::bytes([size, wide as usize])?;
        let sums = sums.as_mut_ptr();
        for plane in range {
            let from = plane * rows * count * element as usize;
            let out = plane * size * element as usize;
            // SAFETY: there is room for the sums of a plane, whose zeros are zero bytes. The columns have `positions`
            // elements for each tap; this task owns the plane.
            unsafe {
                sums.write_bytes(0, size * wide as usize);
                let from = job.x.wrapping_add(from);
                add_rows(job.dtype, &job.windows, 1, [0, count], from, sums);
                cast.run(size, sums, wide, job.out.wrapping_add(out), element);
            }
        }
        Ok(())
    })
}
