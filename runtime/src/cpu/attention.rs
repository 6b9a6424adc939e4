//! Attention by blocks of queries: the scores of a block are computed, normalised and consumed while they are in the
//! cache.

use std::mem::MaybeUninit;

use nomina_core::{DType, Scalar};

use crate::cpu::gemm::multiply;
use crate::cpu::parallel::threads;
use crate::cpu::reduce::lanes::{filled, halved};
use crate::cpu::reduce::load::{Copy2, copy2};
use crate::cpu::reduce::real::BlockFloat;
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::reduce::split::try_for_each;
use crate::job::{AttentionJob, AttentionPart, Matrix, Product};
use crate::memory::{NoMemory, Scratch};

/// The most scores of a block: one megabyte of `f32`.
const SCORES: usize = 1 << 18;
/// The most and fewest queries of a block: enough that keys are read rarely, few enough for many tasks.
const MOST: usize = 128;
const LEAST: usize = 16;
/// Partial sums that are accumulated in parallel.
const LANES: usize = 16;

/// Computes an attention.
///
/// # Safety
/// The operands are in bounds and have the job's sizes, none of which is zero; nobody else accesses the result.
pub(crate) unsafe fn execute(job: &AttentionJob) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match job.dtype {
            DType::F64 => blocks::<f64>(job),
            _ => blocks::<f32>(job),
        }
    }
}

unsafe fn blocks<T: BlockFloat>(job: &AttentionJob) -> Result<(), NoMemory> {
    let count: usize = job.batch.iter().product();
    let shared = (count * job.length).div_ceil(4 * threads());
    let rows = (SCORES / job.source)
        .clamp(LEAST, MOST)
        .min(shared.max(LEAST))
        .min(job.length);
    let blocks = job.length.div_ceil(rows);
    let work = rows
        .saturating_mul(job.source)
        .saturating_mul(job.features + job.width);
    try_for_each(count * blocks, work, &|task| {
        let (at, first) = (task / blocks, task % blocks * rows);
        let block = QueryRange {
            job,
            at,
            first,
            rows: rows.min(job.length - first),
        };
        // SAFETY: guaranteed by the caller; each task owns its rows of the result.
        unsafe { block.run::<T>() }
    })
}

/// Returns the product of an `m × k` and a `k × n` matrix.
pub(super) fn product<T: BlockFloat>([m, k, n]: [usize; 3], [a, b, c]: [Matrix; 3]) -> Product {
    Product {
        dtype: T::DTYPE,
        m,
        k,
        n,
        a,
        b,
        c,
        alpha: Scalar::Int(1),
        beta: None,
        addend: None,
        after: None,
    }
}

/// A block of queries at one index of the batch.
pub(super) struct QueryRange<'a> {
    pub(super) job: &'a AttentionJob,
    pub(super) at: usize,
    pub(super) first: usize,
    pub(super) rows: usize,
}

/// An uninitialised buffer of numbers.
pub(super) struct AttentionScratch<T>(Scratch<MaybeUninit<T>>);

impl<T: Copy> AttentionScratch<T> {
    pub(super) fn new(rows: usize, cols: usize) -> Result<Self, NoMemory> {
        Scratch::uninit([rows, cols]).map(Self)
    }

    pub(super) fn matrix(&mut self, cols: usize) -> Matrix {
        Matrix {
            ptr: self.0.as_mut_ptr().cast(),
            rows: cols as isize,
            cols: 1,
        }
    }
}

/// Rows of an operand in `T`: converted copies if the operand has another dtype.
pub(super) struct Loaded<T> {
    pub(super) matrix: Matrix,
    _room: Option<AttentionScratch<T>>,
}

