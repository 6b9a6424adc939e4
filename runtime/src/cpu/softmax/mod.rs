//! Normalisation along a dim.
//!
//! The `logsumexp` reducer computes the maximum and the sum of exponentials of each line in one
//! pass. A second pass over the same cell, which is still in the cache unless it is large, writes
//! the result, which a [`Finish`] defines. Softmax of lines that stay in the cache takes a shorter
//! path ([`whole`]).

use std::marker::PhantomData;

use nomina_core::DType;

use crate::dispatch::arithmetic;
use crate::job::SoftmaxJob;

use crate::cpu::lines::{self, Ends};
use crate::cpu::reduce::load::{Copy2, copy2};
use crate::cpu::reduce::logsumexp::{ExpSum, LogSumExp, MaxFloat};
use crate::cpu::reduce::reducer::{BLOCK, Reducer, many, many_mut};
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::reduce::split::{Shared, SmallScratch, try_for_each};
use crate::cpu::reduce::{Driver, LinePlan, ReduceSource, TILE};
use crate::memory::NoMemory;

mod finish;
mod short;
#[cfg(test)]
mod tests;
mod whole;

use finish::{Finish, LogSoftmax, Softmax};
use short::ShortSoftmax;
pub(crate) use whole::Peak;

/// A kernel that computes contiguous elements of one line.
struct SoftmaxRow<'a, T, F>(&'a [T], *mut T, [T; 2], PhantomData<F>);

impl<T: MaxFloat, F: Finish> Kernel for SoftmaxRow<'_, T, F> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for (i, &x) in self.0.iter().enumerate() {
            // SAFETY: the creator of this struct guarantees that the elements are writable.
            unsafe { self.1.add(i).write(F::finish(x, self.2)) };
        }
    }
}

/// A kernel that computes contiguous elements that belong to different lines.
struct Across<'a, T, F>(&'a [T], *mut T, &'a [T], &'a [T], PhantomData<F>);

impl<T: MaxFloat, F: Finish> Kernel for Across<'_, T, F> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let n = self.0.len();
        let (a, b) = (&self.2[..n], &self.3[..n]);
        for i in 0..n {
            // SAFETY: the creator of this struct guarantees that the elements are writable.
            unsafe { self.1.add(i).write(F::finish(self.0[i], [a[i], b[i]])) };
        }
    }
}

/// Computes a normalisation.
///
/// # Safety
/// The operand and the result are in bounds, and nobody else accesses the result meanwhile.
pub(crate) unsafe fn execute(job: &SoftmaxJob<'_>) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match (job.logarithm, arithmetic(job.compute)) {
            (false, DType::F64) => along::<f64, Softmax>(job),
            (false, _) => along::<f32, Softmax>(job),
            (true, DType::F64) => along::<f64, LogSoftmax>(job),
            (true, _) => along::<f32, LogSoftmax>(job),
        }
    }
}

