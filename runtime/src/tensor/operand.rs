//! Right-hand operands: a tensor or a number.

use half::{bf16, f16};
use nomina_core::{PromoteScalar, Scalar};
use num_complex::Complex;

use super::DynTensor;
use crate::call::Arg;

/// A tensor, or a number of any type.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// A tensor.
    Tensor(&'a DynTensor),
    /// A number, whose dtype yields to that of a tensor.
    Scalar(Scalar),
}

/// An operand of an operator such as `+`, beside a `DynTensor`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not combine with a `DynTensor`",
    label = "expected a borrowed `DynTensor` or a number",
    note = "for a `Tensor`: give the `DynTensor` its dims, `d.typed::<(N, C), f32>()?`, or forget those of the other, `&x.to_dyn()`"
)]
pub trait IntoOperand<'a>: Into<Operand<'a>> {}
#[diagnostic::do_not_recommend]
impl<'a, R: Into<Operand<'a>>> IntoOperand<'a> for R {}

impl<'a> Operand<'a> {
    /// Returns the tensor; `None` for a number.
    #[must_use]
    pub fn tensor(self) -> Option<&'a DynTensor> {
        match self {
            Self::Tensor(x) => Some(x),
            Self::Scalar(_) => None,
        }
    }

    /// Returns the operand in the form that kernels take.
    pub(crate) fn arg(self) -> Arg<'a> {
        match self {
            Self::Tensor(x) => Arg::Tensor(&x.raw),
            Self::Scalar(value) => Arg::Scalar(value),
        }
    }
}

impl<'a> From<&'a DynTensor> for Operand<'a> {
    fn from(x: &'a DynTensor) -> Self {
        Self::Tensor(x)
    }
}

impl From<Scalar> for Operand<'_> {
    fn from(value: Scalar) -> Self {
        Self::Scalar(value)
    }
}

macro_rules! from_number {
    ($($number:ty)*) => {$(
        impl From<$number> for Operand<'_> {
            fn from(value: $number) -> Self {
                Self::Scalar(Scalar::from(value))
            }
        }
    )*};
}
from_number!(bool u8 i8 i16 i32 i64 u16 u32 usize isize f16 bf16 f32 f64 Complex<f32> Complex<f64>);

/// Lets rustc find no fault with the dtypes of a typed tensor and a `DynTensor`: it then reports that the `DynTensor` is no
/// operand, in words about a `DynTensor`.
macro_rules! beside_typed {
    ($($t:ty)*) => {$(
        #[doc(hidden)]
        #[diagnostic::do_not_recommend]
        impl PromoteScalar<DynTensor> for $t {
            type Output = $t;
        }
        #[doc(hidden)]
        #[diagnostic::do_not_recommend]
        impl PromoteScalar<&DynTensor> for $t {
            type Output = $t;
        }
    )*};
}
beside_typed!(bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 Complex<f32> Complex<f64>);
