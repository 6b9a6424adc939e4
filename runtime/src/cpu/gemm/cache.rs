//! The first-level cache, as far as tiles care.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__cpuid_count;
#[cfg(target_arch = "x86_64")]
use std::sync::OnceLock;

/// Lines whose addresses are so many bytes apart share a set of the cache, on all processors that
/// have AVX2.
pub(super) const APART: usize = 4096;

/// Such lines that caches hold at least.
const FEWEST: usize = 8;

/// How many such lines the cache holds; the fewest where the processor does not say.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn ways() -> usize {
    FEWEST
}

/// How many such lines the cache holds; the fewest where the processor does not say.
#[cfg(target_arch = "x86_64")]
pub(super) fn ways() -> usize {
    static WAYS: OnceLock<usize> = OnceLock::new();
    *WAYS.get_or_init(|| {
        // Intel's leaf, then AMD's, of the same form; each has an entry for every cache.
        let entries = [4, 0x8000_001d]
            .into_iter()
            .filter(|&leaf| __cpuid_count(leaf & 0x8000_0000, 0).eax >= leaf)
            .flat_map(|leaf| (0..4).map(move |entry| __cpuid_count(leaf, entry)));
        let data = |eax: u32| [1, 3].contains(&(eax & 31));
        let first = |eax: u32| eax >> 5 & 7 == 1;
        let mut caches = entries.filter(|entry| data(entry.eax) && first(entry.eax));
        caches
            .next()
            .map_or(FEWEST, |entry| (entry.ebx >> 22) as usize + 1)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_cache_has_a_number_of_ways() {
        if !cfg!(miri) {
            assert!((4..=32).contains(&super::ways()), "{}", super::ways());
        }
    }
}
