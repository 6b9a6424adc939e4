//! The processor, as kernels see it.

use crate::cpu::{cache, nontemporal, simd};

/// What kernels of the host know of its processor, and decide by it.
///
/// ```
/// let processor = nomina_runtime::call::processor();
/// assert!(processor.past_caches >= 16 << 20);
/// println!("{processor:?}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Processor {
    /// The instructions of loops: `"baseline"`, `"avx2"` or `"avx512"`.
    pub simd: &'static str,
    /// How many lines of memory that are 4 KiB apart the first-level cache holds.
    pub first_ways: usize,
    /// The bytes of the third-level cache and how many threads of the processor share it, where it says so.
    pub third: Option<[usize; 2]>,
    /// The bytes that an operator reads and writes from which on its result goes past the caches.
    pub past_caches: usize,
}

/// The processor, as kernels see it; found once.
#[must_use]
pub fn processor() -> Processor {
    Processor {
        simd: match simd::level() {
            simd::Level::Baseline => "baseline",
            simd::Level::Avx2 => "avx2",
            simd::Level::Avx512 => "avx512",
        },
        first_ways: cache::ways(),
        third: cache::third().map(|third| [third.bytes, third.sharing]),
        past_caches: nontemporal::far(),
    }
}
