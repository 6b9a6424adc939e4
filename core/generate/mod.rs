//! Generates the parts of this crate that repeat a rule for each rank or pair of dtypes.
//!
//! Independent of the crate, so that it works while the crate does not compile.

pub mod dims;
pub mod dtypes;

/// Returns every generated file: its path relative to the crate, and its text.
#[must_use]
pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("src/dims/generated.rs", dims::text()),
        ("src/element/generated.rs", dtypes::text()),
    ]
}
