//! Operands of operators.

use nomina_core::Scalar;

use super::Raw;

/// An operand: a tensor, or a number that is the same for all elements.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A tensor.
    Tensor(&'a Raw),
    /// A number, of which only the category takes part in promotion.
    Scalar(Scalar),
}

impl<'a> From<&'a Raw> for Arg<'a> {
    fn from(raw: &'a Raw) -> Self {
        Self::Tensor(raw)
    }
}

impl From<Scalar> for Arg<'_> {
    fn from(value: Scalar) -> Self {
        Self::Scalar(value)
    }
}
