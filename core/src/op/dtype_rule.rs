//! How dtypes go through an operator.

use alloc::format;

use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};

/// A set of dtypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DTypes(u16);

impl DTypes {
    /// All twelve.
    pub const ALL: Self = Self(0b1111_1111_1111);
    /// `bool`
    pub const BOOL: Self = Self(0b1);
    /// `u8` to `i64`
    pub const INTEGERS: Self = Self(0b11_1110);
    /// `f32` and `f64`: for what 16 bits are too few.
    pub const SINGLES: Self = Self(0b11_0000_0000);
    /// `f32`, `f64` and complex: what matrices are decomposed in.
    pub const SOLVABLE: Self = Self(0b1111_0000_0000);
    /// `f16` to `f64`
    pub const FLOATS: Self = Self(0b11_1100_0000);
    /// `Complex<f32>` and `Complex<f64>`
    pub const COMPLEX: Self = Self(0b1100_0000_0000);
    /// All but complex.
    pub const REAL: Self = Self(0b11_1111_1111);
    /// All but bool.
    pub const NUMBERS: Self = Self(0b1111_1111_1110);
    /// Integers and bool.
    pub const INTEGRAL: Self = Self(0b11_1111);
    /// Floats and complex.
    pub const INEXACT: Self = Self(0b1111_1100_0000);
    /// All but bool and complex.
    pub const ORDERED: Self = Self(0b11_1111_1110);

    /// Whether `dtype` is among them.
    #[must_use]
    #[inline]
    pub const fn contains(self, dtype: DType) -> bool {
        self.0 & (1 << dtype as u16) != 0
    }

    /// The members, in the order of [`DType::ALL`].
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL
            .into_iter()
            .filter(move |&dtype| self.contains(dtype))
    }
}

/// How the dtype of the result follows from the operands' common dtype, and in which dtype is
/// computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DTypeRule {
    /// The common dtype.
    Same,
    /// The common dtype; integers and bool become the default float dtype.
    Float,
    /// Computed in the common dtype; the result is bool.
    Bool,
    /// The common dtype; a complex one becomes its parts'.
    Real,
    /// The parts' dtype of [`DTypeRule::Float`]'s.
    RealFloat,
    /// f64, or complex of f64.
    Double,
    /// Computed as [`DTypeRule::Float`]; the result is bool.
    FloatBool,
    /// Integers and bool become i64.
    Sum,
    /// Indices: i64.
    Index,
    /// The operands must have one dtype, which the result has.
    NoPromotion,
    /// An argument says it.
    Argument,
    /// No tensor comes out.
    None,
}

impl DTypeRule {
    /// The dtypes to compute in and of the result, for operands of the common dtype `common`.
    #[must_use]
    pub fn resolve(self, common: DType, default: DType) -> Resolved {
        let (compute, result) = match self {
            Self::Same | Self::NoPromotion | Self::Argument | Self::None => (common, common),
            Self::Float => (common.to_float(default), common.to_float(default)),
            Self::Bool => (common, DType::Bool),
            Self::Real => (common, common.to_real()),
            Self::RealFloat => {
                let float = common.to_float(default);
                (float, float.to_real())
            }
            Self::Double if common.is_complex() => (DType::C128, DType::C128),
            Self::Double => (DType::F64, DType::F64),
            Self::FloatBool => (common.to_float(default), DType::Bool),
            Self::Sum if common.is_integral() => (DType::I64, DType::I64),
            Self::Sum => (common, common),
            Self::Index => (common, DType::I64),
        };
        Resolved { compute, result }
    }
}

/// What [`DTypeRule::resolve`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The dtype operands are converted to, element by element, before the kernel computes.
    pub compute: DType,
    /// The dtype of the result.
    pub result: DType,
}

impl super::Row {
    /// Refuses a dtype that the operator does not take.
    ///
    /// # Errors
    /// [`ErrorKind::DType`], with the dtypes it takes.
    pub fn check_dtype(&self, dtype: DType) -> Result<()> {
        if self.dtypes.contains(dtype) {
            return Ok(());
        }
        let takes = self.dtypes.iter().map(|dtype| format!("{dtype}"));
        let takes = takes.collect::<alloc::vec::Vec<_>>().join(", ");
        let what = format!("a tensor of {dtype} is not taken");
        Err(Error::new(ErrorKind::DType, self.name, what)
            .hint(format!("convert it first with `to`; taken are {takes}")))
    }
}
