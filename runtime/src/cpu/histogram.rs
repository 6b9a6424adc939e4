//! Counting into bins.
//!
//! A fixed number of parts count into separate bins, which are then added in order. A sum of
//! weights therefore does not depend on the number of threads.

use nomina_core::Element;

use crate::cpu::parallel::{Shared, each};
use crate::memory::NoMemory;
use crate::memory::scratch::filled;

/// The number of elements from which the work is divided into parts.
const LARGE: usize = 1 << 17;
/// The number of parts.
const PARTS: usize = 16;

/// Accumulates the contribution of each element to its bin.
///
/// `put` is called once for every element with the bins of its part.
fn count<A: Copy + Default + Send + std::ops::AddAssign>(
    n: usize,
    bins: usize,
    put: &(dyn Fn(usize, &mut [A]) + Sync),
) -> Result<Vec<A>, NoMemory> {
    let parts = if n >= LARGE && bins < n / PARTS {
        PARTS
    } else {
        1
    };
    let mut all = filled([bins, parts], A::default())?;
    let shared = Shared(all.as_mut_ptr().cast());
    each(parts, &|part| {
        let first = shared.get().cast::<A>().wrapping_add(part * bins);
        // SAFETY: each part has its own bins.
        let own = unsafe { std::slice::from_raw_parts_mut(first, bins) };
        for i in part * n / parts..(part + 1) * n / parts {
            put(i, own);
        }
    });
    let (total, rest) = all.split_at_mut(bins);
    for part in rest.chunks(bins.max(1)) {
        for (total, one) in total.iter_mut().zip(part) {
            *total += *one;
        }
    }
    all.truncate(bins);
    Ok(all)
}

/// Counts the occurrences of each integer. All are at least 0 and below `bins`.
pub(crate) fn of_integers(xs: &[i64], bins: usize) -> Result<Vec<i64>, NoMemory> {
    count(xs.len(), bins, &|i, own: &mut [i64]| {
        own[xs[i] as usize] += 1
    })
}

/// Sums the weights of each integer.
pub(crate) fn of_weights(xs: &[i64], weights: &[f64], bins: usize) -> Result<Vec<f64>, NoMemory> {
    count(xs.len(), bins, &|i, own: &mut [f64]| {
        own[xs[i] as usize] += weights[i];
    })
}

/// A float type that can be assigned to one of several equal bins.
pub(crate) trait HistogramElement: Element + PartialOrd {
    /// Returns the index among `bins` equal bins between `low` and `high`, computed in the
    /// precision of the dtype; `high` itself is in the last bin.
    fn bin(self, low: Self, high: Self, bins: usize) -> usize;
}

macro_rules! binned {
    ($($t:ty)*) => {$(
        impl HistogramElement for $t {
            #[inline(always)]
            fn bin(self, low: Self, high: Self, bins: usize) -> usize {
                (((self - low) * bins as $t / (high - low)) as usize).min(bins - 1)
            }
        }
    )*};
}
binned!(f32 f64);

/// Counts the elements in each of several equal bins. Elements out of range and NaNs are ignored.
pub(crate) fn of_floats<T: HistogramElement>(
    xs: &[T],
    low: T,
    high: T,
    bins: usize,
) -> Result<Vec<i64>, NoMemory> {
    count(xs.len(), bins, &|i, own: &mut [i64]| {
        if low <= xs[i] && xs[i] <= high {
            own[xs[i].bin(low, high, bins)] += 1;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        let n = LARGE + 7;
        let xs: Vec<i64> = (0..n as i64).map(|i| i * 7 % 5).collect();
        let counts = of_integers(&xs, 6).unwrap();
        assert_eq!(counts.iter().sum::<i64>(), n as i64);
        for (bin, &count) in counts.iter().enumerate() {
            let same = xs.iter().filter(|&&x| x == bin as i64).count();
            assert_eq!(count, same as i64);
        }
        let weights = vec![0.5; n];
        let sums = of_weights(&xs, &weights, 6).unwrap();
        assert!(
            sums.iter()
                .zip(counts)
                .all(|(&sum, count)| sum == count as f64 / 2.0)
        );
    }

    #[test]
    fn ends_belong_to_the_bins() {
        let xs = [0.0_f32, 1.0, 3.0, 3.1, -0.1, f32::NAN];
        assert_eq!(of_floats(&xs, 0.0, 3.0, 3).unwrap(), [1, 1, 1]);
    }
}
