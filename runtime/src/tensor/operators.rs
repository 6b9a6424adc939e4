//! `+ - * / %`, `& | ^`, `-x` and `!x`, which return a [`Result`]: `(&x + &y)?`.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Sub};

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::{DynTensor, Operand, family};

/// Implements std's traits for tensors, borrowed or owned, with a tensor or a number on the right.
macro_rules! binary {
    ($($trait:ident $name:ident $op:ident;)*) => {$(
        impl<'a, R: Into<Operand<'a>>> $trait<R> for &DynTensor {
            type Output = Result<DynTensor>;
            fn $name(self, other: R) -> Result<DynTensor> {
                family::pointwise(Op::$op, &[self.into(), other.into()])
            }
        }
        impl<'a, R: Into<Operand<'a>>> $trait<R> for DynTensor {
            type Output = Result<DynTensor>;
            fn $name(self, other: R) -> Result<DynTensor> {
                $trait::$name(&self, other)
            }
        }
        impl $trait<DynTensor> for &DynTensor {
            type Output = Result<DynTensor>;
            fn $name(self, other: DynTensor) -> Result<DynTensor> {
                $trait::$name(self, &other)
            }
        }
        impl $trait for DynTensor {
            type Output = Result<DynTensor>;
            fn $name(self, other: DynTensor) -> Result<DynTensor> {
                $trait::$name(&self, &other)
            }
        }
    )*};
}
binary! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
    Rem rem Remainder;
    BitAnd bitand BitwiseAnd;
    BitOr bitor BitwiseOr;
    BitXor bitxor BitwiseXor;
}

/// Implements std's traits for numbers on the left: `2.0 * &x`. One float and one integer type, so that literals infer.
macro_rules! numbers {
    ($($trait:ident $name:ident $op:ident: $($number:ty)*;)*) => {$($(
        impl $trait<&DynTensor> for $number {
            type Output = Result<DynTensor>;
            fn $name(self, other: &DynTensor) -> Result<DynTensor> {
                family::pointwise(Op::$op, &[Scalar::from(self).into(), other.into()])
            }
        }
        impl $trait<DynTensor> for $number {
            type Output = Result<DynTensor>;
            fn $name(self, other: DynTensor) -> Result<DynTensor> {
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
    ($($trait:ident $name:ident $op:ident;)*) => {$(
        impl $trait for &DynTensor {
            type Output = Result<DynTensor>;
            fn $name(self) -> Result<DynTensor> {
                family::pointwise(Op::$op, &[self.into()])
            }
        }
        impl $trait for DynTensor {
            type Output = Result<DynTensor>;
            fn $name(self) -> Result<DynTensor> {
                $trait::$name(&self)
            }
        }
    )*};
}
unary! {
    Neg neg Neg;
    Not not BitwiseNot;
}
