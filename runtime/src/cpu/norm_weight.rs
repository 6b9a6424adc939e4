//! The gradient of the weight of normalised rows: sums over rows of the gradient times the normalised element, in one
//! pass.

use super::norm::slope;
use super::parallel::{Shared, try_split};
use super::reduce::real::BlockFloat;
use super::reduce::simd::{Kernel, dispatch};
use crate::memory::{NoMemory, Scratch};

/// The number of rows that are summed in their own precision; these sums are added in `f64`.
const RUN: usize = 32;
/// The most parts whose sums are added at the end. Parts do not depend on the number of threads, nor do results.
const PARTS: usize = 64;

/// Rows and their gradients, of `width` elements, with the mean and the deviation of each row.
pub(crate) struct NormRows<'a, T> {
    pub(crate) x: &'a [T],
    pub(crate) grad: &'a [T],
    pub(crate) stats: &'a [f64],
    pub(crate) width: usize,
    pub(crate) eps: f64,
}

impl<T: BlockFloat> NormRows<'_, T> {
    /// Computes the gradient of the weight.
    pub(crate) fn weight_gradient(&self, out: &mut [T]) -> Result<(), NoMemory> {
        let (width, rows) = (self.width, self.stats.len() / 2);
        let together = rows.div_ceil(PARTS).next_multiple_of(RUN);
        let parts = rows.div_ceil(together.max(1));
        let mut totals = Scratch::new([parts, width], 0.0)?;
        let each = Shared(totals.as_mut_ptr().cast());
        try_split(parts, 1, &|range| {
            let mut sums = Scratch::new([width], T::ZERO)?;
            for part in range {
                // SAFETY: each part is written by one task; there is room for all.
                let total = unsafe {
                    std::slice::from_raw_parts_mut(
                        each.get().cast::<f64>().add(part * width),
                        width,
                    )
                };
                let end = rows.min((part + 1) * together);
                for first in (part * together..end).step_by(RUN) {
                    self.add_rows(first..end.min(first + RUN), &mut sums);
                    for (total, sum) in total.iter_mut().zip(sums.iter_mut()) {
                        *total += std::mem::replace(sum, T::ZERO).wide();
                    }
                }
            }
            Ok(())
        })?;
        for (at, out) in out.iter_mut().enumerate() {
            let all = totals.iter().skip(at).step_by(width);
            *out = T::from_f64(all.sum());
        }
        Ok(())
    }

    fn add_rows(&self, rows: std::ops::Range<usize>, sums: &mut [T]) {
        for row in rows {
            let elements = row * self.width..(row + 1) * self.width;
            dispatch(RowTerms {
                x: &self.x[elements.clone()],
                grad: &self.grad[elements],
                mean: T::from_f64(self.stats[2 * row]),
                slope: T::from_f64(slope(self.stats[2 * row + 1], self.eps)),
                sums: &mut *sums,
            });
        }
    }
}

/// A kernel that adds the terms of a row.
struct RowTerms<'a, T> {
    x: &'a [T],
    grad: &'a [T],
    mean: T,
    slope: T,
    sums: &'a mut [T],
}

impl<T: BlockFloat> Kernel for RowTerms<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for (sum, (&x, &grad)) in self.sums.iter_mut().zip(self.x.iter().zip(self.grad)) {
            *sum += grad * ((x - self.mean) * self.slope);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_rows_do_not_lose_digits() {
        // Several parts of several runs, the last of which is not full.
        let (rows, width) = (if cfg!(miri) { 70 } else { 5003 }, 7);
        let x: Vec<f32> = (0..rows * width).map(|i| (i % 23) as f32 - 11.0).collect();
        let grad: Vec<f32> = (0..rows * width).map(|i| (i % 19) as f32 / 8.0).collect();
        let stats: Vec<f64> = (0..rows).flat_map(|row| [(row % 5) as f64, 2.0]).collect();
        let own = NormRows {
            x: &x,
            grad: &grad,
            stats: &stats,
            width,
            eps: 0.0,
        };
        let mut found = vec![1.0_f32; width];
        own.weight_gradient(&mut found).unwrap();
        for (at, found) in found.into_iter().enumerate() {
            let term = |row: usize| {
                let i = row * width + at;
                f64::from(grad[i]) * (f64::from(x[i]) - stats[2 * row]) / 2.0
            };
            // All terms are exact.
            assert_eq!(f64::from(found), (0..rows).map(term).sum::<f64>(), "{at}");
        }
    }
}
