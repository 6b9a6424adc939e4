//! Products by name: `contract`.

use super::axes::{Axes, EachIn};
use super::dims::{DimList, Dims};
use super::distinct::{Distinct, ShortUnless};
use super::id::{Bool, IsTrue};

/// Rustc knows every name in the list.
#[diagnostic::on_unimplemented(
    message = "contract needs names, but dims {Self} contain `Wild`",
    label = "name the dims first: `x.refine_names(..)`"
)]
pub trait FullyNamed: DimList<AllNamed: IsTrue> {}

/// The dims of `x.contract(&w, X)`, where `X` is a dim or a tuple of dims: those of `x` without `X`, then those of `w`
/// that `x` lacks.
pub type Contracted<D, E, X> = <X as ContractOver>::Contracted<D, E>;

/// The dims of `x.tensordot(&w, X)`: those of `x` without `X`, then those of `w` without `X`.
pub type Tensordotted<D, E, X> = <X as ContractOver>::Joined<D, E>;

/// Functions on the last argument of `contract`, which rustc infers last.
#[doc(hidden)]
pub trait ContractOver {
    /// `D` and `E` contracted over these dims; other dims that both have appear once.
    type Contracted<D: Dims, E: Dims>: Dims;
    /// `D` and `E` contracted over these dims; all other dims of both, in order.
    type Joined<D: Dims, E: Dims>: Dims;
}

impl<A: Axes> ContractOver for A {
    type Contracted<D: Dims, E: Dims> =
        <<A::Remaining<E> as DimList>::Minus<D> as DimList>::After<A::Remaining<D>>;
    type Joined<D: Dims, E: Dims> = <A::Remaining<E> as DimList>::After<A::Remaining<D>>;
}

/// `x.contract(&w, X)` is defined for dims `D` and `E`: both have `X` (a dim, or each dim of a tuple), every name is
/// known, and the result has at most 8 dims. Write `X: OneDim + Contract<D, E>`, or `X: Axes + Contract<D, E>`.
#[diagnostic::on_unimplemented(
    message = "cannot contract dims {D} with dims {E} over `{Self}`",
    label = "both sides must have this dim"
)]
pub trait Contract<D: Dims, E: Dims>:
    ContractOver + ContractTo<D, E, Contracted<D, E, Self>>
{
}
impl<D: Dims, E: Dims, X> Contract<D, E> for X where
    X: ContractOver + ContractTo<D, E, Contracted<D, E, X>>
{
}

/// [`Contract`] with the dims of the result, `O`. The method takes its result dims from this trait; written in its
/// signature, they would be computed twice more by rustc.
#[diagnostic::on_unimplemented(
    message = "cannot contract dims {D} with dims {E} over `{Self}`",
    label = "both sides must have this dim"
)]
pub trait ContractTo<D, E, O> {}
impl<D, E, O, X> ContractTo<D, E, O> for X
where
    X: Axes<Checked = X> + ContractOver<Contracted<D, E> = O>,
    D: Dims + FullyNamed,
    E: Dims + FullyNamed,
    X::List: ByName + EachIn<D> + EachIn<E>,
    O: ShortUnless<D::Fits<E>>,
{
}

/// The list is not empty: the argument was not `..`.
#[diagnostic::on_unimplemented(
    message = "contract takes the dims by name, not `..`",
    label = "a dim or a tuple of dims is needed here"
)]
pub trait ByName {}
#[diagnostic::do_not_recommend]
impl<L: Dims> ByName for L where <L::SameRank<()> as Bool>::Not: IsTrue {}

/// `x.tensordot(&w, X)` is defined for dims `D` and `E`: [`Contract`] holds, and no other dim is in both.
#[diagnostic::on_unimplemented(
    message = "cannot contract dims {D} with dims {E} over `{Self}`",
    label = "both sides must have this dim"
)]
pub trait TensorDot<D, E> {}
impl<X: Axes + Contract<D, E>, D: Dims, E: Dims> TensorDot<D, E> for X where
    Tensordotted<D, E, X>: Distinct
{
}
