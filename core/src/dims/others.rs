//! The dims that are not mentioned, as one: `flatten_others`, `unflatten_as`.

use super::align::AlignInto;
use super::axis::OneDim;
use super::contract::ByName;
use super::dims::Dims;
use super::insert::Insert;
use super::remove::{Axes, DimOf, EachIn, Without};

/// `x.flatten_others(A, X)` of dims `D` is defined: the dims `A` stand in `D`, and `X` is none of
/// them. The result has dims `X`, then `A`.
///
/// For `A` written out, `D: Has<_>` for each dim of `A` is all that generic code needs.
#[diagnostic::on_unimplemented(
    message = "the dims of {D} other than `{Self}` cannot become `{X}`",
    label = "expected dims that stay, and a dim for all others"
)]
pub trait FlattenOthers<D, X>: Axes {}
impl<A: Axes<Checked = A>, D: Dims, X: OneDim + Insert<A::List>> FlattenOthers<D, X> for A where
    A::List: ByName + EachIn<D>
{
}

/// `y.unflatten_as(X, &x)` for `x` of dims `D` is defined: `Self`, the dims of `y`, has `X`, and
/// its other dims stand in `D`. The result has dims `D`.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` of dims {Self} cannot become dims of {D}",
    label = "the other dims of {Self} are to stand in {D}"
)]
pub trait UnflattenAs<X, D> {}
impl<E: Dims, X: DimOf<E> + Axes, D: Dims> UnflattenAs<X, D> for E where Without<E, X>: AlignInto<D> {}
