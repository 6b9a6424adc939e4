//! Softmax of lines that stay in the near cache, with one exponential per element.
//!
//! Exponentials are written to the result and scaled there once their sum is known.

use std::mem::MaybeUninit;

use crate::cpu::nontemporal::NonTemporal;
use crate::cpu::reduce::LinePlan;
use crate::cpu::reduce::lanes::{filled, halved};
use crate::cpu::reduce::logsumexp::{MaxFloat, origin};
use crate::cpu::reduce::plan::offsets;
use crate::cpu::reduce::reducer::{many, many_mut};
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::reduce::split::{Shared, SmallScratch, try_for_each_past};
use crate::cpu::simd::{prefetch, prefetch_bytes};
use crate::job::SoftmaxJob;
use crate::memory::NoMemory;

/// The lengths of lines that are worth a call each and that stay in the cache together with their
/// results.
const LENGTHS: std::ops::RangeInclusive<usize> = 32..=1 << 15;

/// The most adjacent lines that are computed together: a few registers of sums.
const ACROSS: usize = 64;

/// The most bytes of a cell: half of a second-level cache, so that data streaming through has room,
/// too.
const CELL: usize = 1 << 20;

/// Rows whose elements are summed before they are added to wider sums.
const ROWS: usize = 64;

/// The prefetch distance in rows: far enough to hide the latency of memory.
const AHEAD: usize = 8;

/// The approximate number of elements of a task.
const TASK: usize = 1 << 16;

/// Computes a job whose elements need no conversion. Returns false, without having done anything,
/// if its lines are too long or the layout is unsuitable.
///
/// # Safety
/// The requirements of [`super::execute`]; the plan is the job's.
pub(super) unsafe fn softmax<T: MaxFloat>(
    job: &SoftmaxJob<'_>,
    plan: &LinePlan,
) -> Result<bool, NoMemory> {
    let count = job.shape[job.dim];
    if job.dtype != T::DTYPE || job.out_dtype != T::DTYPE || !LENGTHS.contains(&count) {
        return Ok(false);
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        if job.strides[job.dim] == 1 && job.out_strides[job.dim] == 1 {
            lines::<T>(job, plan, count)?;
            return Ok(true);
        }
        across::<T>(job, plan, count)
    }
}

/// Computes lines of contiguous elements.
unsafe fn lines<T: MaxFloat>(
    job: &SoftmaxJob<'_>,
    plan: &LinePlan,
    count: usize,
) -> Result<(), NoMemory> {
    let (total, size) = (plan.outputs(), size_of::<T>());
    let past = NonTemporal::for_bytes(total.saturating_mul(2 * count * size));
    let together = (TASK / count).clamp(1, total);
    let (x, result) = (Shared(job.x.cast_mut()), Shared(job.out));
    try_for_each_past(total.div_ceil(together), together * count, past, &|task| {
        let mut scratch = SmallScratch::bytes([usize::from(past.is_some()), count, size])?;
        for line in task * together..total.min((task + 1) * together) {
            let (src, dst) = offsets(&plan.kept, line);
            let at = |src: isize| x.get().cast::<T>().wrapping_offset(plan.src + src);
            let (next, _) = offsets(&plan.kept, (line + 1).min(total - 1));
            let (xs, next) = (at(src), at(next));
            let out = result.get().cast::<T>().wrapping_offset(plan.dst + dst);
            let to = if past.is_some() {
                scratch.as_mut_ptr().cast()
            } else {
                out
            };
            // SAFETY: the line is within the operand, and within the result or the scratch.
            unsafe {
                let xs = many(xs.cast(), count);
                let max = dispatch(Peak(xs));
                dispatch(LineKernel { xs, max, to, next });
                if let Some(past) = past {
                    past.copy(to.cast(), out.cast(), count * size);
                }
            }
        }
        Ok(())
    })
}

/// A kernel that finds the maximum of a line. NaN is ignored here; it appears in the sum.
pub(crate) struct Peak<'a, T>(pub(crate) &'a [T]);

