//! `+ - * / %`, `& | ^`, `-x` and `!x`, which return a [`Result`]: `(&x + &y)?`.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::{DynTensor, IntoOperand, Operand, family};

/// Implements std's operators, which return a `Result`, for a tensor that has them as methods: of two tensors, borrowed or
/// owned, of a tensor and a number, and of one tensor. A number on the left is passed to a function.
#[doc(hidden)]
#[macro_export]
macro_rules! fallible_operators {
    ($tensor:ident, $into:ident $operand:ident, $after_number:ident) => {
        $crate::fallible_operators! {
            @binary $tensor $into $operand
            Add add add;
            Sub sub sub;
            Mul mul mul;
            Div div div;
            Rem rem remainder;
            BitAnd bitand bitwise_and;
            BitOr bitor bitwise_or;
            BitXor bitxor bitwise_xor;
        }
        // One float and one integer type, so that literals infer.
        $crate::fallible_operators! {
            @numbers $tensor $after_number
            Add add Add: f64 i64;
            Sub sub Sub: f64 i64;
            Mul mul Mul: f64 i64;
            Div div Div: f64 i64;
            Rem rem Remainder: f64 i64;
        }
        $crate::fallible_operators! {
            @unary $tensor
            Neg neg neg;
            Not not bitwise_not;
        }
    };
    (@binary $tensor:ident $into:ident $operand:ident $($trait:ident $name:ident $method:ident;)*) => {$(
        impl<'a, R: $into<'a>> std::ops::$trait<R> for &$tensor {
            type Output = Result<$tensor>;
            fn $name(self, other: R) -> Result<$tensor> {
                let other: $operand<'a> = other.into();
                $tensor::$method(self, other)
            }
        }
        impl<'a, R: $into<'a>> std::ops::$trait<R> for $tensor {
            type Output = Result<$tensor>;
            fn $name(self, other: R) -> Result<$tensor> {
                std::ops::$trait::$name(&self, other)
            }
        }
        impl std::ops::$trait<$tensor> for &$tensor {
            type Output = Result<$tensor>;
            fn $name(self, other: $tensor) -> Result<$tensor> {
                std::ops::$trait::$name(self, &other)
            }
        }
        impl std::ops::$trait for $tensor {
            type Output = Result<$tensor>;
            fn $name(self, other: $tensor) -> Result<$tensor> {
                std::ops::$trait::$name(&self, &other)
            }
        }
    )*};
    (@numbers $tensor:ident $after_number:ident $($trait:ident $name:ident $op:ident: $($number:ty)*;)*) => {$($(
        impl std::ops::$trait<&$tensor> for $number {
            type Output = Result<$tensor>;
            fn $name(self, other: &$tensor) -> Result<$tensor> {
                $after_number(Op::$op, self.into(), other)
            }
        }
        impl std::ops::$trait<$tensor> for $number {
            type Output = Result<$tensor>;
            fn $name(self, other: $tensor) -> Result<$tensor> {
                std::ops::$trait::$name(self, &other)
            }
        }
    )*)*};
    (@unary $tensor:ident $($trait:ident $name:ident $method:ident;)*) => {$(
        impl std::ops::$trait for &$tensor {
            type Output = Result<$tensor>;
            fn $name(self) -> Result<$tensor> {
                $tensor::$method(self)
            }
        }
        impl std::ops::$trait for $tensor {
            type Output = Result<$tensor>;
            fn $name(self) -> Result<$tensor> {
                $tensor::$method(&self)
            }
        }
    )*};
}

fallible_operators!(DynTensor, IntoOperand Operand, after_number);

fn after_number(op: Op, number: Scalar, x: &DynTensor) -> Result<DynTensor> {
    family::pointwise(op, &[number.into(), x.into()])
}
