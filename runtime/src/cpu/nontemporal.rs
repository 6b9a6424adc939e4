//! Non-temporal stores: results that bypass the caches.
//!
//! An ordinary store first reads the cache line that it writes to. For results far larger than the caches near the
//! cores this is a third to a half of all memory traffic, and later readers find the result in memory anyway. Large
//! results are therefore computed block by block in a buffer in the first-level cache and copied from there by stores
//! that do not read.

use std::sync::OnceLock;

use super::cache::{self, Cache};

/// Returns the number of bytes read and written by an operation from which its result is written by non-temporal
/// stores. This is more than the process's share of the third-level cache, clamped to the range around the value at
/// which they were measured to pay. Tests use a small threshold, so that they cover both paths.
pub(crate) fn far() -> usize {
    static FAR: OnceLock<usize> = OnceLock::new();
    *FAR.get_or_init(|| {
        if cfg!(test) {
            4 << 10
        } else {
            let here = std::thread::available_parallelism().map_or(1, usize::from);
            beyond(cache::third(), here)
        }
    })
}

/// Returns the part of a cache that belongs to this process if `here` threads may run.
fn beyond(third: Option<Cache>, here: usize) -> usize {
    let share = third.map_or(0, |third| {
        third.bytes / third.sharing * here.min(third.sharing)
    });
    share.clamp(16 << 20, 64 << 20)
}

/// A good number of bytes to stage in the first-level cache: whole cache lines, and short enough that the processor
/// continues to read while it writes.
pub(crate) const BLOCK: usize = 2048;

/// The size and alignment of each store.
const LINE: usize = 64;

/// Non-temporal stores of this machine. Every thread that has used them calls [`NonTemporal::settle`] before other
/// threads may read what it wrote.
#[derive(Clone, Copy)]
pub(crate) struct NonTemporal(unsafe fn(*const u8, *mut u8, usize));

impl NonTemporal {
    /// Returns the stores for an operation that reads and writes `bytes` bytes, or `None` if ordinary stores are
    /// better.
    pub(crate) fn for_bytes(bytes: usize) -> Option<Self> {
        if bytes < far() {
            return None;
        }
        Self::here()
    }

    /// Returns the stores of this machine.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn here() -> Option<Self> {
        use super::simd::{Level, level};
        Some(Self(match level() {
            Level::Avx512 => lines512,
            Level::Avx2 => lines256,
            Level::Baseline => lines128,
        }))
    }

    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    fn here() -> Option<Self> {
        None
    }

    /// Copies `n` bytes; whole cache lines by non-temporal stores.
    ///
    /// # Safety
    /// `n` bytes are readable at `from` and writable at `to`, and they do not overlap.
    #[inline]
    pub(crate) unsafe fn copy(self, from: *const u8, to: *mut u8, n: usize) {
        let head = (to.addr().wrapping_neg() % LINE).min(n);
        let lines = (n - head) / LINE * LINE;
        let tail = head + lines;
        // SAFETY: guaranteed by the caller; the start of the lines is aligned.
        unsafe {
            if head > 0 {
                to.copy_from_nonoverlapping(from, head);
            }
            if lines > 0 {
                (self.0)(from.add(head), to.add(head), lines);
            }
            if tail < n {
                to.add(tail)
                    .copy_from_nonoverlapping(from.add(tail), n - tail);
            }
        }
    }

    /// Returns the number of elements, at least one and at most `most`, of `size` bytes up to the next multiple of
    /// [`BLOCK`] after `to`, so that consecutive blocks meet at cache-line boundaries.
    #[inline]
    pub(crate) fn until_block(to: *const u8, size: usize, most: usize) -> usize {
        ((BLOCK - to.addr() % BLOCK) / size).clamp(1, most)
    }

    /// Orders this thread's non-temporal stores before its later ordinary stores, so that other threads see them.
    #[inline]
    pub(crate) fn settle(self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: every x86-64 processor has the instruction.
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
    }
}

/// Defines functions that copy `n` bytes, a multiple of [`LINE`], to a line-aligned address.
///
/// An iteration loads and then stores a whole line: a loop of single stores is so short that its place in the program
/// decides its speed (1.3 times the time of `relu` on Zen 3, if it crossed a line of code).
#[cfg(all(target_arch = "x86_64", not(miri)))]
macro_rules! lines {
    ($($name:ident: $(#[$feature:meta])? $load:ident, $stream:ident, $($part:literal)+;)+) => {$(
        /// # Safety
        /// The requirements of [`NonTemporal::copy`]; the processor has the instructions.
        $(#[$feature])?
        unsafe fn $name(from: *const u8, to: *mut u8, n: usize) {
            use std::arch::x86_64::{$load, $stream};
            const BYTES: usize = LINE / [$($part),+].len();
            for at in (0..n).step_by(LINE) {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    let (from, to) = (from.add(at), to.add(at));
                    let line = [$($load(from.add($part * BYTES).cast())),+];
                    $($stream(to.add($part * BYTES).cast(), line[$part]);)+
                }
            }
        }
    )+};
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
lines! {
    lines128: _mm_loadu_si128, _mm_stream_si128, 0 1 2 3;
    lines256: #[target_feature(enable = "avx2")] _mm256_loadu_si256, _mm256_stream_si256, 0 1;
    lines512: #[target_feature(enable = "avx512f")] _mm512_loadu_si512, _mm512_stream_si512, 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_wherever_it_begins_and_ends() {
        let Some(past) = NonTemporal::here() else {
            return;
        };
        let from: Vec<u8> = (0..700).map(|i| i as u8).collect();
        for start in [0, 1, 15, 63, 64, 65] {
            for n in [0, 1, 2, 63, 64, 65, 127, 128, 200, 500] {
                let mut to = vec![0_u8; 700];
                // SAFETY: both buffers have room for `n` bytes.
                unsafe { past.copy(from.as_ptr().add(3), to.as_mut_ptr().add(start), n) };
                past.settle();
                assert_eq!(to[start..start + n], from[3..3 + n]);
                assert!(to[..start].iter().chain(&to[start + n..]).all(|&x| x == 0));
            }
        }
    }

    #[test]
    fn blocks_end_where_they_should() {
        let at = |address: usize, size, most| {
            NonTemporal::until_block(std::ptr::without_provenance(address), size, most)
        };
        assert_eq!(at(4096, 4, 1000), 512);
        assert_eq!(at(4096 + 2024, 4, 1000), 6);
        assert_eq!(at(4096 + 2044, 16, 1000), 1);
        assert_eq!(at(4096, 4, 10), 10);
    }

    #[test]
    fn a_share_of_the_cache_is_near() {
        let third = |bytes: usize, sharing| {
            Some(Cache {
                bytes: bytes << 20,
                ways: 16,
                sharing,
            })
        };
        assert_eq!(beyond(None, 8), 16 << 20);
        assert_eq!(beyond(third(32, 2), 2), 32 << 20);
        assert_eq!(beyond(third(32, 16), 16), 32 << 20);
        // Two of a hundred threads, and a cache larger than any process gets to itself.
        assert_eq!(beyond(third(256, 100), 2), 16 << 20);
        assert_eq!(beyond(third(256, 8), 8), 64 << 20);
    }

    #[test]
    fn only_what_is_large() {
        assert!(NonTemporal::for_bytes(far() - 1).is_none());
        assert_eq!(
            NonTemporal::for_bytes(far()).is_some(),
            NonTemporal::here().is_some()
        );
    }
}