impl<T: MaxFloat> Kernel for Peak<'_, T> {
    type Out = T;
    #[inline(always)]
    fn run(self) -> T {
        const LANES: usize = 64;
        let mut lanes = [T::NEG_INFINITY; LANES];
        let (whole, rest) = self.0.as_chunks::<LANES>();
        for xs in whole {
            for (lane, &x) in lanes.iter_mut().zip(xs) {
                *lane = greater(x, *lane);
            }
        }
        for (lane, x) in lanes
            .iter_mut()
            .zip(filled::<T, LANES>(rest, T::NEG_INFINITY))
        {
            *lane = greater(x, *lane);
        }
        halved(lanes, greater)
    }
}

/// Returns the greater of two numbers, or the second if the first is NaN.
#[inline(always)]
fn greater<T: MaxFloat>(x: T, max: T) -> T {
    if x > max { x } else { max }
}

/// A kernel that computes one line; there are as many results as elements.
struct LineKernel<'a, T> {
    xs: &'a [T],
    max: T,
    to: *mut T,
    /// The line that is computed next, which is prefetched meanwhile.
    next: *const T,
}

impl<T: MaxFloat> Kernel for LineKernel<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        const LANES: usize = 32;
        let max = self.max.wide();
        let from = T::from_f64(origin(max));
        let mut lanes = [T::ZERO; LANES];
        let (whole, rest) = self.xs.as_chunks::<LANES>();
        let (mut to, mut next) = (self.to, self.next);
        for xs in whole {
            prefetch_bytes(next.cast(), size_of_val(xs));
            // SAFETY: there are as many results as elements.
            let out = unsafe { &mut *to.cast::<[T; LANES]>() };
            for lane in 0..LANES {
                out[lane] = (xs[lane] - from).exp_nonpositive();
                lanes[lane] += out[lane];
            }
            (to, next) = (to.wrapping_add(LANES), next.wrapping_add(LANES));
        }
        let mut last = filled::<T, LANES>(rest, T::NEG_INFINITY);
        for (lane, x) in lanes.iter_mut().zip(&mut last) {
            *x = (*x - from).exp_nonpositive();
            *lane += *x;
        }
        // SAFETY: as above.
        unsafe { to.copy_from_nonoverlapping(last.as_ptr(), rest.len()) };
        let mut wide = [0.0; LANES];
        for (wide, lane) in wide.iter_mut().zip(lanes) {
            *wide = lane.wide();
        }
        let sum = halved(wide, |a: f64, b| a + b);
        let factor = factor(max, sum);
        // SAFETY: all elements were written.
        for out in unsafe { std::slice::from_raw_parts_mut(self.to, self.xs.len()) } {
            *out = *out * factor;
        }
    }
}

/// Returns the factor of the exponentials, which is NaN if the maximum is infinite or NaN.
#[inline(always)]
fn factor<T: MaxFloat>(max: f64, sum: f64) -> T {
    T::from_f64(if max.is_finite() { 1.0 / sum } else { f64::NAN })
}

