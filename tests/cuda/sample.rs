//! How many cases run on the host that stands for a GPU: each dtype of each operator is a kernel of its own, which a
//! C++ compiler translates. All of them (`cargo xtask cuda`, `NOMINA_EVERY=1`) take a core twenty minutes, so that tests
//! among others take a sample.
//!
//! Test programs include this file by `#[path]`.

/// How many cases there are for each that is taken.
pub const SAMPLE: usize = 8;

/// Whether all are asked for.
pub fn every() -> bool {
    std::env::var_os("NOMINA_EVERY").is_some()
}

/// Some of a list, at least one: others for each place in the source that asks.
#[track_caller]
#[allow(dead_code)] // some programs sample otherwise
pub fn some<T: Copy>(all: impl AsRef<[T]>) -> Vec<T> {
    let all = all.as_ref();
    if every() {
        return all.to_vec();
    }
    let first = std::panic::Location::caller().line() as usize % SAMPLE.min(all.len());
    all.iter().copied().skip(first).step_by(SAMPLE).collect()
}
