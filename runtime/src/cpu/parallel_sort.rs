//! Sorting in place on several threads, by the kernels' own work sharing.
//!
//! `rayon`'s parallel sorts wait inside rayon, where the calling thread picks up other tasks of the user and runs them under
//! its own thread-local state. Here a quicksort partitions the elements level by level, all parts of a level at the same time,
//! and then each part is sorted by one thread. Pivots are medians of a sample, so parts have about the same length.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::parallel::{GRAIN, Shared, each, threads};

/// The length of a part that is worth a task of its own.
const PART: usize = 1 << 12;
/// The number of parts for each thread, so that a thread that is interrupted leaves some to the others.
const PARTS: usize = 4;
/// The number of elements of which a pivot is the median.
const SAMPLE: usize = 255;

/// Sorts elements of which no two are equal, or equal ones cannot be told apart.
pub(super) fn sort<T: Copy + Ord + Send + Sync>(data: &mut [T]) {
    let is_less = |a: &T, b: &T| a < b;
    sort_parts(data, 1, &is_less, &|part: &mut [T]| part.sort_unstable());
}

/// Like [`sort`], but in the order of `compare`, which takes about as long as `weight` comparisons of numbers. It is called
/// by pointer, so that one sort is compiled for each `T`.
pub(super) fn sort_by<T: Copy + Send + Sync>(
    data: &mut [T],
    weight: usize,
    compare: &(dyn Fn(&T, &T) -> Ordering + Sync),
) {
    let is_less = |a: &T, b: &T| compare(a, b).is_lt();
    sort_parts(data, weight, &is_less, &|part: &mut [T]| {
        part.sort_unstable_by(compare);
    });
}

fn sort_parts<T: Copy + Send + Sync>(
    data: &mut [T],
    weight: usize,
    is_less: &(impl Fn(&T, &T) -> bool + Sync),
    sort: &(impl Fn(&mut [T]) + Sync),
) {
    let len = data.len();
    if threads() == 1 || len.saturating_mul(weight) < GRAIN {
        return sort(data);
    }
    if data.is_sorted_by(|a, b| !is_less(b, a)) {
        return;
    }
    if data.is_sorted_by(|a, b| is_less(b, a)) {
        return data.reverse();
    }
    let wanted = (PARTS * threads())
        .min(len.saturating_mul(weight) / PART)
        .next_power_of_two();
    let first = Shared(data.as_mut_ptr().cast());
    // The starts of the parts, and the end.
    let mut bounds = vec![0, len];
    while bounds.len() <= wanted {
        let middles: Vec<_> = bounds.windows(2).map(|_| AtomicUsize::new(0)).collect();
        each(middles.len(), &|at| {
            // SAFETY: bounds ascend up to the length, so parts are within `data` and apart from each other.
            let part = unsafe { part(first, bounds[at], bounds[at + 1]) };
            middles[at].store(bounds[at] + partition(part, is_less), Relaxed);
        });
        bounds.extend(middles.into_iter().map(AtomicUsize::into_inner));
        bounds.sort_unstable();
    }
    each(bounds.len() - 1, &|at| {
        // SAFETY: as above.
        sort(unsafe { part(first, bounds[at], bounds[at + 1]) });
    });
}

/// Returns the elements from `start` to before `end`.
///
/// # Safety
/// They are within the slice that begins at `first`, and nobody else accesses them.
unsafe fn part<'a, T>(first: Shared, start: usize, end: usize) -> &'a mut [T] {
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts_mut(first.get().cast::<T>().add(start), end - start) }
}

/// Moves the elements below a pivot to the front and returns their number. Few elements stay as they are.
#[allow(clippy::manual_swap, reason = "the element is compared meanwhile")]
fn partition<T: Copy>(data: &mut [T], is_less: &impl Fn(&T, &T) -> bool) -> usize {
    if data.len() < 2 * SAMPLE {
        return 0;
    }
    let step = data.len() / SAMPLE;
    let mut sample: [T; SAMPLE] = std::array::from_fn(|i| data[i * step]);
    sample.sort_unstable_by(|a, b| is_less(b, a).cmp(&is_less(a, b)));
    let pivot = sample[SAMPLE / 2];
    let mut below = 0;
    // Branchless, because a branch on an element would be mispredicted half of the time.
    for at in 0..data.len() {
        let x = data[at];
        data[at] = data[below];
        data[below] = x;
        below += usize::from(is_less(&x, &pivot));
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(len: usize) -> Vec<Vec<(u32, usize)>> {
        let mut state = 7_u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 32) as u32
        };
        vec![
            (0..len).map(|at| (random(), at)).collect(),
            (0..len).map(|at| (random() % 3, at)).collect(),
            (0..len).map(|at| (1, at)).collect(),
            (0..len).map(|at| (1, len - at)).collect(),
            // Ascending and then descending; ascending except for the last.
            (0..len).map(|at| (at.min(len - at) as u32, at)).collect(),
            (0..len).map(|at| (0, (at + 1) % len.max(1))).collect(),
        ]
    }

    #[test]
    fn sorts_as_one_thread_does() {
        let lengths: &[usize] = if cfg!(miri) {
            &[GRAIN + 1]
        } else {
            &[0, 1, 3, GRAIN - 1, GRAIN, 3 * GRAIN + 17, 1 << 18]
        };
        let check = || {
            for &len in lengths {
                for given in samples(len) {
                    let mut wanted = given.clone();
                    wanted.sort_unstable();
                    let mut found = given.clone();
                    sort(&mut found);
                    assert!(found == wanted, "{len}");
                    let mut found = given;
                    sort_by(&mut found, 20, &|a, b| b.cmp(a));
                    wanted.reverse();
                    assert!(found == wanted, "{len}, descending");
                }
            }
        };
        check();
        #[cfg(feature = "rayon")]
        for threads in if cfg!(miri) { 2..3 } else { 2..5 } {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(check);
        }
    }
}