/// Computes adjacent lines.
unsafe fn across<T: MaxFloat>(
    job: &SoftmaxJob<'_>,
    plan: &LinePlan,
    count: usize,
) -> Result<bool, NoMemory> {
    let Some((kept, outer)) = plan.kept.split_last() else {
        return Ok(false);
    };
    let size = size_of::<T>();
    let most = CELL / (count * size);
    let width = if most < ACROSS { ACROSS / 2 } else { ACROSS };
    let per_row = kept.size.div_ceil(width);
    let cells = plan.outputs() / kept.size * per_row;
    // With few cells, threads would be idle.
    let few = cells < 16 && cells * width * count > TASK;
    if kept.src != 1 || kept.dst != 1 || kept.size < ACROSS / 4 || most < width || few {
        return Ok(false);
    }
    let past = NonTemporal::for_bytes(plan.outputs().saturating_mul(2 * count * size));
    let strides = [job.strides[job.dim], job.out_strides[job.dim]];
    let (x, result) = (Shared(job.x.cast_mut()), Shared(job.out));
    try_for_each_past(cells, width * count, past, &|cell| {
        let first = cell % per_row * width;
        let n = width.min(kept.size - first);
        let (src, dst) = offsets(outer, cell / per_row);
        let (src, dst) = (plan.src + src, plan.dst + dst);
        let mut scratch = SmallScratch::bytes([count, n, size])?;
        let cell = CellKernel {
            xs: x.get().cast::<T>().wrapping_offset(src + first as isize),
            step: strides[0],
            cell: scratch.as_mut_ptr().cast(),
            rows: count,
            n,
        };
        let from = cell.cell.cast::<u8>().cast_const();
        dispatch(cell);
        let to = result
            .get()
            .cast::<T>()
            .wrapping_offset(dst + first as isize);
        for row in 0..count {
            let to = to.wrapping_offset(row as isize * strides[1]).cast::<u8>();
            // SAFETY: the scratch holds the cell; the row is within the result.
            unsafe {
                let from = from.add(row * n * size);
                match past {
                    Some(past) => past.copy(from, to, n * size),
                    None => to.copy_from_nonoverlapping(from, n * size),
                }
            }
        }
        Ok(())
    })?;
    Ok(true)
}

/// A kernel that computes a cell: up to [`ACROSS`] lines, row by row, in a separate buffer with
/// contiguous rows.
struct CellKernel<T> {
    xs: *const T,
    step: isize,
    cell: *mut T,
    rows: usize,
    n: usize,
}

impl<T: MaxFloat> Kernel for CellKernel<T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        // Full cells use loops of a length known to the compiler.
        const HALF: usize = ACROSS / 2;
        match self.n {
            ACROSS => self.compute(ACROSS),
            HALF => self.compute(HALF),
            n => self.compute(n),
        }
    }
}

impl<T: MaxFloat> CellKernel<T> {
    /// Returns a row of the operand.
    #[inline(always)]
    fn row(&self, row: usize, n: usize) -> &[T] {
        let at = self.xs.wrapping_offset(row as isize * self.step);
        // SAFETY: the creator of this struct guarantees that every row has this number of elements.
        unsafe { many(at.cast(), n) }
    }

    #[inline(always)]
    fn compute(&self, n: usize) {
        // SAFETY: the creator of this struct guarantees that there is room for the rows.
        let room = unsafe { many_mut::<MaybeUninit<T>>(self.cell.cast(), self.rows * n) };
        let mut tops = [T::NEG_INFINITY; ACROSS];
        for (row, room) in room.chunks_exact_mut(n).enumerate() {
            prefetch(self.row((row + AHEAD).min(self.rows - 1), n));
            for ((top, room), &x) in tops.iter_mut().zip(room).zip(self.row(row, n)) {
                room.write(x);
                *top = greater(x, *top);
            }
        }
        // SAFETY: all of the cell was written.
        let cell = unsafe { many_mut::<T>(self.cell.cast(), self.rows * n) };
        let (mut from, mut sums) = ([T::ZERO; ACROSS], [0.0; ACROSS]);
        for (from, top) in from.iter_mut().zip(tops) {
            *from = T::from_f64(origin(top.wide()));
        }
        for rows in cell.chunks_mut(ROWS * n) {
            let mut parts = [T::ZERO; ACROSS];
            for row in rows.chunks_exact_mut(n) {
                for ((part, x), &from) in parts.iter_mut().zip(row).zip(&from) {
                    *x = (*x - from).exp_nonpositive();
                    *part += *x;
                }
            }
            for (sum, part) in sums.iter_mut().zip(parts) {
                *sum += part.wide();
            }
        }
        let mut factors = [T::ZERO; ACROSS];
        for i in 0..n {
            factors[i] = factor(tops[i].wide(), sums[i]);
        }
        for row in cell.chunks_exact_mut(n) {
            for (x, &factor) in row.iter_mut().zip(&factors) {
                *x = *x * factor;
            }
        }
    }
}
