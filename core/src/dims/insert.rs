//! New dims: `stack`, `unsqueeze`, `diagonal`.

use super::axis::OneDim;
use super::dims::Dims;
use super::distinct::FreshDim;
use super::last::LastDim;

/// The dims of `stack(.., X)` and `x.unsqueeze(X)`: `X` first.
pub type Inserted<D, X> = <X as LastDim>::Before<D>;

/// The dims with `X` last: `one_hot`, `diagonal`, `unfold`.
pub type Appended<D, X> = <X as LastDim>::Behind<D>;

/// `D` does not have this dim, and has room for it in front. Write `X: OneDim + Insert<D>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a new dim of dims {D}",
    label = "not a new dim"
)]
pub trait Insert<D> {}
impl<X: OneDim + FreshDim<D, Inserted<D, X>>, D: Dims> Insert<D> for X {}

/// `D` does not have this dim, and has room for it at the end.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a new dim of dims {D}",
    label = "not a new dim"
)]
pub trait Append<D> {}
impl<X: OneDim + FreshDim<D, Appended<D, X>>, D: Dims> Append<D> for X {}
