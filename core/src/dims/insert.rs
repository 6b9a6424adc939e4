//! New dims: `stack`, `unsqueeze`, `diagonal`.

use super::axis::{Axis, OneDim};
use super::dims::{DimList, Dims, MoreThan8Dims, Rank};
use super::distinct::{FreshDim, ShortUnless};
use super::last::LastDim;

/// The dims of `stack(.., X)` and `x.unsqueeze(X)`: `X` first.
pub type Inserted<D, X> = <X as LastDim>::Before<D>;

/// The dims with `X` last: `one_hot`, `diagonal`, `unfold`.
pub type Appended<D, X> = <X as LastDim>::Behind<D>;

/// `D` lacks this dim and has room for it in front. Write `X: OneDim + Insert<D>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a new dim of dims {D}",
    label = "not a new dim"
)]
pub trait Insert<D> {}
impl<X: OneDim, D: Dims + TakesFirst<X>> Insert<D> for X {}

/// Like [`Insert`], but as a bound on the list and implemented rank by rank, so that a list of
/// unknown rank causes a single error.
#[diagnostic::on_unimplemented(
    message = "`{X}` cannot be a new dim of dims {Self}",
    label = "not a new dim"
)]
pub trait TakesFirst<X> {}

/// `D` lacks this dim and has room for it at the end.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a new dim of dims {D}",
    label = "not a new dim"
)]
pub trait Append<D> {}
impl<X: OneDim, D: Dims + TakesLast<X>> Append<D> for X {}

/// Like [`Append`], but as a bound on the list.
#[diagnostic::on_unimplemented(
    message = "`{X}` cannot be a new dim of dims {Self}",
    label = "not a new dim"
)]
pub trait TakesLast<X> {}

macro_rules! takes {
    ($($a:ident)*) => {
        impl<$($a: Axis,)* X: FreshDim<Self, Inserted<Self, X>> + LastDim> TakesFirst<X> for ($($a,)*)
        where
            Inserted<Self, X>: ShortUnless<<<Self as DimList>::Rank as Rank>::UpTo7>,
        {
        }
        impl<$($a: Axis,)* X: FreshDim<Self, Appended<Self, X>> + LastDim> TakesLast<X> for ($($a,)*)
        where
            Appended<Self, X>: ShortUnless<<<Self as DimList>::Rank as Rank>::UpTo7>,
        {
        }
    };
}
each_rank!(takes);
impl<X> TakesFirst<X> for MoreThan8Dims {}
impl<X> TakesLast<X> for MoreThan8Dims {}
