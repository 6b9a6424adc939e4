//! Merging dims into one and splitting one: `flatten`, `unflatten`.

use core::marker::PhantomData;

use super::axes::{Has, HasOrLacks, NotBehindWild};
use super::axis::{Axis, OneDim};
use super::dims::{DimList, Dims, MoreThan8Dims};
use super::distinct::{Fresh, FreshDim, ShortUnless, ToldNew};
use super::id::{Bool, IsTrue, Same, True};
use super::last::LastDim;
use super::multiply::MultiplyTo;
use super::shape::Sizes;
use super::verdict::NamesOf;

/// The argument of `flatten`: a tuple of two or more dims.
#[diagnostic::on_unimplemented(
    message = "flatten takes a tuple of two or more dims, not `{Self}`",
    label = "expected two or more dims, such as `(H, W)`"
)]
pub trait FlattenArg {
    /// The dims.
    type List: Dims;
    /// The dims of `D` with these replaced by `X`.
    type Flattened<D: Dims, X: Axis>: Dims;
    /// The dims of `D` without these.
    type Others<D: Dims>: Dims;
    /// The names.
    const NAMES: &'static [Option<&'static str>];
}

/// The dims of `x.flatten(F, X)`: the dims `F` are replaced by `X`.
pub type Flattened<D, F, X> = <F as FlattenArg>::Flattened<D, X>;

/// `x.flatten(F, X)` is defined for dims `D`: the dims `F` are adjacent in `D` and in order, and
/// `X` is not among those that remain. Write `F: FlattenArg + Flatten<D, X>`.
pub trait Flatten<D, X> {}
impl<F: FlattenArg, D: Dims, X: OneDim> Flatten<D, X> for F where
    <X as LastDim>::Delayed<D>: FlattenIn<F, X>
{
}

/// Like [`Flatten`], but as a bound on the list and implemented rank by rank, so that a list of
/// unknown rank causes a single error.
#[diagnostic::on_unimplemented(
    message = "cannot flatten dims {F} of dims {Self} to `{X}`",
    label = "cannot flatten"
)]
pub trait FlattenIn<F, X> {}

/// The dims are in `D`, adjacent and in order.
#[diagnostic::on_unimplemented(
    message = "dims {Self} are not all in dims {D}",
    label = "no such dims"
)]
pub trait Adjacent<D> {}
/// The dim that follows another one.
#[derive(Clone, Copy, Debug)]
pub struct Successor<Q>(PhantomData<Q>);

/// Dim `X` follows dim `P` in dims `D`.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` does not follow dim `{P}` in dims {D}",
    label = "flatten takes adjacent dims, in the tensor's order",
    note = "make them adjacent first: `x.align_to((.., {P}, {X}))`"
)]
pub trait Follows<P, X, D> {}
#[diagnostic::do_not_recommend]
impl<Q: Axis, P, X: Axis, D> Follows<P, X, D> for Successor<Q> where Same<Q, X>: Adjoins {}

/// The dims are the same one. Rustc finds this out after the other checks of [`Adjacent`], and reports the first of equal
/// causes: for a dim behind a `Wild`, that it is there.
#[doc(hidden)]
pub trait Adjoins {}
#[diagnostic::do_not_recommend]
impl<B: Bool<And<True>: IsTrue>> Adjoins for B {}

/// The dims of `x.unflatten(X, S)`: `X` is replaced by the dims of `S`.
pub type Unflattened<D, X, S> = <S as Sizes>::Unflattened<D, X>;

/// `x.unflatten(X, S)` is defined for dims `D`: `X` is in `D`, and the new dims are not. Write `X:
/// OneDim + Unflatten<D, S>, S: Sizes`.
#[diagnostic::on_unimplemented(
    message = "dim `{Self}` of dims {D} cannot be unflattened",
    label = "cannot unflatten `{Self}`"
)]
pub trait Unflatten<D, S> {}
impl<X: OneDim, D: Dims, S: Sizes> Unflatten<D, S> for X where S::Delayed<D>: UnflattenIn<X, S> {}

/// Like [`Unflatten`], but as a bound on the list.
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
            Self: HasOrLacks<X> + NotBehindWild<X> + Has<X>,
            S::Dims: Fresh<<Self as DimList>::Remove<X>, Unflattened<Self, X, S>> + MultiplyTo<X>,
            NamesOf<<Self as DimList>::Remove<X>>: ToldNew<S::Dims, Unflattened<Self, X, S>>,
            Unflattened<Self, X, S>: ShortUnless<<S::Dims as DimList>::Fits<Self>>,
        {
        }
    };
}
each_rank!(flattens);
impl<F, X> FlattenIn<F, X> for MoreThan8Dims {}
impl<X, S> UnflattenIn<X, S> for MoreThan8Dims {}
