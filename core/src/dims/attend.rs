//! Distances and attention: matrices by position, with several operands.

use super::axis::Wild;
use super::broadcast::{BroadcastWith, Sum};
use super::dims::{DimList, Dims};
use super::distinct::Distinct;
use super::id::{Bool, IsTrue, Same};
use super::size::{CanEqual, SizeOf};
use super::verdict::NamesOf;

/// The list has at least two dims, so the tensor holds matrices.
#[diagnostic::on_unimplemented(
    message = "at least two dims are needed, the last two a matrix",
    label = "too few dims"
)]
pub trait AtLeast2Dims {}
#[diagnostic::do_not_recommend]
impl<D: Dims> AtLeast2Dims for NamesOf<D> where <D::Row as DimList>::SameRank<(Wild,)>: IsTrue {}

/// The dims of `x.cdist(&y)`: the batch dims unified, then the rows of both.
pub type Distances<D, E> = <<E as DimList>::Row as DimList>::After<
    <<D as DimList>::Row as DimList>::After<Sum<<D as DimList>::Batch, <E as DimList>::Batch>>,
>;

/// `x.cdist(&y)` is defined for dims `D` and `Self`: both are matrices whose batch dims broadcast,
/// and no name is repeated in the result.
pub trait RowsBeside<D>: Dims {}
impl<D: Dims, E: Dims> RowsBeside<D> for E
where
    NamesOf<D>: AtLeast2Dims,
    NamesOf<E>: AtLeast2Dims,
    D::Batch: BroadcastWith<E::Batch>,
    Distances<D, E>: Distinct,
    SizeOf<D::InnerLeft>: CanEqual<D::InnerLeft, <E as DimList>::InnerLeft>,
{
}

/// The batch dims of queries, keys and values.
type Batches<D, E, F> =
    Sum<Sum<<D as DimList>::Batch, <E as DimList>::Batch>, <F as DimList>::Batch>;

/// The dims of attention's result: batch and length of the queries `D`, features of the values `F`.
pub type Attended<D, E, F> = <<F as DimList>::Col as DimList>::After<
    <<D as DimList>::Row as DimList>::After<Batches<D, E, F>>,
>;

/// The dims of attention's scores: batch, length, source. If length and source have the same name,
/// the source is unnamed.
pub type ScoresOf<D, E, F> = <<<D as DimList>::Row as DimList>::After<Batches<D, E, F>> as DimList>::Push<
    <Same<
        <<D as DimList>::Row as DimList>::At0,
        <<E as DimList>::Row as DimList>::At0,
    > as Bool>::Axis<Wild, <<E as DimList>::Row as DimList>::At0>,
>;

/// Queries of dims `D` attend to keys of dims `E` and values of dims `Self`: batch dims unify,
/// features and sources match, and no name is repeated in the result.
pub trait Attend<D, E>: Dims {}
impl<D: Dims, E: Dims, F: Dims> Attend<D, E> for F
where
    NamesOf<D>: AtLeast2Dims,
    NamesOf<E>: AtLeast2Dims,
    NamesOf<F>: AtLeast2Dims,
    D::Col: BroadcastWith<E::Col>,
    E::Row: BroadcastWith<F::Row>,
    D::Batch: BroadcastWith<E::Batch>,
    Sum<D::Batch, E::Batch>: BroadcastWith<F::Batch>,
    Attended<D, E, F>: Distinct,
{
}

/// The dims of `x.linear(&w, &b)`: those of `x` without the input dim `I`, then the output dim `O`.
pub type Linear<D, O, I> = <<D as DimList>::Remove<I> as DimList>::Push<O>;

/// The dims of `x.outer(&y)`: `D` followed by `E`.
pub type Joined<D, E> = <E as DimList>::After<D>;

/// `x.outer(&y)` is defined for dims `D` and `Self`: no name is in both.
pub trait Beside<D>: Dims {}
impl<D: Dims, E: Dims> Beside<D> for E where Joined<D, E>: Distinct {}

/// The dims of `x.inner(&y)`: those of both operands without their last dim.
pub type Inner<D, E> = Joined<<D as DimList>::Init, <E as DimList>::Init>;

/// `x.inner(&y)` is defined for dims `D` and `Self`: both have a dim, and no name is repeated in
/// the result.
pub trait InnerWith<D>: Dims {}
impl<D: Dims, E: Dims> InnerWith<D> for E
where
    NamesOf<D>: super::matmul::AtLeast1Dim,
    NamesOf<E>: super::matmul::AtLeast1Dim,
    Inner<D, E>: Distinct,
{
}
