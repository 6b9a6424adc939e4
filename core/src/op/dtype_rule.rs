//! Dtype rules: the dtypes an operator accepts, computes in and returns.

use crate::dtype::DType;

/// A set of dtypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DTypes(u16);

impl DTypes {
    /// All twelve dtypes.
    pub const ALL: Self = Self(0b1111_1111_1111);
    /// `bool`
    pub const BOOL: Self = Self(0b1);
    /// `u8` to `i64`
    pub const INTEGERS: Self = Self(0b11_1110);
    /// `f32` and `f64`: for operators that need more than 16 bits.
    pub const SINGLES: Self = Self(0b11_0000_0000);
    /// `f32`, `f64` and complex: the dtypes of linear algebra.
    pub const SOLVABLE: Self = Self(0b1111_0000_0000);
    /// `f16` to `f64`
    pub const FLOATS: Self = Self(0b11_1100_0000);
    /// `Complex<f32>` and `Complex<f64>`
    pub const COMPLEX: Self = Self(0b1100_0000_0000);
    /// All except complex.
    pub const REAL: Self = Self(0b11_1111_1111);
    /// All except bool.
    pub const NUMBERS: Self = Self(0b1111_1111_1110);
    /// Integers and bool.
    pub const INTEGRAL: Self = Self(0b11_1111);
    /// Floats and complex.
    pub const INEXACT: Self = Self(0b1111_1100_0000);
    /// All except bool and complex.
    pub const ORDERED: Self = Self(0b11_1111_1110);

    /// Returns whether `dtype` is in the set.
    #[must_use]
    #[inline]
    pub const fn contains(self, dtype: DType) -> bool {
        self.0 & (1 << dtype as u16) != 0
    }

    /// Returns the members, in the order of [`DType::ALL`].
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL
            .into_iter()
            .filter(move |&dtype| self.contains(dtype))
    }
}

/// The relation of the operands' common dtype to the dtype of computation and to that of the
/// result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DTypeRule {
    /// The common dtype.
    Same,
    /// The common dtype; integers and bool become the default float dtype.
    Float,
    /// Computed in the common dtype; the result is bool.
    Bool,
    /// The common dtype; for a complex one, the dtype of its parts.
    Real,
    /// Like [`DTypeRule::Float`]; for a complex dtype, the dtype of its parts.
    RealFloat,
    /// f64, or complex of f64.
    Double,
    /// Computed like [`DTypeRule::Float`]; the result is bool.
    FloatBool,
    /// Integers and bool become i64.
    Sum,
    /// Indices: i64.
    Index,
    /// The operands must have the same dtype, which is that of the result.
    NoPromotion,
    /// An argument determines it.
    Argument,
    /// The result is not a tensor.
    None,
}

impl DTypeRule {
    /// Returns the dtypes of computation and result for operands of the common dtype `common`.
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

/// The result of [`DTypeRule::resolve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The dtype operands are converted to, element by element, before the kernel computes.
    pub compute: DType,
    /// The dtype of the result.
    pub result: DType,
}
