//! Products by name of any number of tensors: `einsum!`.

use super::axis::{Axis, Dim, NoDim, Wild};
use super::dims::{DimList, Dims};
use super::id::{Bool, False, IsTrue};
use super::verdict::NamesOf;

/// Lists of dims, one for each operand, in a list of pairs: `(D, (E, ()))`.
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

/// Rustc knows every name in the list: what `einsum!` asks of an operand, of which `L` are listed.
#[diagnostic::on_unimplemented(
    message = "einsum goes by name, and dims {Self} have an unknown one",
    label = "name the dims first: `x.refine_names(..)`"
)]
pub trait EinsumNamed<L> {}
#[diagnostic::do_not_recommend]
impl<D: Dims, L> EinsumNamed<L> for D where D::AllNamed: IsTrue {}

/// Every dim of `Self` is in the list `L` that an operand of `einsum!` is written with. Of as many as there are, those
/// that are missing were written as others, of which each has its own error.
pub trait ListedBy<L> {}
impl<D: Dims, L: Dims> ListedBy<L> for D where
    NamesOf<D>: NoneLeft<<D::SameRank<L> as Bool>::Axis<NoDim, <D::Minus<L> as DimList>::At0>, D>
{
}

/// `X` is [`NoDim`]: no dim of `D` was left over.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` of dims {D} is not listed",
    label = "list every dim of the operand, or `..` for the others"
)]
pub trait NoneLeft<X, D> {}
#[diagnostic::do_not_recommend]
impl<D> NoneLeft<NoDim, D> for NamesOf<D> {}
// A second impl, so that rustc prints the text above and does not unify.
#[diagnostic::do_not_recommend]
impl<D> NoneLeft<Wild, D> for NamesOf<D> {}

/// A dim of the result of `einsum!` is one of an operand's.
#[diagnostic::on_unimplemented(
    message = "dim `{Self}` of the result is in no operand",
    label = "no operand has this dim"
)]
pub trait OfOperand<L> {}
#[diagnostic::do_not_recommend]
impl<X: Dim, L: DimLists> OfOperand<L> for X where L::Contains<X>: IsTrue {}

/// What `..` stands for so far, and what it stands for in one more operand of dims `D`, of which
/// `L` are listed.
#[doc(hidden)]
pub type Others<R, D, L> = <<<D as DimList>::Minus<L> as DimList>::Minus<R> as DimList>::After<R>;
