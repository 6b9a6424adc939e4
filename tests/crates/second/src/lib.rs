//! A crate that declares its own dims with the spellings of `first`, and depends on nomina under
//! another name.

use named::prelude::*;

dims! {
    /// In a different order than in `first`.
    pub C,
    pub N,
    pub Rgb = 3,
    /// A different identifier with the same spelling.
    pub Rows = "batch",
}

/// Multiplies each row by a number. Takes this crate's own dims.
pub fn weighted(x: &Tensor<(N, C)>, by: &Tensor<(N,)>) -> Tensor<(N, C)> {
    x * by.align_as(x)
}

/// Generic over the dims of any crate, with a bound on this crate's.
pub fn columns<D: Dims + Has<C>>(x: &Tensor<D>) -> usize {
    x.size(C)
}
