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

/// Dims declared through the other crate's re-export.
pub mod through_first {
    first::nomina::dims! { pub N, pub C, pub Colour("Rgb") = 3 }
}

/// Each row times its number. Of this crate's own dims.
pub fn weighted(x: &Tensor<(N, C)>, by: &Tensor<(N,)>) -> Tensor<(N, C)> {
    x * by.align_as(x)
}

/// What a model of `first` makes of a table of this crate: calls both kinds of functions there.
pub fn through_both(x: Tensor<(N, C)>) -> Tensor<(N,)> {
    let rows = first::per_row(&x.to_dims());
    let twice: Tensor<(N, C)> = first::doubled(x.into_dims()).into_dims();
    // `first`'s dims on the right: the left operand's markers stay.
    twice.mean(C) + rows
}

/// Generic over dims of anyone, and bound by this crate's.
pub fn columns<D: Dims + Has<C>>(x: &Tensor<D>) -> usize {
    x.size(C)
}
