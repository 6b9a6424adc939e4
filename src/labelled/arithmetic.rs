//! The operators `+ - * / %`, `-x`, and the assigning forms.

use std::ops::{
    Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign,
};

use half::{bf16, f16};
use nomina_core::dims::Dims;
use nomina_core::{Element, Numeric, WithScalar};
use num_complex::Complex;

use super::Labelled;
use super::operand::{LabelledOperand, OutDims, OutDtype, meet};
use crate::erased::ok;
use crate::tensor::Tensor;
use crate::tensor::operand::{Absorb, AsCommon, AsFloat, Beside, Combine, Operand};

macro_rules! operators {
    ($($trait:ident $method:ident $op:literal $dtype:ty;)*) => {$(
        // On one line, because rustc quotes it in errors.
        #[rustfmt::skip]
        impl<D: Dims, T: Beside<R::Side>, R: LabelledOperand> $trait<R> for &Labelled<D, T> where <R::Side as Operand>::Kind: Combine<D, T> {
            type Output = Labelled<OutDims<R, D, T>, $dtype>;
            #[track_caller]
            fn $method(self, other: R) -> Self::Output {
                let coords = ok(meet::<D, T, OutDims<R, D, T>, R>($op, self, &other));
                Labelled::from_parts((&self.tensor).$method(other.into_side()), coords)
            }
        }

        #[rustfmt::skip]
        impl<D: Dims, T: Beside<R::Side>, R: LabelledOperand> $trait<R> for Labelled<D, T> where <R::Side as Operand>::Kind: Combine<D, T> {
            type Output = Labelled<OutDims<R, D, T>, $dtype>;
            #[track_caller]
            fn $method(self, other: R) -> Self::Output {
                let coords = ok(meet::<D, T, OutDims<R, D, T>, R>($op, &self, &other));
                Labelled::from_parts(self.tensor.$method(other.into_side()), coords)
            }
        }
    )*};
}
operators! {
    Add add "add" OutDtype<R, D, T>;
    Sub sub "sub" OutDtype<R, D, T>;
    Mul mul "mul" OutDtype<R, D, T>;
    Div div "div" <OutDtype<R, D, T> as Element>::Float;
    Rem rem "remainder" OutDtype<R, D, T>;
}

macro_rules! assigning {
    ($($trait:ident $method:ident $kind:ty;)*) => {$(
        impl<D: Dims, T: Element, R: LabelledOperand> $trait<R> for Labelled<D, T>
        where
            <R::Side as Operand>::Kind: Absorb<D, T, $kind>,
            Tensor<D, T>: $trait<R::Side>,
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
    RemAssign rem_assign AsCommon;
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

/// Numbers on the left of `+` and `*`, which commute; for each dtype the numbers that an unsuffixed literal may be.
macro_rules! numbers {
    ($($number:ty => $($dtype:ty)*;)*) => {$($(
        numbers!(@each $number, $dtype, Add add, Labelled<D, $dtype>);
        numbers!(@each $number, $dtype, Add add, &Labelled<D, $dtype>);
        numbers!(@each $number, $dtype, Mul mul, Labelled<D, $dtype>);
        numbers!(@each $number, $dtype, Mul mul, &Labelled<D, $dtype>);
    )*)*};
    (@each $number:ty, $dtype:ty, $trait:ident $method:ident, $x:ty) => {
        #[cfg_attr(doc, doc(hidden))]
        impl<D: Dims> $trait<$x> for $number {
            type Output = Labelled<D, WithScalar<$dtype, $number>>;
            #[track_caller]
            fn $method(self, other: $x) -> Self::Output {
                $trait::$method(other, self)
            }
        }
    };
}
numbers! {
    f32 => f32 f16 bf16 u8 i32 i64 Complex<f32>;
    f64 => f64 Complex<f64>;
    i32 => i32;
    i64 => i64;
}
