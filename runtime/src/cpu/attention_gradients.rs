//! Gradients of attention, one index of the batch at a time: the weights of a block of queries are computed again and
//! consumed while they are in the cache.

use nomina_core::{DType, Scalar};

use super::attention::{AttentionScratch, QueryRange, converted, product};
use crate::cpu::gemm::multiply;
use crate::cpu::reduce::lanes::{filled, halved};
use crate::cpu::reduce::real::BlockFloat;
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::reduce::split::try_for_each;
use crate::job::{AttentionGradientJob, Matrix, Product};
use crate::memory::{NoMemory, Scratch};

/// The most scores of a block: a quarter of a megabyte of `f32`, twice.
const SCORES: usize = 1 << 16;
/// The most and fewest queries of a block.
const MOST: usize = 128;
const LEAST: usize = 16;
/// Partial sums that are accumulated in parallel.
const LANES: usize = 16;

/// Computes the gradients of queries, keys and values. The blocks do not depend on the number of threads, nor do the
/// results.
///
/// # Safety
/// The operands are in bounds and have the job's sizes, none of which is zero; nobody else accesses the results.
pub(crate) unsafe fn execute(job: &AttentionGradientJob) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match job.forward.dtype {
            DType::F64 => each_index::<f64>(job),
            _ => each_index::<f32>(job),
        }
    }
}

unsafe fn each_index<T: BlockFloat>(job: &AttentionGradientJob) -> Result<(), NoMemory> {
    let forward = &job.forward;
    let work = forward
        .length
        .saturating_mul(forward.source)
        .saturating_mul(forward.features + forward.width);
    try_for_each(forward.batch.iter().product(), work, &|at| {
        // SAFETY: guaranteed by the caller; each task owns the results at its index.
        unsafe { gradients::<T>(job, at) }
    })
}

/// Computes the gradients at one index of the batch.
///
/// # Safety
/// The requirements of [`execute`]; nobody else writes the results at this index.
unsafe fn gradients<T: BlockFloat>(job: &AttentionGradientJob, at: usize) -> Result<(), NoMemory> {
    let forward = &job.forward;
    let (length, source) = (forward.length, forward.source);
    let (features, width) = (forward.features, forward.width);
    let rows = (SCORES / source).clamp(LEAST, MOST).min(length);
    let block = |first: usize| QueryRange {
        job: forward,
        at,
        first,
        rows: rows.min(length - first),
    };
    let zeros = |cols: usize| Scratch::new([source, cols], T::ZERO);
    let (mut of_key, mut of_value) = (zeros(features)?, zeros(width)?);
    let whole = |sums: &mut Scratch<T>, cols: usize| Matrix {
        ptr: sums.as_mut_ptr().cast(),
        rows: cols as isize,
        cols: 1,
    };
    let (of_key, of_value) = (whole(&mut of_key, features), whole(&mut of_value, width));
    let mut scores = AttentionScratch::<T>::new(rows, source)?;
    let mut slopes = AttentionScratch::<T>::new(rows, source)?;
    let mut of_query = AttentionScratch::<T>::new(rows, features)?;
    let of_query = of_query.matrix(features);
    // SAFETY: the scratches have room for what is written; the operands have the job's sizes, as the caller guarantees.
    unsafe {
        let range = block(0);
        let key = range.rows_of::<T>(&forward.key, 0, source, features)?;
        let value = range.rows_of::<T>(&forward.value, 0, source, width)?;
        for first in (0..length).step_by(rows) {
            let range = block(first);
            let (rows, seen) = (range.rows, range.seen());
            let (scores, slopes) = (scores.matrix(seen), slopes.matrix(seen));
            let query = range.rows_of::<T>(&forward.query, first, rows, features)?;
            let grad = range.rows_of::<T>(&forward.out, first, rows, width)?;
            let totals = range.weights::<T>([query.matrix, key.matrix], scores, seen)?;
            let by_value = [grad.matrix, value.matrix.t(), slopes];
            multiply(product::<T>([rows, width, seen], by_value), &[])?;
            for (row, &total) in totals.iter().enumerate() {
                let line = |matrix: Matrix| {
                    std::slice::from_raw_parts_mut(matrix.ptr.cast::<T>().add(row * seen), seen)
                };
                dispatch(Slopes {
                    weights: line(scores),
                    slopes: line(slopes),
                    total,
                });
            }
            let scale = Scalar::Float(forward.scale);
            let one = Scalar::Int(1);
            if job.grads[2].is_some() {
                let sizes = [seen, rows, width];
                let sum = product::<T>(sizes, [scores.t(), grad.matrix, of_value]);
                multiply(
                    Product {
                        beta: Some(one),
                        ..sum
                    },
                    &[],
                )?;
            }
            if job.grads[1].is_some() {
                let sizes = [seen, rows, features];
                let sum = product::<T>(sizes, [slopes.t(), query.matrix, of_key]);
                multiply(
                    Product {
                        alpha: scale,
                        beta: Some(one),
                        ..sum
                    },
                    &[],
                )?;
            }
            if let Some(out) = &job.grads[0] {
                let sizes = [rows, seen, features];
                let sum = product::<T>(sizes, [slopes, key.matrix, of_query]);
                multiply(
                    Product {
                        alpha: scale,
                        ..sum
                    },
                    &[],
                )?;
                let to = range.place(out, first);
                converted(of_query, T::DTYPE, to, out.dtype, rows, features);
            }
        }
        for (out, sums, cols) in [
            (&job.grads[1], of_key, features),
            (&job.grads[2], of_value, width),
        ] {
            if let Some(out) = out {
                converted(sums, T::DTYPE, range.place(out, 0), out.dtype, source, cols);
            }
        }
    }
    Ok(())
}

/// A kernel that divides the exponentials of a query's scores by their sum, and turns the gradients of its weights into
/// those of its scores: p (g - sum(p g)). The weights of a query that sees no key are zero.
struct Slopes<'a, T> {
    weights: &'a mut [T],
    slopes: &'a mut [T],
    total: T,
}

impl<T: BlockFloat> Kernel for Slopes<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let total = self.total.wide();
        let factor = T::from_f64(if total == 0.0 { 0.0 } else { 1.0 / total });
        let mut lanes = [T::ZERO; LANES];
        let mut weights = self.weights.chunks_exact_mut(LANES);
        let slopes = self.slopes.chunks_exact(LANES);
        let last = filled::<T, LANES>(slopes.remainder(), T::ZERO);
        for (weights, slopes) in (&mut weights).zip(slopes) {
            for ((lane, weight), &slope) in lanes.iter_mut().zip(weights).zip(slopes) {
                *weight = *weight * factor;
                *lane += *weight * slope;
            }
        }
        for ((lane, weight), slope) in lanes.iter_mut().zip(weights.into_remainder()).zip(last) {
            *weight = *weight * factor;
            *lane += *weight * slope;
        }
        let sum = halved(lanes, |a, b| a + b);
        for (slope, &weight) in self.slopes.iter_mut().zip(self.weights.iter()) {
            *slope = weight * (*slope - sum);
        }
    }
}
