//! Merging the dims that are not mentioned: `flatten_others`, `unflatten_as`.

use super::align::AlignInto;
use super::axes::{Axes, DimOf, EachIn, Without};
use super::axis::OneDim;
use super::dims::Dims;
use super::id::{Bool, IsTrue};
use super::insert::Insert;

/// `x.flatten_others(A, X)` is defined for dims `D`: the dims `A` are in `D`, and `X` is not one of
/// them. The result has dims `X`, then `A`.
///
/// If `A` is written out, generic code needs only `D: Has<_>` for each dim of `A`.
pub trait FlattenOthers<D, X>: Axes {}
impl<A: Axes, D: Dims, X: OneDim + Insert<A::List>> FlattenOthers<D, X> for A where
    A::List: StayByName + EachIn<D>
{
}

/// The list is not empty: the argument was not `..`.
#[diagnostic::on_unimplemented(
    message = "flatten_others takes the dims to keep by name, not `..`",
    label = "a dim or a tuple of dims is needed here"
)]
pub trait StayByName {}
#[diagnostic::do_not_recommend]
impl<L: Dims> StayByName for L where <L::SameRank<()> as Bool>::Not: IsTrue {}

/// `y.unflatten_as(X, &x)` is defined for `y` of dims `E` and `x` of dims `D`: `E` has `X`, and its
/// other dims are in `D`. The result has dims `D`. Write `X: OneDim + UnflattenAs<E, D>`.
pub trait UnflattenAs<E, D> {}
impl<X: DimOf<E> + Axes, E: Dims, D: Dims> UnflattenAs<E, D> for X where Without<E, X>: AlignInto<D> {}
