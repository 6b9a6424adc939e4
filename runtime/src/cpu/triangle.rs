//! Zeros above or below a diagonal.

use super::parallel::{GRAIN, Shared, split};
use crate::backend::Place;
use crate::call::TriangleJob;

/// Clears one side of a diagonal of every matrix. All bits zero is zero, or false, in every dtype.
///
/// # Safety
/// The positions that the job describes from `dest` on are writable, and no two are the same.
pub(crate) unsafe fn clear(job: &TriangleJob<'_>, dest: Place) {
    let (Some((&columns, outer)), Some((&step, steps))) =
        (job.shape.split_last(), job.strides.split_last())
    else {
        return;
    };
    let lines: usize = outer.iter().product();
    if lines * columns == 0 {
        return;
    }
    let rows = outer.last().copied().unwrap_or(1);
    let size = dest.dtype.size();
    let base = Shared(dest.ptr);
    split(lines, GRAIN.div_ceil(columns), &|range| {
        for line in range {
            let edge = ((line % rows) as i64).saturating_add(job.diagonal);
            let (from, to) = if job.upper {
                (0, edge.clamp(0, columns as i64) as usize)
            } else {
                let from = edge.saturating_add(1).clamp(0, columns as i64);
                (from as usize, columns)
            };
            if from == to {
                continue;
            }
            let (mut rest, mut offset) = (line, from as isize * step);
            for (&count, &stride) in outer.iter().zip(steps).rev() {
                offset += (rest % count) as isize * stride;
                rest /= count;
            }
            // SAFETY: elements of one line, at positions of the tensor; lines share none.
            unsafe {
                let first = base.get().offset(offset * size as isize);
                if step == 1 {
                    first.write_bytes(0, (to - from) * size);
                } else {
                    for column in 0..to - from {
                        first
                            .offset(column as isize * step * size as isize)
                            .write_bytes(0, size);
                    }
                }
            }
        }
    });
}
