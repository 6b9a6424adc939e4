//! Operands beside a labelled tensor.

use nomina_core::dims::Dims;
use nomina_core::{Element, Number, Result};

use super::Labelled;
use super::coords::{Coords, unified};
use crate::tensor::Tensor;
use crate::tensor::operand::{self, Operand};

/// An operand beside a labelled tensor: another one, a plain tensor, or a number. A plain tensor takes part without labels.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a tensor nor a number",
    label = "expected a labelled tensor, a tensor or a number"
)]
pub trait LabelledOperand {
    /// The operand without labels.
    type Side: Operand;
    /// Whether the operand has labels.
    #[doc(hidden)]
    fn coords(&self) -> Option<&Coords>;
    #[doc(hidden)]
    fn names(&self) -> &'static [Option<&'static str>];
    #[doc(hidden)]
    fn into_side(self) -> Self::Side;
}

#[diagnostic::do_not_recommend]
impl<S: Number> LabelledOperand for S {
    type Side = S;
    fn coords(&self) -> Option<&Coords> {
        None
    }
    fn names(&self) -> &'static [Option<&'static str>] {
        &[]
    }
    fn into_side(self) -> S {
        self
    }
}

macro_rules! tensors {
    ($([$($life:lifetime)?] $t:ty, $side:ty, |$x:ident| $coords:expr, $into:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($life,)? E: Dims, U: Element> LabelledOperand for $t {
            type Side = $side;
            fn coords(&self) -> Option<&Coords> {
                let $x = self;
                $coords
            }
            fn names(&self) -> &'static [Option<&'static str>] {
                E::NAMES
            }
            fn into_side(self) -> Self::Side {
                let $x = self;
                $into
            }
        }
    )*};
}
tensors! {
    [] Tensor<E, U>, Tensor<E, U>, |x| { let _ = x; None }, x;
    ['a] &'a Tensor<E, U>, &'a Tensor<E, U>, |x| { let _ = x; None }, x;
    [] Labelled<E, U>, Tensor<E, U>, |x| Some(&x.coords), x.tensor;
    ['a] &'a Labelled<E, U>, &'a Tensor<E, U>, |x| Some(&x.coords), &x.tensor;
}

/// The dims of a result.
pub type OutDims<R, D, T> = operand::OutDims<<R as LabelledOperand>::Side, D, T>;
/// The common dtype of two operands.
pub type OutDtype<R, D, T> = operand::OutDtype<<R as LabelledOperand>::Side, D, T>;

/// Returns the labels of an elementwise result with dims `O`.
#[inline]
pub(super) fn meet<D: Dims, T: Element, O: Dims, R: LabelledOperand>(
    op: &'static str,
    x: &Labelled<D, T>,
    other: &R,
) -> Result<Coords> {
    match other.coords() {
        Some(coords) => unified(op, (&x.coords, D::NAMES), (coords, other.names()), O::NAMES),
        None => unified(
            op,
            (&x.coords, D::NAMES),
            (&Coords::default(), other.names()),
            O::NAMES,
        ),
    }
}
