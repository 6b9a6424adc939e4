//! Copies and conversions.

use nomina_core::Result;

use crate::dispatch::with_dtype;
use crate::raw::Raw;

/// Itself when row-major without gaps, else a row-major copy.
///
/// # Errors
/// When memory is missing.
pub fn contiguous(x: &Raw) -> Result<Raw> {
    if x.is_contiguous() {
        Ok(x.clone())
    } else {
        duplicate(x)
    }
}

/// A copy in a buffer of its own.
///
/// # Errors
/// When memory is missing.
pub fn duplicate(x: &Raw) -> Result<Raw> {
    with_dtype!(x.dtype(), T => Raw::from_vec(x.iter::<T>()?.collect(), x.shape()))
}
