//! Arguments that select dims by name: one dim, a tuple, `..`, and each with `keep`.

use core::ops::RangeFull;

use super::axis::{Dim, OneDim};
use super::dims::{DimList, Dims};
use super::place::Place;

/// Dims to work on: `C`, `(N, C)`, `..` for all, `keep(C)` to keep the dim with size 1.
///
/// This trait only describes the argument; [`In`] checks that its dims are there: `A: Axes,
/// A::Checked: In<D>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dim",
    label = "expected a dim, a tuple of dims, or `..`"
)]
pub trait Axes {
    /// The dims that the tensor must have: the argument without its `keep`.
    type Checked;
    /// The dims; empty for `..`.
    type List: Dims;
    /// The dims of `D` that remain.
    type Remaining<D: Dims>: Dims;
    /// The names of the dims; empty for `..`.
    const NAMES: &'static [Option<&'static str>];
    /// Whether the argument is `..`.
    const ALL: bool;
    /// Whether the dims stay, with size 1.
    const KEEPDIM: bool;
}

/// The dims of `x.sum(A)`: those of `D` without those of `A`.
///
/// ```
/// # use nomina_core::dims::*;
/// # struct Tensor<D>(core::marker::PhantomData<D>);
/// fn pool<D: Dims + Has<H>, H: Dim>(x: &Tensor<D>) -> Tensor<Without<D, H>> {
/// #   Tensor(core::marker::PhantomData)
/// # }
/// ```
pub type Without<D, A> = <A as Axes>::Remaining<D>;

#[diagnostic::do_not_recommend]
impl<X: Dim> Axes for X {
    type Checked = X;
    type List = (X,);
    type Remaining<D: Dims> = D::Remove<X>;
    const NAMES: &'static [Option<&'static str>] = &[X::NAME];
    const ALL: bool = false;
    const KEEPDIM: bool = false;
}

#[diagnostic::do_not_recommend]
impl Axes for RangeFull {
    type Checked = RangeFull;
    type List = ();
    type Remaining<D: Dims> = ();
    const NAMES: &'static [Option<&'static str>] = &[];
    const ALL: bool = true;
    const KEEPDIM: bool = false;
}

// An empty list means all dims, as in PyTorch.
#[diagnostic::do_not_recommend]
impl Axes for () {
    type Checked = RangeFull;
    type List = ();
    type Remaining<D: Dims> = ();
    const NAMES: &'static [Option<&'static str>] = &[];
    const ALL: bool = true;
    const KEEPDIM: bool = false;
}

/// Dims that stay, with size 1. Created by [`keep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep<A>(
    /// The dims.
    pub A,
);

/// Keeps the dims of a reduction, with size 1: `x.mean(keep(C))`.
#[must_use]
pub fn keep<A: Axes>(axes: A) -> Keep<A> {
    Keep(axes)
}

#[diagnostic::do_not_recommend]
impl<A: Axes> Axes for Keep<A> {
    type Checked = A::Checked;
    type List = A::List;
    type Remaining<D: Dims> = D;
    const NAMES: &'static [Option<&'static str>] = A::NAMES;
    const ALL: bool = A::ALL;
    const KEEPDIM: bool = true;
}

/// One of the dims has the name of `X`. `Wild` never matches.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` not found in dims {Self}",
    label = "no such dim"
)]
pub trait Has<X>: NotBehindWild<X> {}
#[diagnostic::do_not_recommend]
impl<X: OneDim, D: Dims + Lists<X>> Has<X> for D {}

/// Rustc can tell whether one of the dims has the name of `X`: one does, or every name is known.
/// Part of [`Has`]; methods list this bound first, because its message is more specific.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` not found among the known names of dims {Self}",
    label = "a `Wild` is never matched by name",
    note = "name the dims first: `x.refine_names(..)`"
)]
pub trait NotBehindWild<X>: HasOrLacks<X> {}

/// The dims are a known list, in which `X` can be searched. Implied by [`Has`] in generic code.
///
/// Methods list this bound first: if a generic function lacks `Has`, rustc's next trait solver
/// prints the first bound that does not hold, unlike today's, which prints the one that implies the
/// others.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` not found in dims {Self}",
    label = "no such dim"
)]
pub trait Searched<X> {}

/// One of the dims has the name of `X`, or could have it: implemented rank by rank. Part of [`Has`].
#[doc(hidden)]
pub trait Lists<X>: NotBehindWild<X> {}

/// Rustc knows where `X` is among the dims, or that it is not there. Implied by [`Has`], which is the bound to write.
///
/// Methods list the bounds from the weakest to the strongest: of equal causes rustc reports the first, so that for
/// generic dims only this error is reported.
#[diagnostic::on_unimplemented(
    message = "rustc cannot find dim `{X}` in the generic dims {Self}",
    label = "write the bound `{Self}: Has<{X}>`, or for a tuple `{Self}: Distinct`"
)]
pub trait HasOrLacks<X>: Searched<X> {}

/// The dim is in `D`: the bound of a method on an argument that must be a single dim.
///
/// Generic code needs only `D: Has<X>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not one dim",
    label = "expected one dim of dims {D}"
)]
pub trait DimOf<D>: OneDim {}
impl<X: OneDim, D: Dims + Searched<X> + HasOrLacks<X> + NotBehindWild<X> + Has<X>> DimOf<D> for X {}

/// The dim, or each dim of the tuple, is in `D`, and the tuple repeats none.
///
/// Generic code needs only `D: Has<C>` for `C: In<D>`.
#[diagnostic::on_unimplemented(
    message = "dim `{Self}` not found in dims {D}",
    label = "no such dim"
)]
pub trait In<D> {}
impl<A: Axes, D> In<D> for A where A::List: EachIn<D> {}

/// Dims of `D`, or `keep` of them: the bound of a reduction on its argument.
///
/// Equivalent to `A: Axes, A::Checked: In<D>`, but one bound, which fits on the method's line and
/// makes rustc's message shorter.
pub trait AxesOf<D>: Axes<List: EachIn<D>> {}
impl<A: Axes, D> AxesOf<D> for A where A::List: EachIn<D> {}

/// Each dim of the list is in `D`.
#[diagnostic::on_unimplemented(
    message = "dims {Self} not found in dims {D}",
    label = "no such dims"
)]
pub trait EachIn<D> {}
impl<D> EachIn<D> for () {}

/// The last dim of an argument; [`NoDim`](super::NoDim) for `..`.
pub type LastOf<A> =
    <<<<A as Axes>::List as DimList>::Init as DimList>::SkipIn<<A as Axes>::List> as DimList>::At0;

/// The dims of `D` with `X` replaced by `Y`: gather, topk to another name, one-hot.
pub type Replaced<D, X, Y> = <<D as DimList>::Seek<X> as Place>::Set<D, X, D, Y>;