unsafe fn along<T: MaxFloat, F: Finish>(job: &SoftmaxJob<'_>) -> Result<(), NoMemory> {
    let mark: crate::SmallVec<[bool; 8]> = (0..job.shape.len()).map(|dim| dim == job.dim).collect();
    let plan = LinePlan::new(job.shape, job.strides, job.out_strides, &mark, true);
    let ends = Ends {
        x: job.x,
        dtype: job.dtype,
        out: job.out,
        out_dtype: job.out_dtype,
        step: job.out_strides[job.dim],
    };
    // SAFETY: guaranteed by the caller; tiles are of this type.
    if unsafe {
        lines::short(&plan, ends, T::DTYPE, &|tile| {
            dispatch(ShortSoftmax::<T, F>(tile, PhantomData))
        })?
    } {
        return Ok(());
    }
    // SAFETY: guaranteed by the caller.
    if !job.logarithm && unsafe { whole::softmax::<T>(job, &plan)? } {
        return Ok(());
    }
    let reducer = LogSumExp::<T>(PhantomData);
    let walk = Driver::new(
        &reducer,
        &plan,
        ReduceSource {
            ptr: job.x,
            dtype: job.dtype,
        },
    );
    let write = Write::<T, F> {
        walk: &walk,
        out: job.out,
        dtype: job.out_dtype,
        step: if job.shape[job.dim] == 1 {
            0
        } else {
            job.out_strides[job.dim]
        },
        finish: PhantomData,
    };
    let count = plan.count();
    let (cells, chunks) = (walk.cells(), count.div_ceil(walk.chunk));
    let (wide, size) = (walk.width * walk.groups, size_of::<ExpSum>());
    let work = walk.width * count.min(walk.chunk);
    if chunks == 1 {
        return try_for_each(cells, work, &|index| {
            let (row, start, n) = walk.cell(index);
            let mut states = SmallScratch::bytes([wide, size])?;
            let states = states.as_mut_ptr();
            // SAFETY: there is room for `wide` states; each cell owns its lines.
            unsafe {
                walk.fill(states, row, start, n, 0, count)?;
                write.lines(many(states, n), row, start, 0, count)
            }
        });
    }
    let mut all = SmallScratch::bytes([cells, chunks, walk.width, size])?;
    let shared = Shared(all.as_mut_ptr());
    let place = |index: usize| shared.get().wrapping_add(index * walk.width * size);
    let range = |index: usize| {
        let from = index % chunks * walk.chunk;
        (from, count.min(from + walk.chunk))
    };
    try_for_each(cells * chunks, work, &|index| {
        let (row, start, n) = walk.cell(index / chunks);
        let (from, to) = range(index);
        let mut states = SmallScratch::bytes([wide, size])?;
        // SAFETY: as above; each task copies its states to its own part of the buffer.
        unsafe {
            walk.fill(states.as_mut_ptr(), row, start, n, from, to)?;
            place(index).copy_from_nonoverlapping(states.as_mut_ptr(), n * size);
        }
        Ok(())
    })?;
    for cell in 0..cells {
        let n = walk.cell(cell).2;
        for chunk in 1..chunks {
            // SAFETY: all states were written above.
            unsafe { reducer.merge(place(cell * chunks), place(cell * chunks + chunk), n) };
        }
    }
    try_for_each(cells * chunks, work, &|index| {
        let (row, start, n) = walk.cell(index / chunks);
        let (from, to) = range(index);
        // SAFETY: each task owns its elements; states are only read.
        unsafe {
            write.lines(
                many(place(index / chunks * chunks), n),
                row,
                start,
                from,
                to,
            )
        }
    })
}

/// The second pass.
struct Write<'a, T, F> {
    walk: &'a Driver<'a>,
    out: *mut u8,
    dtype: DType,
    /// The result's stride along the dim.
    step: isize,
    finish: PhantomData<(T, F)>,
}

// SAFETY: each task writes its own part of the result.
unsafe impl<T: MaxFloat, F: Finish> Sync for Write<'_, T, F> {}

