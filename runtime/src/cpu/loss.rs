//! Cross entropy of logits, row by row, against the index of the true class.

use std::slice::from_raw_parts;

use nomina_core::DType;

use super::parallel::{GRAIN, Shared, try_split};
use super::reduce::logsumexp::{ExpRow, MaxFloat};
use super::reduce::simd::dispatch;
use super::rows::RowDims;
use super::softmax::Peak;
use crate::dispatch::arithmetic;
use crate::job::EntropyJob;

use crate::memory::{NoMemory, Scratch};

/// Elements whose exponentials are summed in lanes before the lanes are added to the wide sum.
const BLOCK: usize = 1024;

/// Returns the logarithm of the sum of a row's exponentials.
fn log_sum_exp<T: MaxFloat>(row: &[T]) -> f64 {
    let max = dispatch(Peak(row));
    if max.wide().is_infinite() {
        // An infinite maximum dominates all elements except NaN.
        let nan = row.iter().find(|x| x.wide().is_nan());
        return nan.map_or(max.wide(), |x| x.wide());
    }
    let origin = max;
    let blocks = row.chunks(BLOCK);
    let sum: f64 = blocks.map(|xs| dispatch(ExpRow { xs, origin })).sum();
    max.wide() + sum.ln()
}

/// Computes the loss and the weight of each row.
///
/// # Safety
/// The operands and results are in bounds, and nobody else accesses the results meanwhile. Every
/// target that is not ignored is an index within the row.
pub(crate) unsafe fn execute(job: &EntropyJob<'_>) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match arithmetic(job.compute) {
            DType::F64 => each_row::<f64>(job),
            _ => each_row::<f32>(job),
        }
    }
}

unsafe fn each_row<T: MaxFloat>(job: &EntropyJob<'_>) -> Result<(), NoMemory> {
    let dims = [job.dim];
    let rows = RowDims::new(job.shape, &dims);
    let x = rows.layout(job.x, job.shape, job.strides, &dims);
    let out = Shared(job.out.cast());
    let classes = rows.len as f64;
    // One weight per class, and their sum. SAFETY: the caller guarantees one target per row and one
    // weight per class.
    let (targets, weights) = unsafe {
        let weights = (!job.weight.is_null()).then(|| from_raw_parts(job.weight, rows.len));
        (from_raw_parts(job.targets, rows.count), weights)
    };
    let weight = |class: usize| weights.map_or(1.0, |weights| weights[class]);
    let (ignored, logits, smoothing) = (job.ignore_index, job.logits, job.smoothing);
    try_split(rows.count, (GRAIN / rows.len.max(1)).max(1), &|range| {
        let mut buffer = Scratch::new([usize::from(!x.is_dense::<T>()), rows.len], T::ZERO)?;
        for index in range {
            let target = targets[index];
            let (mut loss, mut counted) = (0.0, 0.0);
            if target != ignored {
                // SAFETY: the row is readable, guaranteed by the caller.
                let row = unsafe { rows.load(&x, index, &mut buffer) };
                let log = if logits { log_sum_exp(row) } else { 0.0 };
                counted = weight(target as usize);
                loss = counted * (log - row[target as usize].wide());
                if smoothing != 0.0 {
                    let all = row.iter().enumerate().fold(0.0, |sum, (class, x)| {
                        sum + weight(class) * (log - x.wide())
                    });
                    loss = (1.0 - smoothing) * loss + smoothing / classes * all;
                }
            }
            // SAFETY: each row owns two elements of the results.
            unsafe {
                let out = out.get().cast::<f64>().add(2 * index);
                out.write(loss);
                out.add(1).write(counted);
            }
        }
        Ok(())
    })
}
