//! Properties of the processor that kernels use.

use crate::cpu::{cache, nontemporal, simd};

/// The properties of the processor by which kernels of the host decide.
///
/// ```
/// let processor = nomina_runtime::call::processor();
/// assert!(processor.past_caches >= 16 << 20);
/// println!("{processor:?}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Processor {
    /// The instruction set of loops: `"baseline"`, `"avx2"` or `"avx512"`.
    pub simd: &'static str,
    /// The number of cache lines 4 KiB apart that the first-level cache holds.
    pub first_ways: usize,
    /// The bytes of the third-level cache and the number of threads that share it, if the processor reports them.
    pub third: Option<[usize; 2]>,
    /// The bytes read and written by an operator from which its result bypasses the caches.
    pub past_caches: usize,
}

/// Returns the properties, which are determined once.
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
