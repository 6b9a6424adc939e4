//! Zeroing the elements above or below a diagonal.

use super::parallel::{GRAIN, Shared, split};
use crate::job::{Place, TriangleJob};

use crate::shape::{count, product, scaled_stride};

/// Clears one side of a diagonal of every matrix. All bits zero means zero, or false, in every
/// dtype.
///
/// # Safety
/// The job's positions of `dest` are writable and distinct.
pub(crate) unsafe fn clear(job: &TriangleJob<'_>, dest: Place) {
    let (Some((&columns, outer)), Some((&step, steps))) =
        (job.shape.split_last(), job.strides.split_last())
    else {
        return;
    };
    let lines = count(outer);
    if lines == 0 || columns == 0 {
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
            let (mut rest, mut offset) = (line, scaled_stride(step, from));
            for (&size, &stride) in outer.iter().zip(steps).rev() {
                offset += scaled_stride(stride, rest % size);
                rest /= size;
            }
            // SAFETY: elements of one line, at positions of the tensor; lines do not overlap.
            unsafe {
                let first = base.get().offset(scaled_stride(offset, size));
                if step == 1 {
                    first.write_bytes(0, product([to - from, size]));
                } else {
                    for column in 0..to - from {
                        first
                            .offset(scaled_stride(scaled_stride(step, column), size))
                            .write_bytes(0, size);
                    }
                }
            }
        }
    });
}
