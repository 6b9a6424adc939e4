//! Sparse tensors as coordinates and values.
//!
//! Here a coordinate is one number, its *key*: the row-major position among the sparse dims.
//! Strictly increasing keys name every position at most once, in row-major order; such coordinates
//! are *coalesced*.

use std::ops::Range;

use half::{bf16, f16};
use nomina_core::Element;
use num_complex::Complex;

use super::numeric::{Convert, Number};
use super::parallel::{GRAIN, Missing, Shared, each, rows, split, threads};
use super::parallel_sort;
use crate::memory::scratch::{collect, filled, push};
use crate::memory::{NoMemory, Scratch};

/// An element type and the type that it is summed in.
pub(crate) trait Cell: Element {
    /// The type in which sums are computed.
    type Wide: Number;
    fn wide(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
}

macro_rules! own_sums {
    ($($t:ty)*) => {$(
        impl Cell for $t {
            type Wide = Self;
            #[inline(always)]
            fn wide(self) -> Self {
                self
            }
            #[inline(always)]
            fn narrow(wide: Self) -> Self {
                wide
            }
        }
    )*};
}
own_sums!(bool u8 i8 i16 i32 i64 f64 Complex<f64>);

macro_rules! wide_sums {
    ($($t:ty => $wide:ty;)*) => {$(
        impl Cell for $t {
            type Wide = $wide;
            #[inline(always)]
            fn wide(self) -> $wide {
                self.convert()
            }
            #[inline(always)]
            fn narrow(wide: $wide) -> Self {
                wide.convert()
            }
        }
    )*};
}
wide_sums! {
    f16 => f64;
    bf16 => f64;
    f32 => f64;
    Complex<f32> => Complex<f64>;
}

/// Returns the keys of `n` coordinates, given as one row per dim. All are within `sizes`.
pub(crate) fn keys(indices: &[i64], n: usize, sizes: &[usize]) -> Result<Vec<usize>, NoMemory> {
    let mut keys = filled([n], 0)?;
    rows(&mut keys, 1, &|first, part| {
        for (dim, &size) in sizes.iter().enumerate() {
            let row = &indices[dim * n + first..][..part.len()];
            for (key, &index) in part.iter_mut().zip(row) {
                *key = *key * size + index as usize;
            }
        }
    });
    Ok(keys)
}

/// Returns the coordinates of keys as one row per dim.
pub(crate) fn coordinates(keys: &[usize], sizes: &[usize]) -> Result<Vec<i64>, NoMemory> {
    let n = keys.len();
    let mut out = filled([n, sizes.len()], 0)?;
    if n == 0 {
        return Ok(out);
    }
    let mut inner = 1;
    for (row, &size) in out.chunks_exact_mut(n).zip(sizes).rev() {
        rows(row, 1, &|first, part| {
            for (index, &key) in part.iter_mut().zip(&keys[first..]) {
                *index = (key / inner % size) as i64;
            }
        });
        inner *= size;
    }
    Ok(out)
}

/// Returns whether keys increase strictly.
pub(crate) fn is_sorted(keys: &[usize]) -> bool {
    keys.windows(2).all(|pair| pair[0] < pair[1])
}

/// Sorts keys and returns each with its previous position; the sort is stable.
pub(crate) fn sorted(keys: &[usize]) -> Result<Vec<(usize, usize)>, NoMemory> {
    let mut order = collect(keys.iter().copied().zip(0..))?;
    parallel_sort::sort(&mut order);
    Ok(order)
}

/// Returns the start of each run of equal keys, and the end.
pub(crate) fn runs(order: &[(usize, usize)]) -> Result<Vec<usize>, NoMemory> {
    let begins = |at: &usize| *at == 0 || order[*at - 1].0 != order[*at].0;
    let starts = (0..order.len()).filter(begins);
    collect(starts.chain([order.len()]))
}

/// Sums the values of each run: blocks of `block` elements, added in their original order.
pub(crate) fn sum_runs<T: Cell>(
    values: &[T],
    block: usize,
    order: &[(usize, usize)],
    starts: &[usize],
    out: &mut [T],
) {
    rows(out, block, &|first, part| {
        for (run, out) in part.chunks_exact_mut(block).enumerate() {
            let run = &order[starts[first + run]..starts[first + run + 1]];
            let at = |i: usize| &values[run[i].1 * block..][..block];
            if run.len() == 1 {
                out.copy_from_slice(at(0));
                continue;
            }
            for (i, out) in out.iter_mut().enumerate() {
                let mut sum = at(0)[i].wide();
                for other in 1..run.len() {
                    sum = sum.add(at(other)[i].wide());
                }
                *out = T::narrow(sum);
            }
        }
    });
}

/// Adds blocks of values to those at their keys. Keys increase strictly.
pub(crate) fn add_at<T: Cell>(keys: &[usize], values: &[T], block: usize, out: &mut [T]) {
    if block == 0 {
        return;
    }
    let ptr = Shared(out.as_mut_ptr().cast());
    let len = out.len();
    split(keys.len(), (GRAIN / block).max(1), &|range| {
        for at in range {
            let start = keys[at] * block;
            assert!(start + block <= len, "a key beyond the tensor");
            // SAFETY: within `out`; keys are distinct, so the blocks do not overlap.
            let out =
                unsafe { std::slice::from_raw_parts_mut(ptr.get().cast::<T>().add(start), block) };
            for (out, &value) in out.iter_mut().zip(&values[at * block..][..block]) {
                *out = T::narrow(out.wide().add(value.wide()));
            }
        }
    });
}

/// Copies the blocks at the given keys.
pub(crate) fn gather<T: Cell>(keys: &[usize], source: &[T], block: usize, out: &mut [T]) {
    rows(out, block, &|first, part| {
        for (out, &key) in part.chunks_exact_mut(block).zip(&keys[first..]) {
            out.copy_from_slice(&source[key * block..][..block]);
        }
    });
}

/// Returns the positions at which a mask is true.
pub(crate) fn positions(mask: &[bool]) -> Result<Vec<usize>, NoMemory> {
    let chunks = mask.len().div_ceil(GRAIN);
    let range =
        |chunk: usize| -> Range<usize> { chunk * GRAIN..mask.len().min((chunk + 1) * GRAIN) };
    let mut counts = Scratch::new([chunks], 0_usize)?;
    let ptr = Shared(counts.as_mut_ptr().cast());
    each(chunks, &|chunk| {
        let part = &mask[range(chunk)];
        let count = part.iter().filter(|&&holds| holds).count();
        // SAFETY: each chunk writes its own element.
        unsafe { ptr.get().cast::<usize>().add(chunk).write(count) };
    });
    // Replaces each count by the start of its chunk.
    let mut total = 0;
    for count in counts.iter_mut() {
        total += std::mem::replace(count, total);
    }
    let (starts, mut out) = (counts, filled([total], 0)?);
    let ptr = Shared(out.as_mut_ptr().cast());
    each(chunks, &|chunk| {
        let held = range(chunk).filter(|&i| mask[i]);
        for (at, i) in (starts[chunk]..).zip(held) {
            // SAFETY: each chunk writes the positions that were counted for it, from
            // `starts[chunk]` on.
            unsafe { ptr.get().cast::<usize>().add(at).write(i) };
        }
    });
    Ok(out)
}

/// Returns the positions of the entries whose keys are in both of two lists of strictly increasing
/// keys.
pub(crate) fn common(a: &[usize], b: &[usize]) -> Result<(Vec<usize>, Vec<usize>), NoMemory> {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            push(&mut left, i)?;
            push(&mut right, j)?;
        }
        (i, j) = (i + usize::from(a[i] <= b[j]), j + usize::from(a[i] >= b[j]));
    }
    Ok((left, right))
}

