//! Which instruction set the loops use.
//!
//! A loop is written once, as plain Rust that the compiler vectorises, and compiled for each
//! [`Level`]; the level is found once per process. `NOMINA_SIMD=baseline|avx2|avx512` lowers it.

use std::sync::OnceLock;

/// An instruction set, by the index of its copy of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub(crate) enum Level {
    /// What the compiler's target has.
    Baseline,
    /// 256-bit registers.
    Avx2,
    /// 512-bit registers and masks.
    Avx512,
}

/// The number of levels.
pub(crate) const LEVELS: usize = 3;

/// The best level of this machine, or the lower one that `NOMINA_SIMD` names.
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

/// An unsafe function, compiled for each level: an array of function pointers by [`Level`].
///
/// The body is inlined into each copy, so that all of it is compiled for the copy's level.
macro_rules! levels {
    (fn($($arg:ident: $t:ty),* $(,)?) $body:expr) => {{
        #[inline(always)]
        unsafe fn baseline($($arg: $t),*) {
            // SAFETY: the caller of the function keeps what the body asks for.
            unsafe { $body }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        unsafe fn avx2($($arg: $t),*) {
            // SAFETY: as the caller promised.
            unsafe { baseline($($arg),*) }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn avx512($($arg: $t),*) {
            // SAFETY: as the caller promised.
            unsafe { baseline($($arg),*) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        use {baseline as avx2, baseline as avx512};
        [baseline as unsafe fn($($t),*), avx2, avx512]
    }};
}
pub(crate) use levels;

/// As [`levels`], of a body that asks whether its instruction set fuses a product and a sum into one
/// operation: `FMA` says so, which is [`FMA`] for the baseline. Elsewhere, `mul_add` is a call, and slow.
macro_rules! fused {
    (fn($($arg:ident: $t:ty),* $(,)?) $body:expr) => {{
        unsafe fn baseline($($arg: $t),*) {
            // SAFETY: the caller of the function keeps what the body asks for.
            unsafe { $body }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        unsafe fn avx2($($arg: $t),*) {
            const FMA: bool = true;
            // SAFETY: as of the baseline.
            unsafe { $body }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn avx512($($arg: $t),*) {
            const FMA: bool = true;
            // SAFETY: as of the baseline.
            unsafe { $body }
        }
        #[cfg(not(target_arch = "x86_64"))]
        use {baseline as avx2, baseline as avx512};
        [baseline as unsafe fn($($t),*), avx2, avx512]
    }};
}
pub(crate) use fused;

/// Whether the compiler's target fuses a product and a sum.
pub(crate) const FMA: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

/// As [`levels`], with one copy for all levels: for bodies that call a function per element, which
/// no instruction set makes faster.
macro_rules! one_level {
    (fn($($arg:ident: $t:ty),* $(,)?) $body:expr) => {{
        unsafe fn only($($arg: $t),*) {
            // SAFETY: the caller of the function keeps what the body asks for.
            unsafe { $body }
        }
        [only as unsafe fn($($t),*); $crate::cpu::simd::LEVELS]
    }};
}
pub(crate) use one_level;

/// The size of a line of the cache.
const LINE: usize = 64;

/// Asks for what will be read soon, where the processor takes such hints.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T]) {
    prefetch_bytes(slice.as_ptr().cast(), size_of_val(slice));
}

/// As [`prefetch`], of addresses that need not be anybody's.
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
