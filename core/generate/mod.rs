//! Writes the parts of this crate that repeat a rule for each rank or each pair of dtypes.
//!
//! It uses nothing of the crate, so that it can repair what keeps the crate from compiling.

pub mod dims;
pub mod dtypes;

/// Every generated file: its path from the crate's folder, and its text.
#[must_use]
pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("src/dims/generated.rs", dims::text()),
        ("src/element/generated.rs", dtypes::text()),
    ]
}