/// A sparse matrix with entries in row-major order.
pub(crate) struct SparseRows<'a, T> {
    /// The index of each row's first entry, and the end.
    pub starts: &'a [usize],
    /// The column of each entry.
    pub columns: &'a [i64],
    pub values: &'a [T],
}

/// Returns the index of the first entry of each of `n` rows, and the end, for entries sorted by
/// row.
pub(crate) fn row_starts(rows: &[i64], n: usize) -> Result<Vec<usize>, NoMemory> {
    let mut starts = filled([n.saturating_add(1)], 0)?;
    for &row in rows {
        starts[row as usize + 1] += 1;
    }
    for row in 0..n {
        starts[row + 1] += starts[row];
    }
    Ok(starts)
}

/// Computes the product with a dense, row-major matrix of `n` columns and writes all of `out`. Rows
/// are computed one by one, in parts with about equal numbers of entries; sums are computed in
/// `Wide`.
pub(crate) fn product<T: Cell>(
    a: &SparseRows<'_, T>,
    b: &[T],
    n: usize,
    out: &mut [T],
) -> Result<(), NoMemory> {
    let count = a.starts.len() - 1;
    if n == 0 || count == 0 {
        return Ok(());
    }
    debug_assert_eq!(out.len(), count * n);
    let work = a.values.len() * n + out.len();
    let parts = (work / GRAIN).clamp(1, threads() * 4).min(count);
    // Entries and rows both count as work: the work up to a row is the number of entries and rows
    // before it.
    let total = a.values.len() + count;
    let bound = |part: usize| {
        let share = (total as u128 * part as u128 / parts as u128) as usize;
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            if a.starts[middle] + middle < share {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    };
    let bounds: Vec<usize> = (0..parts).map(bound).chain([count]).collect();
    let ptr = Shared(out.as_mut_ptr().cast());
    let some = |part: usize| {
        let mut sums = Scratch::new([n], <T::Wide as Default>::default())?;
        for row in bounds[part]..bounds[part + 1] {
            sums.fill(<T::Wide as Default>::default());
            for at in a.starts[row]..a.starts[row + 1] {
                let value = a.values[at].wide();
                let line = &b[a.columns[at] as usize * n..][..n];
                for (sum, &other) in sums.iter_mut().zip(line) {
                    *sum = sum.add(value.mul(other.wide()));
                }
            }
            // SAFETY: every row is in exactly one part.
            let out =
                unsafe { std::slice::from_raw_parts_mut(ptr.get().cast::<T>().add(row * n), n) };
            for (out, &sum) in out.iter_mut().zip(sums.iter()) {
                *out = T::narrow(sum);
            }
        }
        Ok(())
    };
    let missing = Missing::new();
    each(parts, &|part| missing.attempt(|| some(part)));
    missing.result()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_coordinates_are_inverse() {
        let indices = [1, 0, 1, 2, 0, 1];
        let keys = keys(&indices, 3, &[2, 3]).unwrap();
        assert_eq!(keys, [5, 0, 4]);
        assert_eq!(coordinates(&keys, &[2, 3]).unwrap(), indices);
        assert_eq!(coordinates(&[], &[2, 3]).unwrap(), []);
        assert!(!is_sorted(&keys) && is_sorted(&[0, 4, 5]) && !is_sorted(&[1, 1]));
    }

    #[test]
    fn equal_keys_are_summed() {
        let order = sorted(&[3, 1, 3]).unwrap();
        let starts = runs(&order).unwrap();
        assert_eq!(starts, [0, 1, 3]);
        let mut out = [0; 4];
        sum_runs(&[1, 2, 10, 20, 100, 200], 2, &order, &starts, &mut out);
        assert_eq!(out, [10, 20, 101, 202]);
        let mut out = [f16::ZERO; 1];
        let small = [f16::from_f32(2048.0), f16::ONE, f16::ONE];
        let order = sorted(&[0, 0, 0]).unwrap();
        sum_runs(&small, 1, &order, &runs(&order).unwrap(), &mut out);
        assert_eq!(out[0].to_f32(), 2050.0);
    }

    #[test]
    fn positions_of_a_long_mask() {
        let mask: Vec<bool> = (0..3 * GRAIN + 5).map(|i| i % 7 == 3).collect();
        let wanted: Vec<usize> = (0..mask.len()).filter(|i| i % 7 == 3).collect();
        assert_eq!(positions(&mask).unwrap(), wanted);
        let both = common(&[1, 4, 6], &[0, 4, 5, 6]).unwrap();
        assert_eq!(both, (vec![1, 2], vec![1, 3]));
    }

    #[test]
    fn products_of_uneven_rows() {
        // One row holds almost all entries; many are empty.
        let (count, n) = (1000, 70);
        let rows: Vec<i64> = (0..4000)
            .map(|i| if i < 3900 { 5 } else { i - 3500 })
            .collect();
        let columns: Vec<i64> = (0..4000).map(|i| i * 7 % 50).collect();
        let values: Vec<i64> = (0..4000).map(|i| i % 11 - 5).collect();
        let b: Vec<i64> = (0..50 * n as i64).map(|i| i % 13).collect();
        let mut wanted = vec![0; count * n];
        for ((&row, &column), &value) in rows.iter().zip(&columns).zip(&values) {
            for j in 0..n {
                wanted[row as usize * n + j] += value * b[column as usize * n + j];
            }
        }
        let starts = row_starts(&rows, count).unwrap();
        let a = SparseRows {
            starts: &starts,
            columns: &columns,
            values: &values,
        };
        let mut out = vec![7; count * n];
        product(&a, &b, n, &mut out).unwrap();
        assert_eq!(out, wanted);
    }
}