impl QueryRange<'_> {
    unsafe fn run<T: BlockFloat>(&self) -> Result<(), NoMemory> {
        let Self { job, rows, .. } = *self;
        let seen = self.seen();
        let mut scores = AttentionScratch::<T>::new(rows, seen)?;
        let mut sums = AttentionScratch::<T>::new(rows, job.width)?;
        let (scores, sums) = (scores.matrix(seen), sums.matrix(job.width));
        // SAFETY: there is room for what is written; the operands have the job's sizes.
        unsafe {
            let query = self.rows_of::<T>(&job.query, self.first, rows, job.features)?;
            let key = self.rows_of::<T>(&job.key, 0, seen, job.features)?;
            let totals = self.weights::<T>([query.matrix, key.matrix], scores, seen)?;
            drop(key);
            let value = self.rows_of::<T>(&job.value, 0, seen, job.width)?;
            multiply(
                product::<T>([rows, seen, job.width], [scores, value.matrix, sums]),
                &[],
            )?;
            if job.causal || job.mask.is_some() {
                self.leave_out::<T>(scores, seen, value.matrix, sums);
            }
            self.write::<T>(sums, &totals);
        }
        Ok(())
    }

    /// Returns the number of keys that the last query sees, which sees the most.
    pub(super) fn seen(&self) -> usize {
        if self.job.causal {
            self.job.source.min(self.first + self.rows)
        } else {
            self.job.source
        }
    }

    /// Computes the exponentials of the scores of `seen` keys, and returns their sum for each query.
    ///
    /// # Safety
    /// There is room for `rows` times `seen` scores; queries and keys have the job's sizes.
    pub(super) unsafe fn weights<T: BlockFloat>(
        &self,
        [query, key]: [Matrix; 2],
        scores: Matrix,
        seen: usize,
    ) -> Result<Scratch<T>, NoMemory> {
        let job = self.job;
        let scaled = Product {
            alpha: Scalar::Float(job.scale),
            ..product::<T>([self.rows, job.features, seen], [query, key.t(), scores])
        };
        // SAFETY: guaranteed by the caller.
        unsafe {
            multiply(scaled, &[])?;
            self.normalise::<T>(scores, seen)
        }
    }

    /// Returns the rows of an operand from `first` on, at this index of the batch.
    pub(super) fn place(&self, part: &AttentionPart, first: usize) -> Matrix {
        let mut left = self.at;
        let mut offset = first as isize * part.matrix.rows;
        for (size, stride) in self.job.batch.iter().zip(&part.batch).rev() {
            offset += (left % size) as isize * stride;
            left /= size;
        }
        let bytes = offset * part.dtype.size() as isize;
        Matrix {
            ptr: part.matrix.ptr.wrapping_offset(bytes),
            ..part.matrix
        }
    }

    /// Like [`QueryRange::place`], but as numbers of `T`.
    ///
    /// # Safety
    /// The operand has this number of rows and columns.
    pub(super) unsafe fn rows_of<T: BlockFloat>(
        &self,
        part: &AttentionPart,
        first: usize,
        rows: usize,
        cols: usize,
    ) -> Result<Loaded<T>, NoMemory> {
        let matrix = self.place(part, first);
        if part.dtype == T::DTYPE {
            return Ok(Loaded {
                matrix,
                _room: None,
            });
        }
        let mut room = AttentionScratch::<T>::new(rows, cols)?;
        let loaded = room.matrix(cols);
        // SAFETY: guaranteed by the caller; the buffer has room for the rows.
        unsafe { converted(matrix, part.dtype, loaded, T::DTYPE, rows, cols) };
        Ok(Loaded {
            matrix: loaded,
            _room: Some(room),
        })
    }

    /// Replaces scores by exponentials and returns the sum of each row.
    ///
    /// # Safety
    /// There are `rows` times `seen` scores.
    unsafe fn normalise<T: BlockFloat>(
        &self,
        scores: Matrix,
        seen: usize,
    ) -> Result<Scratch<T>, NoMemory> {
        let masked = if self.job.mask.is_some() { seen } else { 0 };
        let mut mask_row = Scratch::new([masked], T::ZERO)?;
        let mut totals = Scratch::new([self.rows], T::ZERO)?;
        for (row, total) in totals.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller; rows do not overlap.
            let scores = unsafe {
                std::slice::from_raw_parts_mut(scores.ptr.cast::<T>().add(row * seen), seen)
            };
            let own = if self.job.causal {
                seen.min(self.first + row + 1)
            } else {
                seen
            };
            let (scores, unseen) = scores.split_at_mut(own);
            unseen.fill(T::ZERO);
            if let Some(mask) = &self.job.mask {
                let from = self.place(mask, self.first + row);
                let to = Matrix {
                    ptr: mask_row.as_mut_ptr().cast(),
                    rows: seen as isize,
                    cols: 1,
                };
                // SAFETY: the mask broadcasts to the scores' sizes.
                unsafe { converted(from, mask.dtype, to, T::DTYPE, 1, seen) };
                dispatch(Masked {
                    scores,
                    mask: &mask_row,
                    truth: mask.dtype == DType::Bool,
                });
            }
            *total = dispatch(Exponentials { scores });
        }
        Ok(totals)
    }

    /// Recomputes sums that are NaN, skipping values of weight zero: values excluded by a mask may be infinite or NaN.
    ///
    /// # Safety
    /// There are `rows` times `seen` weights, `seen` values and `rows` times `width` sums.
    unsafe fn leave_out<T: BlockFloat>(
        &self,
        weights: Matrix,
        seen: usize,
        value: Matrix,
        sums: Matrix,
    ) {
        let width = self.job.width;
        for row in 0..self.rows {
            // SAFETY: guaranteed by the caller; weights and sums are separate buffers.
            let (weights, sums) = unsafe {
                let weights = weights.ptr.cast::<T>().add(row * seen);
                let sums = sums.ptr.cast::<T>().add(row * width);
                (
                    std::slice::from_raw_parts(weights, seen),
                    std::slice::from_raw_parts_mut(sums, width),
                )
            };
            let nan = |sum: &T| sum.wide().is_nan();
            for (col, sum) in sums.iter_mut().enumerate().filter(|(_, sum)| nan(sum)) {
                let used = weights
                    .iter()
                    .enumerate()
                    .filter(|(_, weight)| **weight != T::ZERO);
                let mut total = 0.0;
                for (at, weight) in used {
                    let place = at as isize * value.rows + col as isize * value.cols;
                    // SAFETY: a value of a key that is seen.
                    let one = unsafe { value.ptr.cast::<T>().offset(place).read() };
                    total += weight.wide() * one.wide();
                }
                *sum = T::from_f64(total);
            }
        }
    }

    /// Divides the sums of values by the sums of their weights and writes them to the result. The result of a query
    /// that sees no key is zero.
    ///
    /// # Safety
    /// There are `rows` times `width` sums.
    unsafe fn write<T: BlockFloat>(&self, sums: Matrix, totals: &[T]) {
        let (width, out) = (self.job.width, &self.job.out);
        for (row, total) in totals.iter().enumerate() {
            let total = total.wide();
            let factor = T::from_f64(if total == 0.0 { 0.0 } else { 1.0 / total });
            // SAFETY: guaranteed by the caller.
            let sums = unsafe {
                std::slice::from_raw_parts_mut(sums.ptr.cast::<T>().add(row * width), width)
            };
            for sum in sums {
                *sum = *sum * factor;
            }
        }
        let to = self.place(out, self.first);
        // SAFETY: the result has these rows, and only this block accesses them.
        unsafe { converted(sums, T::DTYPE, to, out.dtype, self.rows, width) };
    }
}

