//! The 12 dtypes as Rust types, and their promotion in types.

use core::fmt;

use half::{bf16, f16};
use num_complex::Complex;

use crate::dtype::DType;
use crate::scalar::Scalar;

#[rustfmt::skip]
mod generated;
mod promote;

pub use promote::*;

mod sealed {
    pub trait Sealed {}
}

/// The element type of a tensor: `bool`, `u8`, `i8`, `i16`, `i32`, `i64`, `f16`, `bf16`, `f32`,
/// `f64`, `Complex<f32>` or `Complex<f64>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dtype",
    label = "expected bool, an integer, a float or a complex type",
    note = "the dtypes are bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 Complex<f32> Complex<f64>",
    note = "for u16, u32, u64 and usize, use i64: `Tensor::<D, i64>::from_integers(&values, sizes)` converts"
)]
pub trait Element:
    sealed::Sealed + Copy + Default + PartialEq + fmt::Debug + fmt::Display + Send + Sync + 'static
{
    /// This dtype by value.
    const DTYPE: DType;
    /// The result of a unary float function or of `/`: `Self`, or `f32` for integers and bool.
    type Float: Inexact;
    /// The result of `abs`: the dtype of the parts for complex numbers, else `Self`.
    type Real: Real;
    /// The result of `sum` and `prod`: `i64` for integers and bool, else `Self`.
    type Sum: Numeric;
    /// The result of `float_power`: `f64`, or `Complex<f64>` for complex numbers.
    type Double: Inexact;

    /// Converts a number like PyTorch's casts: floats truncate to integers, numbers compare with
    /// zero to give bool, complex numbers lose their imaginary part.
    fn from_scalar(value: Scalar) -> Self;

    /// Converts to a [`Scalar`].
    fn to_scalar(self) -> Scalar;
}

macro_rules! element {
    ($($t:ty: $dtype:ident, $float:ty, $real:ty, $sum:ty, $double:ty, $from:expr, $to:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        #[diagnostic::do_not_recommend]
        impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            type Float = $float;
            type Real = $real;
            type Sum = $sum;
            type Double = $double;
            #[inline]
            fn from_scalar(value: Scalar) -> Self {
                let from: fn(Scalar) -> $t = $from;
                from(value)
            }
            #[inline]
            fn to_scalar(self) -> Scalar {
                let to: fn($t) -> Scalar = $to;
                to(self)
            }
        }
    )*};
}

element! {
    bool: Bool, f32, bool, i64, f64, Scalar::to_bool, Scalar::Bool;
    u8: U8, f32, u8, i64, f64, |v| v.to_i64() as u8, |v| Scalar::Int(v.into());
    i8: I8, f32, i8, i64, f64, |v| v.to_i64() as i8, |v| Scalar::Int(v.into());
    i16: I16, f32, i16, i64, f64, |v| v.to_i64() as i16, |v| Scalar::Int(v.into());
    i32: I32, f32, i32, i64, f64, |v| v.to_i64() as i32, |v| Scalar::Int(v.into());
    i64: I64, f32, i64, i64, f64, Scalar::to_i64, Scalar::Int;
    f16: F16, f16, f16, f16, f64, |v| f16::from_f64(v.to_f64()), |v| Scalar::Float(v.to_f64());
    bf16: BF16, bf16, bf16, bf16, f64, |v| bf16::from_f64(v.to_f64()), |v| Scalar::Float(v.to_f64());
    f32: F32, f32, f32, f32, f64, |v| v.to_f64() as f32, |v| Scalar::Float(v.into());
    f64: F64, f64, f64, f64, f64, Scalar::to_f64, Scalar::Float;
    Complex<f32>: C64, Complex<f32>, f32, Complex<f32>, Complex<f64>,
        |v| { let c = v.to_complex(); Complex::new(c.re as f32, c.im as f32) },
        |v| Scalar::Complex(Complex::new(v.re.into(), v.im.into()));
    Complex<f64>: C128, Complex<f64>, f64, Complex<f64>, Complex<f64>, Scalar::to_complex, Scalar::Complex;
}
