//! The type that rustc sees for a [`DynTensor`](crate::DynTensor) in the body of [`fuse!`](crate::fuse): operators,
//! elementwise methods, [`Untyped::to`], and the end of a chain of [`try_fuse!`](crate::try_fuse).

use std::ops::{Add, Div, Mul, Neg, Not, Rem, Sub};

use half::{bf16, f16};
use nomina_core::rule::DimArg;
use nomina_core::{Element, Number, PromoteScalar, Result};
use nomina_runtime::DynTensor;
use nomina_runtime::tensor::Along;
use num_complex::Complex;

/// A tensor of unknown type, with the operators allowed in a chain. They are type-checked and never called.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Untyped;

/// An operand that may be combined with an [`Untyped`].
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not mix with a `DynTensor` in `fuse!`",
    label = "expected a `DynTensor` or a number",
    note = "make all tensors of one kind: `x.into_dyn()`, or `y.typed::<(N, C), f32>()?`"
)]
pub trait UntypedOperand {}

impl UntypedOperand for Untyped {}
impl UntypedOperand for &Untyped {}
#[diagnostic::do_not_recommend]
impl<S: Number> UntypedOperand for S {}

/// Like the same impls of `DynTensor`: a typed chain reports that this is no operand.
macro_rules! beside_typed {
    ($($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl PromoteScalar<Untyped> for $t {
            type Output = $t;
        }
        #[diagnostic::do_not_recommend]
        impl PromoteScalar<&Untyped> for $t {
            type Output = $t;
        }
    )*};
}
beside_typed!(bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 Complex<f32> Complex<f64>);

impl Untyped {
    /// Converts: `.to::<f32>()`.
    #[must_use]
    pub fn to<T: Element>(&self) -> Self {
        Self
    }
}

macro_rules! binary {
    ($($op:ident $method:ident),*) => {$(
        impl<R: UntypedOperand> $op<R> for Untyped {
            type Output = Untyped;
            fn $method(self, _: R) -> Untyped {
                Untyped
            }
        }
        impl<R: UntypedOperand> $op<R> for &Untyped {
            type Output = Untyped;
            fn $method(self, _: R) -> Untyped {
                Untyped
            }
        }
        numbers! { $op $method: bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f32>, Complex<f64> }
    )*};
}

macro_rules! numbers {
    ($op:ident $method:ident: $($t:ty),*) => {$(
        impl $op<Untyped> for $t {
            type Output = Untyped;
            fn $method(self, _: Untyped) -> Untyped {
                Untyped
            }
        }
        impl $op<&Untyped> for $t {
            type Output = Untyped;
            fn $method(self, _: &Untyped) -> Untyped {
                Untyped
            }
        }
    )*};
}

macro_rules! unary {
    ($($op:ident $method:ident),*) => {$(
        impl $op for Untyped {
            type Output = Untyped;
            fn $method(self) -> Untyped {
                Untyped
            }
        }
        impl $op for &Untyped {
            type Output = Untyped;
            fn $method(self) -> Untyped {
                Untyped
            }
        }
    )*};
}

binary!(Add add, Sub sub, Mul mul, Div div, Rem rem);
unary!(Neg neg, Not not);

/// The result of a chain of [`DynTensor`]s in `try_fuse!`. Like that of the typed tensor, the chain ends with a method
/// whose name begins with `try_`.
#[doc(hidden)]
#[derive(Debug)]
pub struct Failing(pub(super) DynTensor);

include!("generated.rs");
