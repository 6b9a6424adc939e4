//! im2col and col2im: copies windows to columns, and sums columns into windows.

use half::{bf16, f16};
use nomina_core::DType;
use num_complex::Complex;

use super::add::add_rows;
use super::lower::Lower;
use super::number::{ConvNumber, Widen};
use super::{elements, positions, taps};
use crate::job::ColumnsJob;

use crate::cpu::parallel::{GRAIN, split, try_split};
use crate::memory::{NoMemory, Scratch};

/// Runs `im2col` or `fold`.
///
/// # Safety
/// All elements are in bounds; nobody else accesses the result meanwhile.
pub(crate) unsafe fn execute(job: &ColumnsJob) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller; elements that are only copied are copied as bits of their
    // size.
    unsafe {
        match (job.fold, job.dtype) {
            (false, dtype) => {
                match dtype.size() {
                    1 => lower::<u8>(job),
                    2 => lower::<u16>(job),
                    4 => lower::<u32>(job),
                    8 => lower::<u64>(job),
                    _ => lower::<u128>(job),
                }
                Ok(())
            }
            (true, DType::F32) => add::<f32, f32>(job),
            (true, DType::F64) => add::<f64, f64>(job),
            (true, DType::F16) => add::<f16, f32>(job),
            (true, DType::BF16) => add::<bf16, f32>(job),
            (true, DType::C64) => add::<Complex<f32>, Complex<f32>>(job),
            (true, DType::C128) => add::<Complex<f64>, Complex<f64>>(job),
            (true, DType::I8) => add::<i8, i8>(job),
            (true, DType::I16) => add::<i16, i16>(job),
            (true, DType::I32) => add::<i32, i32>(job),
            (true, DType::I64) => add::<i64, i64>(job),
            (true, DType::U8 | DType::Bool) => add::<u8, u8>(job),
        }
    }
}

unsafe fn lower<T: ConvNumber + Widen<T>>(job: &ColumnsJob) {
    let [_, h, w] = &job.windows;
    let (rows, count, size) = (
        taps(&job.windows),
        positions(&job.windows),
        elements(&job.windows),
    );
    split(job.planes, GRAIN / (rows * count).max(1), &|range| {
        for plane in range {
            let lower = Lower {
                windows: &job.windows,
                x: job.x.cast::<T>().wrapping_add(plane * size),
                channels: 1,
                strides: [0, (h.size * w.size) as isize, w.size as isize, 1],
                from: 0,
                count,
            };
            // SAFETY: the result has `taps × positions` elements for each plane.
            unsafe { lower.rows::<T>(job.out.cast::<T>().add(plane * rows * count)) };
        }
    });
}

unsafe fn add<S: Widen<A>, A: ConvNumber>(job: &ColumnsJob) -> Result<(), NoMemory> {
    let (rows, count, size) = (
        taps(&job.windows),
        positions(&job.windows),
        elements(&job.windows),
    );
    try_split(job.planes, GRAIN / (rows * count).max(1), &|range| {
        let mut sums = Scratch::new([size], A::ZERO)?;
        for plane in range {
            sums.fill(A::ZERO);
            let from = job.x.cast::<S>().wrapping_add(plane * rows * count);
            // SAFETY: the columns have `positions` elements for each tap; the plane has all
            // elements.
            unsafe {
                add_rows::<S, A>(&job.windows, 1, [0, count], from, sums.as_mut_ptr());
            }
            let out = job.out.cast::<S>().wrapping_add(plane * size);
            for (i, &sum) in sums.iter().enumerate() {
                // SAFETY: this task owns the plane.
                unsafe { out.add(i).write(S::down(sum)) };
            }
        }
        Ok(())
    })
}
