//! Settings: the default float dtype of the calling thread, the note about unoptimized kernels, and thread numbers.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use nomina_core::DType;

/// Whether the note about kernels without optimisation is disabled, or was printed.
static SAID: AtomicBool = AtomicBool::new(false);

/// Disables the note that the first large kernel compiled without optimisation prints to stderr. The environment
/// variable `NOMINA_ALLOW_UNOPTIMIZED`, with any value, does the same. Kernels compiled with optimisation never print
/// it.
///
/// ```
/// nomina_runtime::allow_unoptimized();
/// ```
pub fn allow_unoptimized() {
    SAID.store(true, Ordering::Relaxed);
}

/// Prints a note once if kernels are compiled without optimisation: cargo's default for `cargo run` and `cargo test`,
/// including dependencies. Large kernels call this.
#[inline(always)]
pub(crate) fn note_unoptimized() {
    if cfg!(unoptimized) && !SAID.swap(true, Ordering::Relaxed) {
        note();
    }
}

#[cold]
fn note() {
    if std::env::var_os("NOMINA_ALLOW_UNOPTIMIZED").is_none() {
        eprintln!("{NOTE}");
    }
}

const NOTE: &str = "\
note: nomina's kernels are compiled without optimisation and tens of times slower than they can be.
      Run with `--release`, or add to Cargo.toml:

          [profile.dev.package.\"*\"]
          opt-level = 2

      `NOMINA_ALLOW_UNOPTIMIZED=1` or `nomina::allow_unoptimized()` turns this note off.";

/// Returns the number of the calling thread, which is unique in the process and never 0.
pub(crate) fn thread_number() -> u32 {
    thread_local! {
        static OWN: Cell<u32> = const { Cell::new(0) };
    }
    static LATEST: AtomicU32 = AtomicU32::new(0);
    if OWN.get() == 0 {
        OWN.set(LATEST.fetch_add(1, Ordering::Relaxed) + 1);
    }
    OWN.get()
}

thread_local! {
    static DEFAULT: Cell<DType> = const { Cell::new(DType::F32) };
}

/// Returns the float dtype of plain numbers, and of the results of float functions for integers: `f32`, except within
/// [`with_default_dtype`].
#[must_use]
#[inline]
pub fn default_dtype() -> DType {
    DEFAULT.get()
}

/// Calls `f` with another default float dtype, on this thread only; the old one returns afterwards, also if `f` panics.
///
/// # Panics
/// If `dtype` is not a float dtype.
#[track_caller]
pub fn with_default_dtype<R>(dtype: DType, f: impl FnOnce() -> R) -> R {
    struct RestoreDType(DType);
    impl Drop for RestoreDType {
        fn drop(&mut self) {
            DEFAULT.set(self.0);
        }
    }
    assert!(
        dtype.is_float(),
        "with_default_dtype: {dtype} is not a float dtype; pass F32 or F64"
    );
    let _restore = RestoreDType(DEFAULT.replace(dtype));
    f()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_returns() {
        assert_eq!(default_dtype(), DType::F32);
        assert_eq!(with_default_dtype(DType::F64, default_dtype), DType::F64);
        let panicked = std::panic::catch_unwind(|| with_default_dtype(DType::F64, || panic!("x")));
        assert!(panicked.is_err());
        assert_eq!(default_dtype(), DType::F32);
        assert!(std::panic::catch_unwind(|| with_default_dtype(DType::I64, || ())).is_err());
    }
}
