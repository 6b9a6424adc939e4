//! The dims that are not mentioned, as one: `flatten_others`, `unflatten_as`.

use super::align::AlignInto;
use super::axis::OneDim;
use super::dims::Dims;
use super::id::{Bool, IsTrue};
use super::insert::Insert;
use super::remove::{Axes, DimOf, EachIn, Without};

/// `x.flatten_others(A, X)` of dims `D` is defined: the dims `A` stand in `D`, and `X` is none of
/// them. The result has dims `X`, then `A`.
///
/// For `A` written out, `D: Has<_>` for each dim of `A` is all that generic code needs.
pub trait FlattenOthers<D, X>: Axes {}
impl<A: Axes, D: Dims, X: OneDim + Insert<A::List>> FlattenOthers<D, X> for A where
    A::List: StayByName + EachIn<D>
{
}

/// The list has a dim: it was not written `..`.
#[diagnostic::on_unimplemented(
    message = "flatten_others takes the dims that stay by name, not `..`",
    label = "a dim or a tuple of dims is needed here"
)]
pub trait StayByName {}
#[diagnostic::do_not_recommend]
impl<L: Dims> StayByName for L where <L::SameRank<()> as Bool>::Not: IsTrue {}

/// `y.unflatten_as(X, &x)` for `y` of dims `E` and `x` of dims `D` is defined: `E` has `X`, and its
/// other dims stand in `D`. The result has dims `D`. Write `X: OneDim + UnflattenAs<E, D>`.
pub trait UnflattenAs<E, D> {}
impl<X: DimOf<E> + Axes, E: Dims, D: Dims> UnflattenAs<E, D> for X where Without<E, X>: AlignInto<D> {}
