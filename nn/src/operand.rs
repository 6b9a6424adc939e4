//! Parameters as operands, like the tensors that they hold.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use nomina::__private::{MaybeOwned, OperandRef};
use nomina::dims::Dims;
use nomina::tensor::fused::{FuseOperand, Lent};
use nomina::types::{OfTensor, Operand};
use nomina::{Complex, Element, Tensor, bf16, f16};

use crate::Param;

#[diagnostic::do_not_recommend]
impl<D: Dims, T: Element> Operand for &Param<D, T> {
    type Kind = OfTensor<D, T>;
    #[inline(always)]
    fn as_operand(&self) -> OperandRef<'_> {
        (***self).as_operand()
    }
    #[inline(always)]
    fn into_operand<'a>(self) -> MaybeOwned<'a>
    where
        Self: 'a,
    {
        (&**self).into_operand()
    }
}

/// Lends the tensor of a parameter to `fuse!`.
#[diagnostic::do_not_recommend]
impl<D: Dims + 'static, T: Element> FuseOperand for Param<D, T> {
    type Typed = Tensor<D, T>;
    #[inline(always)]
    fn lend(&self) -> Lent<'_, Tensor<D, T>> {
        (**self).lend()
    }
}

impl<'a, D: Dims, T: Element> Neg for &'a Param<D, T>
where
    &'a Tensor<D, T>: Neg,
{
    type Output = <&'a Tensor<D, T> as Neg>::Output;
    #[track_caller]
    fn neg(self) -> Self::Output {
        <&Tensor<D, T> as Neg>::neg(self)
    }
}

/// Implements a binary operator for a parameter on the left, and for a number to the left of a parameter.
macro_rules! operator {
    ($op:ident, $method:ident: $($number:ty)*) => {
        impl<'a, D: Dims, T: Element, R> $op<R> for &'a Param<D, T>
        where
            &'a Tensor<D, T>: $op<R>,
        {
            type Output = <&'a Tensor<D, T> as $op<R>>::Output;
            #[track_caller]
            fn $method(self, other: R) -> Self::Output {
                <&Tensor<D, T> as $op<R>>::$method(self, other)
            }
        }
        $(
            impl<'a, D: Dims, T: Element> $op<&'a Param<D, T>> for $number
            where
                $number: $op<&'a Tensor<D, T>>,
            {
                type Output = <$number as $op<&'a Tensor<D, T>>>::Output;
                #[track_caller]
                fn $method(self, other: &'a Param<D, T>) -> Self::Output {
                    <Self as $op<&Tensor<D, T>>>::$method(self, other)
                }
            }
        )*
    };
}
operator!(Add, add: f16 bf16 f32 f64 Complex<f32> Complex<f64>);
operator!(Sub, sub: f16 bf16 f32 f64 Complex<f32> Complex<f64>);
operator!(Mul, mul: f16 bf16 f32 f64 Complex<f32> Complex<f64>);
operator!(Div, div: f16 bf16 f32 f64 Complex<f32> Complex<f64>);
operator!(Rem, rem: f16 bf16 f32 f64);
