//! The sample of cases for the emulated GPU. Each dtype of each operator is a separate kernel, which a C++ compiler
//! translates. All of them (`cargo xtask cuda`, `NOMINA_EVERY=1`) take one core twenty minutes, so ordinary test runs
//! take a sample.
//!
//! Test programs include this file by `#[path]`.

/// One case in this many is taken.
pub const SAMPLE: usize = 32;

/// Returns whether all cases are requested.
pub fn every() -> bool {
    std::env::var_os("NOMINA_EVERY").is_some()
}

/// Returns a sample of a list, at least one element; the sample depends on the line of the caller.
#[track_caller]
#[allow(dead_code)] // some programs use another sampling
pub fn some<T: Copy>(all: impl AsRef<[T]>) -> Vec<T> {
    let all = all.as_ref();
    if every() {
        return all.to_vec();
    }
    let first = std::panic::Location::caller().line() as usize % SAMPLE.min(all.len());
    all.iter().copied().skip(first).step_by(SAMPLE).collect()
}