/// Copies a matrix of `rows` by `cols` elements, converting its dtype.
///
/// # Safety
/// The requirements of [`copy2`].
pub(super) unsafe fn converted(
    src: Matrix,
    from: DType,
    dst: Matrix,
    to: DType,
    rows: usize,
    cols: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        copy2(Copy2 {
            src: src.ptr,
            from,
            strides: [src.rows, src.cols],
            dst: dst.ptr,
            to,
            into: [dst.rows, dst.cols],
            rows,
            cols,
        });
    }
}

/// A kernel that adds a mask to scores; a boolean mask sets excluded scores to minus infinity.
struct Masked<'a, T> {
    scores: &'a mut [T],
    mask: &'a [T],
    truth: bool,
}

impl<T: BlockFloat> Kernel for Masked<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let pairs = self.scores.iter_mut().zip(self.mask);
        if self.truth {
            for (score, &mask) in pairs {
                *score = if mask == T::ZERO {
                    T::NEG_INFINITY
                } else {
                    *score
                };
            }
        } else {
            for (score, &mask) in pairs {
                // A score that is NaN is replaced, too.
                *score = if mask == T::NEG_INFINITY {
                    mask
                } else {
                    *score + mask
                };
            }
        }
    }
}

/// A kernel that replaces scores by the exponentials of their difference from the maximum and returns the sum.
struct Exponentials<'a, T> {
    scores: &'a mut [T],
}

impl<T: BlockFloat> Kernel for Exponentials<'_, T> {
    type Out = T;
    #[inline(always)]
    fn run(self) -> T {
        let greater = |a: T, b: T| if b > a { b } else { a };
        let mut lanes = [T::NEG_INFINITY; LANES];
        let chunks = self.scores.chunks_exact(LANES);
        let mut last = filled::<T, LANES>(chunks.remainder(), T::NEG_INFINITY);
        for chunk in chunks {
            for (lane, &x) in lanes.iter_mut().zip(chunk) {
                *lane = greater(*lane, x);
            }
        }
        for (lane, x) in lanes.iter_mut().zip(last) {
            *lane = greater(*lane, x);
        }
        let greatest = halved(lanes, greater);
        // If all are masked, minus infinity minus itself would be NaN. A NaN among the scores is kept.
        let greatest = if greatest == T::NEG_INFINITY {
            T::ZERO
        } else {
            greatest
        };
        let mut lanes = [T::ZERO; LANES];
        let mut chunks = self.scores.chunks_exact_mut(LANES);
        for chunk in &mut chunks {
            for (lane, x) in lanes.iter_mut().zip(chunk) {
                *x = (*x - greatest).exp_nonpositive();
                *lane += *x;
            }
        }
        for (lane, x) in lanes.iter_mut().zip(&mut last) {
            *x = (*x - greatest).exp_nonpositive();
            *lane += *x;
        }
        let rest = chunks.into_remainder();
        rest.copy_from_slice(&last[..rest.len()]);
        halved(lanes, |a, b| a + b)
    }
}
