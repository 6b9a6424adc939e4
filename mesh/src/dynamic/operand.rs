//! `+ - * / %`, `& | ^`, `-x` and `!x`, which return a [`Result`], and the operands of methods.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Sub};

use nomina::{DynTensor, Result, Scalar};
use nomina_core::mesh::value::Mode;
use nomina_core::op::{Op, Spread};
use nomina_runtime::tensor::Operand;

use super::DynSharded;

/// An operand beside a [`DynSharded`]: another one, or a number.
#[derive(Clone, Copy, Debug)]
pub enum ShardedOperand<'a> {
    /// A tensor of the same mesh.
    Tensor(&'a DynSharded),
    /// A number, which every rank has.
    Number(Scalar),
}

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

/// Implements std's traits for tensors, borrowed or owned, with a tensor or a number on the right.
macro_rules! binary {
    ($($trait:ident $name:ident $method:ident;)*) => {$(
        impl<'a, R: Into<ShardedOperand<'a>>> $trait<R> for &DynSharded {
            type Output = Result<DynSharded>;
            fn $name(self, other: R) -> Result<DynSharded> {
                self.$method(other)
            }
        }
        impl<'a, R: Into<ShardedOperand<'a>>> $trait<R> for DynSharded {
            type Output = Result<DynSharded>;
            fn $name(self, other: R) -> Result<DynSharded> {
                DynSharded::$method(&self, other)
            }
        }
        impl $trait<DynSharded> for &DynSharded {
            type Output = Result<DynSharded>;
            fn $name(self, other: DynSharded) -> Result<DynSharded> {
                self.$method(&other)
            }
        }
        impl $trait for DynSharded {
            type Output = Result<DynSharded>;
            fn $name(self, other: DynSharded) -> Result<DynSharded> {
                DynSharded::$method(&self, &other)
            }
        }
    )*};
}
binary! {
    Add add add;
    Sub sub sub;
    Mul mul mul;
    Div div div;
    Rem rem remainder;
    BitAnd bitand bitwise_and;
    BitOr bitor bitwise_or;
    BitXor bitxor bitwise_xor;
}

/// Implements std's traits for numbers on the left: `2.0 * &x`. One float and one integer type, so that literals infer.
macro_rules! numbers {
    ($($trait:ident $name:ident $op:ident: $($number:ty)*;)*) => {$($(
        impl $trait<&DynSharded> for $number {
            type Output = Result<DynSharded>;
            fn $name(self, other: &DynSharded) -> Result<DynSharded> {
                other.after_number(Op::$op, |x| $trait::$name(self, x))
            }
        }
        impl $trait<DynSharded> for $number {
            type Output = Result<DynSharded>;
            fn $name(self, other: DynSharded) -> Result<DynSharded> {
                $trait::$name(self, &other)
            }
        }
    )*)*};
}
numbers! {
    Add add Add: f64 i64;
    Sub sub Sub: f64 i64;
    Mul mul Mul: f64 i64;
    Div div Div: f64 i64;
    Rem rem Remainder: f64 i64;
}

/// Implements std's traits for one tensor, borrowed or owned.
macro_rules! unary {
    ($($trait:ident $name:ident $method:ident;)*) => {$(
        impl $trait for &DynSharded {
            type Output = Result<DynSharded>;
            fn $name(self) -> Result<DynSharded> {
                self.$method()
            }
        }
        impl $trait for DynSharded {
            type Output = Result<DynSharded>;
            fn $name(self) -> Result<DynSharded> {
                DynSharded::$method(&self)
            }
        }
    )*};
}
unary! {
    Neg neg neg;
    Not not bitwise_not;
}
