//! A key and a position in one number, and sorting of such numbers.

use super::key::{KeyBits, KeyKind};
use crate::cpu::parallel::threads;
use crate::cpu::parallel_sort;

/// A key in the high bits and a position in the low bits: the order is by key, then by position.
pub(super) trait PackedKey: Copy + Ord + Send + Sync {
    /// Packs a key and a position.
    fn new(key: u64, at: usize) -> Self;
    /// Returns the key.
    fn key(self) -> u64;
    /// Returns the position.
    fn at(self) -> usize;
}

/// Keys of up to 32 bits, positions below 2³².
impl PackedKey for u64 {
    #[inline(always)]
    fn new(key: u64, at: usize) -> Self {
        key << 32 | at as u64
    }
    #[inline(always)]
    fn key(self) -> u64 {
        self >> 32
    }
    #[inline(always)]
    fn at(self) -> usize {
        (self & 0xffff_ffff) as usize
    }
}

impl PackedKey for u128 {
    #[inline(always)]
    fn new(key: u64, at: usize) -> Self {
        u128::from(key) << 64 | at as u128
    }
    #[inline(always)]
    fn key(self) -> u64 {
        (self >> 64) as u64
    }
    #[inline(always)]
    fn at(self) -> usize {
        (self & u128::from(u64::MAX)) as usize
    }
}

/// Packs the keys of a line with their positions; in reverse order of keys if `descending`.
pub(super) fn pack<B: KeyBits, P: PackedKey>(
    line: &[B],
    kind: KeyKind,
    descending: bool,
    into: &mut Vec<P>,
) {
    let turn = if descending { B::ALL } else { 0 };
    into.clear();
    let each = |(at, x): (usize, &B)| P::new(x.key(kind) ^ turn, at);
    into.extend(line.iter().enumerate().map(each));
}

/// The length from which several threads sort one line together.
const TOGETHER: usize = 1 << 17;
/// The length from which one radix pass per byte of short keys is faster than comparisons.
const RADIX: usize = 1 << 10;

/// Returns whether sorting this many elements needs a spare buffer of the same length.
pub(super) fn needs_spare(len: usize, width: u32) -> bool {
    len >= RADIX && width <= 32
}

/// Sorts the result of [`pack`], whose keys have `width` bits.
pub(super) fn sort<P: PackedKey>(packed: &mut Vec<P>, width: u32, spare: &mut Vec<P>) {
    if packed.len() >= TOGETHER && threads() >= 4 {
        parallel_sort::sort(packed);
    } else if needs_spare(packed.len(), width) {
        radix(packed, width, spare);
    } else {
        packed.sort_unstable();
    }
}

/// Sorts byte by byte from the lowest; each pass is stable.
fn radix<P: PackedKey>(packed: &mut Vec<P>, width: u32, spare: &mut Vec<P>) {
    let n = packed.len();
    spare.clear();
    spare.extend_from_slice(packed);
    for shift in (0..width).step_by(8) {
        let byte = |p: P| (p.key() >> shift) as usize & 0xff;
        let mut starts = [0_usize; 256];
        for &p in packed.iter() {
            starts[byte(p)] += 1;
        }
        if starts.contains(&n) {
            continue;
        }
        let mut total = 0;
        for start in &mut starts {
            total += std::mem::replace(start, total);
        }
        for &p in packed.iter() {
            let start = &mut starts[byte(p)];
            spare[*start] = p;
            *start += 1;
        }
        std::mem::swap(packed, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radix_sorts_as_comparisons_do() {
        let mut state = 7_u64;
        for width in [8, 16, 32] {
            let mut packed: Vec<u64> = (0..5000)
                .map(|at| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    u64::new(state >> (64 - width), at)
                })
                .collect();
            let mut sorted = packed.clone();
            sorted.sort_unstable();
            radix(&mut packed, width, &mut Vec::new());
            assert!(packed == sorted);
        }
    }
}
