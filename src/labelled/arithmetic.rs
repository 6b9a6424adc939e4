//! The operators `+ - * /`, `-x`, and the assigning forms.

use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use half::{bf16, f16};
use nomina_core::dims::Dims;
use nomina_core::{Element, Numeric, PromoteScalar, WithScalar};
use num_complex::Complex;

use super::Labelled;
use super::operand::{LabelledOperand, OutDims, OutDtype, meet};
use crate::erased::ok;
use crate::tensor::operand::{Absorb, AsCommon, AsFloat, Beside, Combine, Operand};

macro_rules! operators {
    ($($trait:ident $method:ident $tried:ident $dtype:ty;)*) => {$(
        // On one line, because rustc quotes it in errors.
        #[rustfmt::skip]
        impl<D: Dims, T: Beside<R::Side>, R: LabelledOperand> $trait<R> for &Labelled<D, T> where <R::Side as Operand>::Kind: Combine<D, T> {
            type Output = Labelled<OutDims<R, D, T>, $dtype>;
            #[track_caller]
            fn $method(self, other: R) -> Self::Output {
                let coords = ok(meet::<D, T, OutDims<R, D, T>, R>(stringify!($method), self, &other));
                Labelled::from_parts((&self.tensor).$method(other.into_side()), coords)
            }
        }

        #[rustfmt::skip]
        impl<D: Dims, T: Beside<R::Side>, R: LabelledOperand> $trait<R> for Labelled<D, T> where <R::Side as Operand>::Kind: Combine<D, T> {
            type Output = Labelled<OutDims<R, D, T>, $dtype>;
            #[track_caller]
            fn $method(self, other: R) -> Self::Output {
                let coords = ok(meet::<D, T, OutDims<R, D, T>, R>(stringify!($method), &self, &other));
                Labelled::from_parts(self.tensor.$method(other.into_side()), coords)
            }
        }
    )*};
}
operators! {
    Add add try_add OutDtype<R, D, T>;
    Sub sub try_sub OutDtype<R, D, T>;
    Mul mul try_mul OutDtype<R, D, T>;
    Div div try_div <OutDtype<R, D, T> as Element>::Float;
}

macro_rules! assigning {
    ($($trait:ident $method:ident $kind:ty;)*) => {$(
        impl<D: Dims, T: Element, R: LabelledOperand> $trait<R> for Labelled<D, T>
        where
            <R::Side as Operand>::Kind: Absorb<D, T, $kind>,
            crate::Tensor<D, T>: $trait<R::Side>,
        {
            #[track_caller]
            fn $method(&mut self, other: R) {
                // Labels that only the right operand has are taken over.
                self.coords = ok(meet::<D, T, D, R>(stringify!($method), self, &other));
                self.tensor.$method(other.into_side());
            }
        }
    )*};
}
assigning! {
    AddAssign add_assign AsCommon;
    SubAssign sub_assign AsCommon;
    MulAssign mul_assign AsCommon;
    DivAssign div_assign AsFloat;
}

impl<D: Dims, T: Numeric> Neg for &Labelled<D, T> {
    type Output = Labelled<D, T>;
    #[track_caller]
    fn neg(self) -> Self::Output {
        self.neg()
    }
}

impl<D: Dims, T: Numeric> Neg for Labelled<D, T> {
    type Output = Self;
    #[track_caller]
    fn neg(self) -> Self {
        Labelled::neg(&self)
    }
}

/// Numbers on the left of `+` and `*`, which commute, and of `-`.
macro_rules! numbers {
    ($($number:ty)*) => {$(
        numbers!(@each $number, Add add, |x, number| x + number);
        numbers!(@each $number, Mul mul, |x, number| x * number);
    )*};
    (@each $number:ty, $trait:ident $method:ident, |$x:ident, $left:ident| $result:expr) => {
        #[cfg_attr(doc, doc(hidden))]
        impl<D: Dims, T: PromoteScalar<$number>> $trait<&Labelled<D, T>> for $number {
            type Output = Labelled<D, WithScalar<T, $number>>;
            #[track_caller]
            fn $method(self, other: &Labelled<D, T>) -> Self::Output {
                let ($x, $left) = (other, self);
                $result
            }
        }
        #[cfg_attr(doc, doc(hidden))]
        impl<D: Dims, T: PromoteScalar<$number>> $trait<Labelled<D, T>> for $number {
            type Output = Labelled<D, WithScalar<T, $number>>;
            #[track_caller]
            fn $method(self, other: Labelled<D, T>) -> Self::Output {
                let ($x, $left) = (other, self);
                $result
            }
        }
    };
}
numbers!(i32 i64 f32 f64 f16 bf16 Complex<f32> Complex<f64>);
