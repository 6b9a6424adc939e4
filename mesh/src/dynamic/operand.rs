//! `+ - * / %`, `& | ^`, `-x` and `!x`, which return a [`Result`], and the operands of methods.

use nomina::{DynTensor, Result, Scalar};
use nomina_core::mesh::value::Mode;
use nomina_core::op::{Op, Spread};
use nomina_runtime::fallible_operators;
use nomina_runtime::tensor::{Operand, family};

use super::DynSharded;

/// An operand beside a [`DynSharded`]: another one, or a number.
#[derive(Clone, Copy, Debug)]
pub enum ShardedOperand<'a> {
    /// A tensor of the same mesh.
    Tensor(&'a DynSharded),
    /// A number, which every rank has.
    Number(Scalar),
}

/// An operand of an operator such as `+`, beside a [`DynSharded`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not combine with a `DynSharded`",
    label = "expected a borrowed `DynSharded` or a number"
)]
pub trait IntoShardedOperand<'a>: Into<ShardedOperand<'a>> {}
#[diagnostic::do_not_recommend]
impl<'a, R: Into<ShardedOperand<'a>>> IntoShardedOperand<'a> for R {}

impl<'a> From<&'a DynSharded> for ShardedOperand<'a> {
    fn from(x: &'a DynSharded) -> Self {
        Self::Tensor(x)
    }
}

macro_rules! from_numbers {
    ($($number:ty)*) => {$(
        impl From<$number> for ShardedOperand<'_> {
            fn from(number: $number) -> Self {
                Self::Number(number.into())
            }
        }
    )*};
}
from_numbers! { bool f32 f64 i32 i64 Scalar }

/// How an operator combines the placements of its operands.
fn mode(op: Op) -> Mode {
    match op.row().spread {
        Spread::SumOfTwo => Mode::SumOfTwo,
        Spread::ProductOfTwo => Mode::ProductOfTwo,
        Spread::QuotientOfTwo => Mode::QuotientOfTwo,
        _ => Mode::Pointwise,
    }
}

impl DynSharded {
    /// Computes an operator of two operands.
    pub(super) fn combined(
        &self,
        op: Op,
        other: ShardedOperand<'_>,
        compute: impl FnOnce(&DynTensor, Operand<'_>) -> Result<DynTensor>,
    ) -> Result<Self> {
        let mode = mode(op);
        let other = match other {
            ShardedOperand::Tensor(other) => other,
            ShardedOperand::Number(number) => {
                self.require(op, |_, place| place.with_number(mode))?;
                let local = compute(&self.local, Operand::Scalar(number))?;
                return self.wrap_result(op, local, self.places.clone(), &[]);
            }
        };
        self.require_same_mesh(op, other)?;
        self.require(op, |axis, place| {
            place.beside(mode, &other.places[axis], self.names(), other.names())
        })?;
        let places = self.places.iter().zip(&other.places);
        let places = places.map(|(one, other)| one.join(other)).collect();
        let local = compute(&self.local, Operand::Tensor(&other.local))?;
        self.wrap_result(op, local, places, &[other])
    }

    /// Computes an operator of a number and this tensor, in this order.
    pub(super) fn after_number(
        &self,
        op: Op,
        compute: impl FnOnce(&DynTensor) -> Result<DynTensor>,
    ) -> Result<Self> {
        let mode = match mode(op) {
            // A quotient is not linear in its divisor.
            Mode::QuotientOfTwo => Mode::Pointwise,
            other => other,
        };
        self.require(op, |_, place| place.with_number(mode))?;
        self.wrap_result(op, compute(&self.local)?, self.places.clone(), &[])
    }
}

fallible_operators!(DynSharded, IntoShardedOperand ShardedOperand, after_number);

fn after_number(op: Op, number: Scalar, x: &DynSharded) -> Result<DynSharded> {
    x.after_number(op, |x| family::pointwise(op, &[number.into(), x.into()]))
}
