//! Cache sizes, as the processor reports them.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__cpuid_count;
use std::sync::OnceLock;

/// Cache lines whose addresses differ by a multiple of this many bytes share a set of the first-level cache
/// on all processors with AVX2.
pub(crate) const APART: usize = 4096;

/// The number of ways that is assumed if the processor does not report it.
const FEWEST: usize = 8;

/// A data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cache {
    pub bytes: usize,
    /// Lines per set.
    pub ways: usize,
    /// Hardware threads that share the cache.
    pub sharing: usize,
}

/// Returns the first three levels; `None` for those that the processor does not report.
fn levels() -> &'static [Option<Cache>; 3] {
    static LEVELS: OnceLock<[Option<Cache>; 3]> = OnceLock::new();
    LEVELS.get_or_init(|| [1, 2, 3].map(asked))
}

/// Returns the number of lines [`APART`] that the first-level cache holds, or the fewest if the processor
/// does not report it.
pub(crate) fn ways() -> usize {
    levels()[0].map_or(FEWEST, |first| first.ways)
}

/// Returns the third-level cache.
pub(crate) fn third() -> Option<Cache> {
    levels()[2]
}

/// Queries the processor by CPUID.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn asked(level: u32) -> Option<Cache> {
    // Intel's leaf, then AMD's, in the same format; each has one entry per cache.
    let mut entries = [4, 0x8000_001d]
        .into_iter()
        .filter(|&leaf| __cpuid_count(leaf & 0x8000_0000, 0).eax >= leaf)
        .flat_map(|leaf| (0..8).map(move |entry| __cpuid_count(leaf, entry)));
    let found =
        entries.find(|entry| [1, 3].contains(&(entry.eax & 31)) && entry.eax >> 5 & 7 == level)?;
    let part = |word: u32, low: u32, bits: u32| (word >> low & ((1 << bits) - 1)) as usize + 1;
    let ways = part(found.ebx, 22, 10);
    let line = [
        part(found.ebx, 12, 10),
        part(found.ebx, 0, 12),
        found.ecx as usize + 1,
    ];
    Some(Cache {
        bytes: crate::shape::product([ways].into_iter().chain(line)),
        ways,
        sharing: part(found.eax, 14, 12),
    })
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn asked(_level: u32) -> Option<Cache> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_of_a_likely_size() {
        assert!((4..=32).contains(&ways()), "{}", ways());
        let found: Vec<_> = levels().iter().flatten().collect();
        for cache in &found {
            assert!((8 << 10..=4 << 30).contains(&cache.bytes), "{cache:?}");
            assert!(cache.bytes.is_multiple_of(cache.ways), "{cache:?}");
        }
        assert!(
            found.is_sorted_by(|near, far| near.bytes < far.bytes),
            "{found:?}"
        );
    }
}