impl<T: MaxFloat, F: Finish> Write<'_, T, F> {
    fn at(&self, offset: isize) -> *mut u8 {
        self.out
            .wrapping_offset(offset * self.dtype.size() as isize)
    }

    /// Writes the elements `from..to` of some lines.
    unsafe fn lines(
        &self,
        states: &[ExpSum],
        row: usize,
        start: usize,
        from: usize,
        to: usize,
    ) -> Result<(), NoMemory> {
        let walk = self.walk;
        let (src, dst) = walk.origin(row, start);
        let (src, dst) = (
            src + from as isize * walk.inner.src,
            dst + from as isize * self.step,
        );
        if walk.columns {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.across(states, src, dst, to - from) };
        }
        for (i, state) in states.iter().enumerate() {
            let i = i as isize;
            let (src, dst) = (src + i * walk.kept.src, dst + i * walk.kept.dst);
            // SAFETY: guaranteed by the caller.
            unsafe { self.line(F::numbers(state).map(T::from_f64), src, dst, to - from)? };
        }
        Ok(())
    }

    unsafe fn line(
        &self,
        numbers: [T; 2],
        src: isize,
        dst: isize,
        n: usize,
    ) -> Result<(), NoMemory> {
        let walk = self.walk;
        let direct_in = walk.same && walk.inner.src == 1;
        let direct_out = self.dtype == T::DTYPE && self.step == 1;
        let room = |direct: bool| {
            SmallScratch::bytes([usize::from(!direct), BLOCK.min(n), size_of::<T>()])
        };
        let (mut input, mut output) = (room(direct_in)?, room(direct_out)?);
        for at in (0..n).step_by(BLOCK) {
            let (len, at) = (BLOCK.min(n - at), at as isize);
            let mut xs = walk.at(src + at * walk.inner.src);
            let to = self.at(dst + at * self.step);
            // SAFETY: the block is within the operand and the result; each scratch holds a block.
            unsafe {
                if !direct_in {
                    self.load(xs, [0, walk.inner.src], input.as_mut_ptr(), 1, len);
                    xs = input.as_mut_ptr();
                }
                let out = if direct_out { to } else { output.as_mut_ptr() };
                dispatch(SoftmaxRow::<T, F>(
                    many(xs, len),
                    out.cast(),
                    numbers,
                    PhantomData,
                ));
                if !direct_out {
                    self.store(out, to, [0, self.step], 1, len);
                }
            }
        }
        Ok(())
    }

    unsafe fn across(
        &self,
        states: &[ExpSum],
        src: isize,
        dst: isize,
        rows: usize,
    ) -> Result<(), NoMemory> {
        let (walk, n) = (self.walk, states.len());
        let direct_in = walk.same && walk.kept.src == 1;
        let direct_out = self.dtype == T::DTYPE && walk.kept.dst == 1;
        let tall = (TILE / n).clamp(1, rows);
        let room =
            |direct: bool| SmallScratch::bytes([usize::from(!direct), tall, n, size_of::<T>()]);
        let (mut input, mut output) = (room(direct_in)?, room(direct_out)?);
        let mut numbers = SmallScratch::bytes([2, n, size_of::<T>()])?;
        // SAFETY: the scratch has room; each number is written before it is read.
        let (a, b) = unsafe {
            let all = numbers.as_mut_ptr().cast::<T>();
            for (i, state) in states.iter().enumerate() {
                let [first, second] = F::numbers(state).map(T::from_f64);
                all.add(i).write(first);
                all.add(n + i).write(second);
            }
            let all = many_mut::<T>(all.cast(), 2 * n);
            all.split_at(n)
        };
        for from in (0..rows).step_by(tall) {
            let (height, from) = (tall.min(rows - from), from as isize);
            let first = walk.at(src + from * walk.inner.src);
            let last = self.at(dst + from * self.step);
            // SAFETY: the tile is within the operand and the result; each scratch holds a tile.
            unsafe {
                if !direct_in {
                    let strides = [walk.inner.src, walk.kept.src];
                    self.load(first, strides, input.as_mut_ptr(), height, n);
                }
                for r in 0..height {
                    let (tile, r) = (r * n * size_of::<T>(), r as isize);
                    let xs = if direct_in {
                        walk.at(src + (from + r) * walk.inner.src)
                    } else {
                        input.as_mut_ptr().add(tile).cast_const()
                    };
                    let out = if direct_out {
                        self.at(dst + (from + r) * self.step)
                    } else {
                        output.as_mut_ptr().add(tile)
                    };
                    dispatch(Across::<T, F>(many(xs, n), out.cast(), a, b, PhantomData));
                }
                if !direct_out {
                    let into = [self.step, walk.kept.dst];
                    self.store(output.as_mut_ptr(), last, into, height, n);
                }
            }
        }
        Ok(())
    }

    unsafe fn load(
        &self,
        src: *const u8,
        strides: [isize; 2],
        dst: *mut u8,
        rows: usize,
        cols: usize,
    ) {
        let (from, into) = (self.walk.source.dtype, [cols as isize, 1]);
        // SAFETY: guaranteed by the caller.
        unsafe {
            copy2(Copy2 {
                src,
                from,
                strides,
                dst,
                to: T::DTYPE,
                into,
                rows,
                cols,
            })
        };
    }

    unsafe fn store(
        &self,
        src: *const u8,
        dst: *mut u8,
        into: [isize; 2],
        rows: usize,
        cols: usize,
    ) {
        let strides = [cols as isize, 1];
        // SAFETY: guaranteed by the caller.
        unsafe {
            copy2(Copy2 {
                src,
                from: T::DTYPE,
                strides,
                dst,
                to: self.dtype,
                into,
                rows,
                cols,
            })
        };
    }
}
