//! Index tensors: their dims replace the dim that they index.

use super::axis::Axis;
use super::dims::{DimList, Dims, MoreThan8Dims, Rank};
use super::distinct::{Fresh, ShortUnless, ToldNew};
use super::id::Bool;
use super::verdict::NamesOf;

/// The dims `D` with `X` replaced by the dims of an index, `E`.
pub type IndexedBy<D, X, E> = <D as DimList>::Splice<X, E>;

/// The dims of `x.index_select(X, &index)`: [`IndexedBy`], but a zero-dim index keeps the dim, with
/// size 1.
pub type Selected<D, X, E> =
    <<<E as DimList>::Rank as Rank>::Is0 as Bool>::Dims<D, IndexedBy<D, X, E>>;

/// The dims of `weight.embedding(X, &ids)`: those of the ids, `E`, then those of `D` without `X`.
pub type Embedded<D, X, E> = <<D as DimList>::Remove<X> as DimList>::After<E>;

/// An index with these dims can index dim `X` of dims `D`: none of them is another dim of `D`.
///
/// ```
/// # use nomina_core::dims::*;
/// # struct Tensor<D, T = f32>(core::marker::PhantomData<(D, T)>);
/// fn pick<D: Dims + Has<X>, E: Dims + IndexOf<D, X>, X: Dim>(
///     x: &Tensor<D>,
///     dim: X,
///     index: &Tensor<E, i64>,
/// ) -> Tensor<Selected<D, X, E>> {
/// #   Tensor(core::marker::PhantomData)
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "an index with dims {Self} cannot index dim `{X}` of dims {D}",
    label = "cannot index `{X}`"
)]
pub trait IndexOf<D, X> {}
impl<E: Dims, D: Dims + IndexedAt<X, E>, X: Axis> IndexOf<D, X> for E {}

/// Like [`IndexOf`], but as a bound on the list and implemented rank by rank, so that a list of
/// unknown rank causes a single error.
#[diagnostic::on_unimplemented(
    message = "an index with dims {E} cannot index dim `{X}` of dims {Self}",
    label = "cannot index `{X}`"
)]
pub trait IndexedAt<X, E> {}

/// Ids with these dims can select rows along dim `X` of a weight with dims `D`.
#[diagnostic::on_unimplemented(
    message = "ids with dims {Self} cannot index dim `{X}` of dims {D}",
    label = "cannot index `{X}`"
)]
pub trait EmbedIn<D, X> {}
impl<E: Dims, D: Dims + EmbedsAt<X, E>, X: Axis> EmbedIn<D, X> for E {}

/// Like [`EmbedIn`], but as a bound on the list.
#[diagnostic::on_unimplemented(
    message = "ids with dims {E} cannot index dim `{X}` of dims {Self}",
    label = "cannot index `{X}`"
)]
pub trait EmbedsAt<X, E> {}

/// Rustc knows whether an index has a dim of the list. Implies the checks of [`Fresh`], so that its message replaces
/// theirs.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "rustc cannot tell generic dims apart: those of dims {D} and of an index along `{X}`",
    label = "write the bound `(..): IndexOf<{D}, {X}>` on the dims of the index"
)]
pub trait ToldIndexed<D, X, E> {}
#[diagnostic::do_not_recommend]
impl<D: Dims, X: Axis, E: Dims> ToldIndexed<D, X, E> for NamesOf<D> where
    NamesOf<D::Remove<X>>: ToldNew<E, IndexedBy<D, X, E>>
{
}

macro_rules! indexed {
    ($($a:ident)*) => {
        impl<$($a: Axis,)* X: Axis, E> IndexedAt<X, E> for ($($a,)*)
        where
            E: Dims + Fresh<<Self as DimList>::Remove<X>, IndexedBy<Self, X, E>>,
            NamesOf<Self>: ToldIndexed<Self, X, E>,
            IndexedBy<Self, X, E>: ShortUnless<E::Fits<Self>>,
        {
        }
        impl<$($a: Axis,)* X: Axis, E> EmbedsAt<X, E> for ($($a,)*)
        where
            E: Dims + Fresh<<Self as DimList>::Remove<X>, Embedded<Self, X, E>>,
            NamesOf<<Self as DimList>::Remove<X>>: ToldNew<E, Embedded<Self, X, E>>,
            Embedded<Self, X, E>: ShortUnless<E::Fits<Self>>,
        {
        }
    };
}
each_rank!(indexed);
impl<X, E> IndexedAt<X, E> for MoreThan8Dims {}
impl<X, E> EmbedsAt<X, E> for MoreThan8Dims {}
