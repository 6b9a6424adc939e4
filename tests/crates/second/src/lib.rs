//! A crate that declares its own dims, spelled as `first` spells its, and reaches nomina under
//! another name.

use named::prelude::*;

dims! {
    /// Not in the order of `first`.
    pub C,
    pub N,
    pub Rgb = 3,
    /// Another identifier, the same spelling.
    pub Rows = "batch",
}

/// Each row times its number. Of this crate's own dims.
pub fn weighted(x: &Tensor<(N, C)>, by: &Tensor<(N,)>) -> Tensor<(N, C)> {
    x * by.align_as(x)
}

/// Generic over dims of anyone, and bound by this crate's.
pub fn columns<D: Dims + Has<C>>(x: &Tensor<D>) -> usize {
    x.size(C)
}
