//! A number as the operand of a tensor operator.

use core::fmt;

use half::{bf16, f16};
use num_complex::Complex;

use crate::dtype::{Category, DType};

/// A number as an operand. Like a Python number in PyTorch, it promotes weakly: only its
/// [`Category`] takes part in promotion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(Complex<f64>),
}

impl Scalar {
    /// Returns the category, which alone takes part in promotion.
    #[must_use]
    pub fn category(self) -> Category {
        match self {
            Self::Bool(_) => Category::Bool,
            Self::Int(_) => Category::Integer,
            Self::Float(_) => Category::Float,
            Self::Complex(_) => Category::Complex,
        }
    }

    /// Returns the dtype of this number as a zero-dim tensor, with `default` for floats.
    #[must_use]
    pub fn dtype(self, default: DType) -> DType {
        match self {
            Self::Bool(_) => DType::Bool,
            Self::Int(_) => DType::I64,
            Self::Float(_) => default,
            Self::Complex(_) => default.to_complex(),
        }
    }

    /// Converts to a real number: the real part of a complex one.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Bool(v) => f64::from(u8::from(v)),
            Self::Int(v) => v as f64,
            Self::Float(v) => v,
            Self::Complex(v) => v.re,
        }
    }

    /// Converts to an integer, truncating and saturating.
    #[must_use]
    pub fn to_i64(self) -> i64 {
        match self {
            Self::Bool(v) => i64::from(v),
            Self::Int(v) => v,
            Self::Float(v) => v as i64,
            Self::Complex(v) => v.re as i64,
        }
    }

    /// Converts to a truth value: whether the number differs from zero.
    #[must_use]
    pub fn to_bool(self) -> bool {
        match self {
            Self::Bool(v) => v,
            Self::Int(v) => v != 0,
            Self::Float(v) => v != 0.0,
            Self::Complex(v) => v.re != 0.0 || v.im != 0.0,
        }
    }

    /// Converts to a complex number.
    #[must_use]
    pub fn to_complex(self) -> Complex<f64> {
        match self {
            Self::Complex(v) => v,
            other => Complex::new(other.to_f64(), 0.0),
        }
    }
}

macro_rules! from_number {
    ($variant:ident as $to:ty: $($from:ty)*) => {$(
        impl From<$from> for Scalar {
            fn from(value: $from) -> Self {
                Self::$variant(value as $to)
            }
        }
    )*};
}
from_number!(Bool as bool: bool);
from_number!(Int as i64: u8 i8 i16 i32 i64 u16 u32 usize isize);
from_number!(Float as f64: f32 f64);

impl From<f16> for Scalar {
    fn from(value: f16) -> Self {
        Self::Float(value.to_f64())
    }
}

impl From<bf16> for Scalar {
    fn from(value: bf16) -> Self {
        Self::Float(value.to_f64())
    }
}

impl From<Complex<f32>> for Scalar {
    fn from(value: Complex<f32>) -> Self {
        Self::Complex(Complex::new(f64::from(value.re), f64::from(value.im)))
    }
}

impl From<Complex<f64>> for Scalar {
    fn from(value: Complex<f64>) -> Self {
        Self::Complex(value)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(v) => write!(f, "{v}"),
            Self::Int(v) => write!(f, "{v}"),
            Self::Float(v) => write!(f, "{v}"),
            Self::Complex(v) => write!(f, "{v}"),
        }
    }
}
