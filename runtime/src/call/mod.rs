//! The entries: one per kernel class.
//!
//! Operands are tensors without names and numbers. An entry checks dtypes, sizes and devices,
//! decides the result's dtype and layout, and calls the device's backend. Errors carry sizes;
//! callers that know names add them with `Error::with_names`.

mod convert;

pub use convert::{contiguous, duplicate};
