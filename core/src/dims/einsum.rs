//! Products by name of any number of tensors: `einsum!`.

use super::axis::{Axis, Dim, NoDim, Wild};
use super::dims::{DimList, Dims};
use super::id::{Bool, False, IsTrue};
use super::verdict::NamesOf;

/// Lists of dims, one per operand, as nested pairs: `(D, (E, ()))`.
#[doc(hidden)]
pub trait DimLists {
    /// Whether one of the lists has the name of `X`.
    type Contains<X: Axis>: Bool;
}

impl DimLists for () {
    type Contains<X: Axis> = False;
}

impl<D: Dims, L: DimLists> DimLists for (D, L) {
    type Contains<X: Axis> = <D::Contains<X> as Bool>::Or<L::Contains<X>>;
}

/// Rustc knows every name in the list. `einsum!` requires it of each operand; `L` are the listed dims.
#[diagnostic::on_unimplemented(
    message = "einsum needs names, but dims {Self} contain `Wild`",
    label = "name the dims first: `x.refine_names(..)`"
)]
pub trait EinsumNamed<L> {}
#[diagnostic::do_not_recommend]
impl<D: Dims, L> EinsumNamed<L> for D where D::AllNamed: IsTrue {}

/// Every dim of `Self` is in the list `L` written for an operand of `einsum!`. If both have the same rank, nothing is
/// reported: a missing dim was then written as another dim, which has an error message already.
pub trait ListedBy<L> {}
impl<D: Dims, L: Dims> ListedBy<L> for D where
    NamesOf<D>: NoneLeft<<D::SameRank<L> as Bool>::Axis<NoDim, <D::Minus<L> as DimList>::At0>, D>
{
}

/// `X` is [`NoDim`]: no dim of `D` is left over.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` of dims {D} is not listed",
    label = "list every dim of the operand, or `..` for the others"
)]
pub trait NoneLeft<X, D> {}
#[diagnostic::do_not_recommend]
impl<D> NoneLeft<NoDim, D> for NamesOf<D> {}
// A second impl, so that rustc prints the message above instead of unifying with a single impl.
#[diagnostic::do_not_recommend]
impl<D> NoneLeft<Wild, D> for NamesOf<D> {}

/// The dim of the result of `einsum!` is a dim of an operand.
#[diagnostic::on_unimplemented(
    message = "dim `{Self}` of the result is in no operand",
    label = "no operand has this dim"
)]
pub trait OfOperand<L> {}
#[diagnostic::do_not_recommend]
impl<X: Dim, L: DimLists> OfOperand<L> for X where L::Contains<X>: IsTrue {}

/// The dims that `..` covers in `einsum!`: those found so far, `R`, then those added by an operand of dims `D`, of
/// which `L` are listed.
#[doc(hidden)]
pub type Others<R, D, L> = <<<D as DimList>::Minus<L> as DimList>::Minus<R> as DimList>::After<R>;
