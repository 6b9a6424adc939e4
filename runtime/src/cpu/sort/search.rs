//! Binary search in sorted sequences.

use crate::job::Search;

use super::by_bits;
use super::key::{KeyBits, KeyKind};
use crate::cpu::parallel::{GRAIN, Shared, split};

/// Writes the insertion position of each value.
///
/// # Safety
/// Operands are in bounds; `out` has room for the results, and nobody else accesses it meanwhile.
/// The indices of a sorter are within a sequence.
pub(crate) unsafe fn search(search: &Search, out: *mut i64) {
    let out = Shared(out.cast());
    by_bits!(search.dtype, B, kind => {
        split(search.count, GRAIN / 16, &|range| {
            for at in range {
                // SAFETY: guaranteed by the caller; ranges have different values.
                unsafe { out.get().cast::<i64>().add(at).write(place::<B>(search, kind, at) as i64) };
            }
        });
    });
}

unsafe fn place<B: KeyBits>(search: &Search, kind: KeyKind, at: usize) -> usize {
    let start = search.per_sequence.map_or(0, |each| at / each * search.len);
    // SAFETY: guaranteed by the caller.
    let value = unsafe { search.values.cast::<B>().add(at).read() }.key(kind);
    let (mut low, mut high) = (0, search.len);
    while low < high {
        let middle = low.midpoint(high);
        let index = if search.sorter.is_null() {
            middle
        } else {
            // SAFETY: guaranteed by the caller.
            unsafe { search.sorter.add(start + middle).read() as usize }
        };
        // SAFETY: guaranteed by the caller.
        let found = unsafe { search.sequence.cast::<B>().add(start + index).read() }.key(kind);
        if found < value || (search.right && found == value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
