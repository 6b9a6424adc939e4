//! New names for dims in place: `rename`, `transpose`, `t`, `drop_names`.

use core::ops::RangeFull;

use super::axis::{Axis, Dim};
use super::dims::{DimList, Dims};
use super::id::IsTrue;
use super::last::LastDim;

/// A replacement of dims one by one.
pub trait Mapping {
    /// The dim that replaces `X`.
    type Of<X: Axis>: Axis;
}

/// The argument of `rename` on either side: a dim, a tuple of dims, or, on the left, `..` for all.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dim",
    label = "expected a dim or a tuple of dims"
)]
pub trait RenameArg {
    /// This argument as the old names.
    type Old: OldDims;
    /// This argument as the new names.
    type New: Dims;
    /// `D` with the dims `F` renamed to these. A function on the new names, which rustc infers
    /// last, so that nothing is computed twice.
    type Renamed<F: OldDims, D: Dims>: Dims;
    /// `D`. A bound on it waits until the new names are known.
    #[doc(hidden)]
    type Delayed<D: Dims>: Dims;
}
#[diagnostic::do_not_recommend]
impl<X: Dim> RenameArg for X {
    type Old = (X,);
    type New = (X,);
    type Renamed<F: OldDims, D: Dims> = F::Renamed<D, (X,)>;
    type Delayed<D: Dims> = D;
}
#[diagnostic::do_not_recommend]
impl RenameArg for RangeFull {
    type Old = All;
    type New = ();
    type Renamed<F: OldDims, D: Dims> = F::Renamed<D, ()>;
    type Delayed<D: Dims> = D;
}

/// All dims, as the old names of `rename(.., (A, B))`.
#[derive(Clone, Copy, Debug)]
pub struct All;

/// The old names of a rename.
pub trait OldDims {
    /// The dims that must be in the list.
    type Sought: Dims;
    /// The dims of `D` that get a new name.
    type Counted<D: Dims>: Dims;
    /// `D` with these dims renamed to `T`.
    type Renamed<D: Dims, T: Dims>: Dims;
    /// `D` without these dims.
    type Others<D: Dims>: Dims;
}
impl OldDims for All {
    type Sought = ();
    type Counted<D: Dims> = D;
    type Renamed<D: Dims, T: Dims> = T;
    type Others<D: Dims> = ();
}

/// The dims of `x.rename(F, T)`.
pub type Renamed<D, F, T> = <T as RenameArg>::Renamed<<F as RenameArg>::Old, D>;

/// `x.rename(F, T)` is defined for dims `D`: the old names are in `D`, old and new names are equal
/// in number, and no name is repeated in the result. Write `F: RenameArg + Rename<D, T>, T:
/// RenameArg`.
pub trait Rename<D, T> {}
impl<D: Dims, F: RenameArg, T: RenameArg> Rename<D, T> for F where
    T::Delayed<D>: RenameIn<F::Old, T::New>
{
}

/// Like [`Rename`], but as a bound on the list: the dims `F` of `Self` can be renamed to `T`.
/// Implemented rank by rank, so that a list of unknown rank causes a single error.
#[diagnostic::on_unimplemented(
    message = "cannot rename dims {F} of dims {Self} to {T}",
    label = "cannot rename"
)]
pub trait RenameIn<F, T> {}

/// `Self` and `T` have the same rank.
#[diagnostic::on_unimplemented(
    message = "dims {Self} and dims {T} differ in number",
    label = "give one new name for each old one"
)]
pub trait SameRankAs<T> {}
#[diagnostic::do_not_recommend]
impl<D: Dims, T: Dims> SameRankAs<T> for D where D::SameRank<T>: IsTrue {}

/// The dims of `x.transpose(X, Y)`.
pub type Transposed<D, X, Y> = <Y as LastDim>::Swapped<D, X>;

/// The dims of `x.t()`.
pub type Flipped<D> = <D as DimList>::Flipped;

/// `x.t()` is defined: the tensor has at most 2 dims.
#[diagnostic::on_unimplemented(
    message = "t() takes at most 2 dims, and this tensor has dims {Self}",
    label = "name the two: `x.transpose(N, C)`"
)]
pub trait Flat {}
#[diagnostic::do_not_recommend]
impl Flat for () {}
#[diagnostic::do_not_recommend]
impl<A: Axis> Flat for (A,) {}
#[diagnostic::do_not_recommend]
impl<A: Axis, B: Axis> Flat for (A, B) {}

/// Every dim becomes [`Wild`](super::Wild).
#[derive(Clone, Copy, Debug)]
pub struct Forget;
impl Mapping for Forget {
    type Of<X: Axis> = super::Wild;
}

/// The dims of `x.drop_names()`.
pub type DropNames<D> = <D as DimList>::Map<Forget>;
