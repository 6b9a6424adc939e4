//! Arguments that pick dims by name: one dim, a tuple, `..`, and any of them with `keep`.

use core::ops::RangeFull;

use super::axis::{Dim, OneDim};
use super::dims::{DimList, Dims};
use super::place::Place;

/// Dims to work on: `C`, `(N, C)`, `..` for all, `keep(C)` to keep the dim with size 1.
///
/// This only says what the argument is; that its dims are there is asked with [`In`]:
/// `A: Axes, A::Checked: In<D>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dim",
    label = "expected a dim, a tuple of dims, or `..`"
)]
pub trait Axes {
    /// What must be in the tensor's dims: the argument without its `keep`.
    type Checked;
    /// Its dims; none for all.
    type List: Dims;
    /// The dims that remain.
    type Remaining<D: Dims>: Dims;
    /// The names of the dims; empty for all.
    const NAMES: &'static [Option<&'static str>];
    /// Whether every dim is meant.
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

// An empty list means all dims, as PyTorch has it.
#[diagnostic::do_not_recommend]
impl Axes for () {
    type Checked = RangeFull;
    type List = ();
    type Remaining<D: Dims> = ();
    const NAMES: &'static [Option<&'static str>] = &[];
    const ALL: bool = true;
    const KEEPDIM: bool = false;
}

/// Dims that stay, with size 1; made by [`keep`].
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

/// One of the dims has the name of `X`. `Wild` never has.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` not found in dims {Self}",
    label = "no such dim"
)]
pub trait Has<X>: NotBehindWild<X> {}
#[diagnostic::do_not_recommend]
impl<X: OneDim, D: Dims + HasOrWild<X>> Has<X> for D {}

/// Rustc can tell whether one of the dims has the name of `X`: either one has, or every name is
/// known. Part of [`Has`]; methods ask for it first, because its message says more.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` not found among the known names of dims {Self}",
    label = "a `Wild` is never matched by name",
    note = "name the dims first: `x.refine_names(..)`"
)]
pub trait NotBehindWild<X>: Searched<X> {}

/// The dims are a known list, in which `X` can be sought. Generic code has it from [`Has`].
///
/// Methods ask for it first: where a generic function forgot `Has`, rustc's next trait solver
/// prints the first bound that does not hold, and not, as today's, the one that implies the others.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` not found in dims {Self}",
    label = "no such dim"
)]
pub trait Searched<X> {}

/// [`Has`] rank by rank: one of the dims has the name of `X`, or could have it. Where it only
/// could, [`NotBehindWild`] fails, and nothing else.
pub trait HasOrWild<X>: NotBehindWild<X> {}

/// The dim stands in `D`: what a method asks of an argument that is one dim.
///
/// `D: Has<X>` is all that generic code needs for it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not one dim",
    label = "expected one dim of dims {D}"
)]
pub trait DimOf<D>: OneDim {}
impl<X: OneDim, D: Dims + Searched<X> + NotBehindWild<X> + Has<X>> DimOf<D> for X {}

/// The dim, or each dim of the tuple, stands in `D`, once in the tuple.
///
/// `D: Has<C>` is all that generic code needs for `C: In<D>`.
#[diagnostic::on_unimplemented(
    message = "dim `{Self}` not found in dims {D}",
    label = "no such dim"
)]
pub trait In<D> {}
impl<A: Axes, D> In<D> for A where A::List: EachIn<D> {}

/// Dims of `D`, or `keep` of them: what a reduction asks of its argument.
///
/// The same as `A: Axes, A::Checked: In<D>`, in one bound: it fits on the method's line, and so
/// rustc's message is shorter.
pub trait AxesOf<D>: Axes<List: EachIn<D>> {}
impl<A: Axes, D> AxesOf<D> for A where A::List: EachIn<D> {}

/// Each dim of the list stands in `D`.
#[diagnostic::on_unimplemented(
    message = "dims {Self} not found in dims {D}",
    label = "no such dims"
)]
pub trait EachIn<D> {}
impl<D> EachIn<D> for () {}

/// The dims of `D` with `Y` in the place of `X`: gather, topk to another name, one-hot.
pub type Replaced<D, X, Y> = <<D as DimList>::Seek<X> as Place>::Set<D, X, D, Y>;
