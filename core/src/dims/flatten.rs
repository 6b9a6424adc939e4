//! Several dims into one and back: `flatten`, `unflatten`.

use core::marker::PhantomData;

use super::axis::{Axis, OneDim};
use super::dims::{DimList, Dims, MoreThan8Dims};
use super::distinct::{Fresh, FreshDim};
use super::id::{IsTrue, Same};
use super::last::LastDim;
use super::multiply::MultiplyTo;
use super::remove::{Has, NotBehindWild};
use super::shape::Sizes;

/// What `flatten` takes: a tuple of two or more dims.
#[diagnostic::on_unimplemented(
    message = "flatten takes a tuple of two or more dims, not `{Self}`",
    label = "expected two or more dims, such as `(H, W)`"
)]
pub trait FlattenArg {
    /// The dims.
    type List: Dims;
    /// The dims of `D` with `X` in the place of these.
    type Flattened<D: Dims, X: Axis>: Dims;
    /// The dims of `D` without these.
    type Others<D: Dims>: Dims;
    /// The names.
    const NAMES: &'static [Option<&'static str>];
}

/// The dims of `x.flatten(F, X)`: `X` in the place of the dims `F`.
pub type Flattened<D, F, X> = <F as FlattenArg>::Flattened<D, X>;

/// `x.flatten(F, X)` of dims `D` is defined: the dims `F` stand in `D` next to each other and in
/// order, and `X` is not among those that remain. Write `F: FlattenArg + Flatten<D, X>`.
pub trait Flatten<D, X> {}
impl<F: FlattenArg, D: Dims, X: OneDim> Flatten<D, X> for F where
    <X as LastDim>::Given<D>: FlattenIn<F, X>
{
}

/// [`Flatten`], asked of the list: rank by rank, so that a list of unknown rank is one mistake.
#[diagnostic::on_unimplemented(
    message = "cannot flatten dims {F} of dims {Self} to `{X}`",
    label = "cannot flatten"
)]
pub trait FlattenIn<F, X> {}

/// The dims stand in `D`, next to each other and in order.
#[diagnostic::on_unimplemented(
    message = "dims {Self} do not all stand in dims {D}",
    label = "no such dims"
)]
pub trait Adjacent<D> {}
/// What stands behind a dim.
#[derive(Clone, Copy, Debug)]
pub struct Successor<Q>(PhantomData<Q>);

/// Dim `X` stands behind dim `P` in dims `D`.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` does not follow dim `{P}` in dims {D}",
    label = "flatten takes dims of the tensor that stand next to each other, in order",
    note = "for dims that stand elsewhere, align first: `x.align_to((.., {P}, {X}))`"
)]
pub trait Follows<P, X, D> {}
#[diagnostic::do_not_recommend]
impl<Q: Axis, P, X: Axis, D> Follows<P, X, D> for Successor<Q> where Same<Q, X>: IsTrue {}

/// The dims of `x.unflatten(X, S)`: those of the sizes in the place of `X`.
pub type Unflattened<D, X, S> = <S as Sizes>::Unflattened<D, X>;

/// `x.unflatten(X, S)` of dims `D` is defined: `X` is there, and the new dims are not. Write
/// `X: OneDim + Unflatten<D, S>, S: Sizes`.
#[diagnostic::on_unimplemented(
    message = "dim `{Self}` of dims {D} cannot be unflattened",
    label = "cannot unflatten `{Self}`"
)]
pub trait Unflatten<D, S> {}
impl<X: OneDim, D: Dims, S: Sizes> Unflatten<D, S> for X where S::Given<D>: UnflattenIn<X, S> {}

/// [`Unflatten`], asked of the list.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` of dims {Self} cannot be unflattened",
    label = "cannot unflatten `{X}`"
)]
pub trait UnflattenIn<X, S> {}

macro_rules! flattens {
    ($($a:ident)*) => {
        impl<$($a: Axis,)* F: FlattenArg, X> FlattenIn<F, X> for ($($a,)*)
        where
            F::List: Adjacent<Self> + MultiplyTo<X>,
            X: FreshDim<F::Others<Self>, Flattened<Self, F, X>> + Axis,
        {
        }
        impl<$($a: Axis,)* X: OneDim, S: Sizes> UnflattenIn<X, S> for ($($a,)*)
        where
            Self: NotBehindWild<X> + Has<X>,
            S::Dims: Fresh<<Self as DimList>::Remove<X>, Unflattened<Self, X, S>> + MultiplyTo<X>,
        {
        }
    };
}
each_rank!(flattens);
impl<F, X> FlattenIn<F, X> for MoreThan8Dims {}
impl<X, S> UnflattenIn<X, S> for MoreThan8Dims {}
