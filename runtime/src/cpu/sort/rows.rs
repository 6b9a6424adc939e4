//! Runs of equal elements of a line, or of equal rows, compared in the order of their dtype.

use std::cmp::Ordering;

use super::by_bits;
use super::key::{KeyBits, KeyKind};
use crate::cpu::parallel_sort;
use crate::job::ContiguousRows;
use crate::memory::NoMemory;
use crate::memory::scratch::collect;

impl ContiguousRows {
    /// Returns the indices of the rows in the order of their elements; the sort is stable.
    ///
    /// # Safety
    /// The rows are in bounds.
    pub unsafe fn sorted(self) -> Result<Vec<i64>, NoMemory> {
        let mut order = collect(0..self.count as i64)?;
        by_bits!(self.dtype, B, kind => {
            // SAFETY: guaranteed by the caller.
            let row = |at: i64| unsafe { self.row::<B>(at as usize) };
            let compare = |&a: &i64, &b: &i64| by_keys(row(a), row(b), kind).then(a.cmp(&b));
            // A comparison costs a cache miss per row, and more if rows have equal prefixes.
            parallel_sort::sort_by(&mut order, self.len.clamp(1, 64), &compare);
        });
        Ok(order)
    }

    /// Returns the positions, in the given order of rows or in their own, at which a row differs
    /// from the one before. A row with a NaN differs from all others.
    ///
    /// # Safety
    /// The rows are in bounds; `order` has `count` of their indices.
    pub unsafe fn starts(self, order: Option<&[i64]>) -> Result<Vec<i64>, NoMemory> {
        let at = |i: usize| order.map_or(i, |order| order[i] as usize);
        by_bits!(self.dtype, B, kind => {
            // SAFETY: guaranteed by the caller.
            let row = |i: usize| unsafe { self.row::<B>(at(i)) };
            let differs = |&i: &usize| i == 0 || !same(row(i - 1), row(i), kind);
            collect((0..self.count).filter(differs).map(|i| i as i64))
        })
    }

    /// Returns one row.
    ///
    /// # Safety
    /// The rows are in bounds, and `at` is one of them.
    unsafe fn row<'a, B: KeyBits>(self, at: usize) -> &'a [B] {
        // SAFETY: guaranteed by the caller.
        unsafe { std::slice::from_raw_parts(self.x.cast::<B>().add(at * self.len), self.len) }
    }
}

fn by_keys<B: KeyBits>(a: &[B], b: &[B], kind: KeyKind) -> Ordering {
    let each = a.iter().zip(b).map(|(a, b)| a.key(kind).cmp(&b.key(kind)));
    each.into_iter()
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn same<B: KeyBits>(a: &[B], b: &[B], kind: KeyKind) -> bool {
    a.iter()
        .zip(b)
        .all(|(a, b)| a.key(kind) == b.key(kind) && !a.is_nan(kind))
}

/// Returns the group of each row and the number of rows of each group, given the starts of groups.
/// `order` are the rows' indices; without it, rows are already in order.
pub(crate) fn groups(
    starts: &[i64],
    order: Option<&[i64]>,
    inverse: &mut [i64],
    counts: &mut [i64],
) {
    for (group, (&start, size)) in starts.iter().zip(counts).enumerate() {
        let start = start as usize;
        let end = starts
            .get(group + 1)
            .map_or(inverse.len(), |&end| end as usize);
        *size = (end - start) as i64;
        for i in start..end {
            inverse[order.map_or(i, |order| order[i] as usize)] = group as i64;
        }
    }
}
