//! Selection of the instruction set that loops use.
//!
//! A loop is written once, as plain Rust that the compiler vectorises, and compiled for each [`Level`].
//! The level is determined once per process. `NOMINA_SIMD=baseline|avx2|avx512` lowers it.

use std::sync::OnceLock;

/// An instruction set; the discriminant is the index of its copy of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub(crate) enum Level {
    /// The compiler's target.
    Baseline,
    /// 256-bit registers.
    Avx2,
    /// 512-bit registers and masks.
    Avx512,
}

/// The number of levels.
pub(crate) const LEVELS: usize = 3;

/// Returns the best level of this machine, or the lower one that `NOMINA_SIMD` names.
#[inline]
pub(crate) fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let wanted = match std::env::var("NOMINA_SIMD").as_deref() {
            Ok("baseline") => Level::Baseline,
            Ok("avx2") => Level::Avx2,
            _ => Level::Avx512,
        };
        wanted.min(detected())
    })
}

/// Like [`level`], for loops that only load, store and compute a single operation; AVX2 on AMD's processors. On Zen 4, 512-bit
/// loads and stores from the third-level cache take up to 1.3 times as long as 256-bit ones; newer ones were not measured.
#[inline]
pub(crate) fn transfer_level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let most = if is_amd() { Level::Avx2 } else { Level::Avx512 };
        level().min(most)
    })
}

/// Returns whether the processor is one of AMD's.
pub(crate) fn is_amd() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let id = std::arch::x86_64::__cpuid(0);
        let vendor = [id.ebx, id.edx, id.ecx].map(u32::to_le_bytes);
        vendor.as_flattened() == b"AuthenticAMD"
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    false
}

#[cfg(target_arch = "x86_64")]
fn detected() -> Level {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (avx2, avx512) {
        (true, true) => Level::Avx512,
        (true, false) => Level::Avx2,
        (false, _) => Level::Baseline,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detected() -> Level {
    Level::Baseline
}

/// Compiles an unsafe function for each level and returns an array of function pointers indexed by
/// [`Level`].
///
/// The body is inlined into each copy, so that all of it is compiled for the copy's level.
macro_rules! levels {
    (fn($($arg:ident: $t:ty),* $(,)?) $body:expr) => {{
        #[inline(always)]
        unsafe fn baseline($($arg: $t),*) {
            // SAFETY: the caller of the function upholds the requirements of the body.
            unsafe { $body }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        unsafe fn avx2($($arg: $t),*) {
            // SAFETY: guaranteed by the caller.
            unsafe { baseline($($arg),*) }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn avx512($($arg: $t),*) {
            // SAFETY: guaranteed by the caller.
            unsafe { baseline($($arg),*) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        use {baseline as avx2, baseline as avx512};
        [baseline as unsafe fn($($t),*), avx2, avx512]
    }};
}
pub(crate) use levels;

/// Like [`levels`], for a body that uses the constant `FMA`: whether its instruction set has a fused
/// multiply-add. For the baseline this is [`FMA`]. Without the instruction, `mul_add` is a slow library
/// call.
macro_rules! fused {
    (fn($($arg:ident: $t:ty),* $(,)?) $body:expr) => {{
        unsafe fn baseline($($arg: $t),*) {
            // SAFETY: the caller of the function upholds the requirements of the body.
            unsafe { $body }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        unsafe fn avx2($($arg: $t),*) {
            const FMA: bool = true;
            // SAFETY: as for the baseline.
            unsafe { $body }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn avx512($($arg: $t),*) {
            const FMA: bool = true;
            // SAFETY: as for the baseline.
            unsafe { $body }
        }
        #[cfg(not(target_arch = "x86_64"))]
        use {baseline as avx2, baseline as avx512};
        [baseline as unsafe fn($($t),*), avx2, avx512]
    }};
}
pub(crate) use fused;

/// Whether the compiler's target has a fused multiply-add.
pub(crate) const FMA: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

/// Like [`levels`], with one copy for all levels: for bodies that call a function per element, which no
/// instruction set makes faster.
macro_rules! one_level {
    (fn($($arg:ident: $t:ty),* $(,)?) $body:expr) => {{
        unsafe fn only($($arg: $t),*) {
            // SAFETY: the caller of the function upholds the requirements of the body.
            unsafe { $body }
        }
        [only as unsafe fn($($t),*); $crate::cpu::simd::LEVELS]
    }};
}
pub(crate) use one_level;

/// The size of a cache line.
const LINE: usize = 64;

/// Prefetches a slice if the processor supports it.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T]) {
    prefetch_bytes(slice.as_ptr().cast(), size_of_val(slice));
}

/// Like [`prefetch`], for addresses that need not be valid.
#[inline(always)]
pub(crate) fn prefetch_bytes(start: *const u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let end = start.addr().wrapping_add(bytes);
        let lines = (end.next_multiple_of(LINE) - start.addr() / LINE * LINE) / LINE;
        for line in 0..lines {
            // SAFETY: a hint never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * LINE).cast()) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (start, bytes, LINE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_level_beyond_the_machine() {
        assert!(level() <= detected());
    }
}
