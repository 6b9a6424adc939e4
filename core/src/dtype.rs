//! The 12 dtypes and their promotion, by value.

use core::fmt;
use core::str::FromStr;

use crate::error::{Error, ErrorKind, Result};
use crate::scalar::Scalar;

/// The kind of number a dtype holds, in order of promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// `bool`
    Bool,
    /// `u8` to `i64`
    Integer,
    /// `f16` to `f64`
    Float,
    /// `Complex<f32>` and `Complex<f64>`
    Complex,
}

/// The dtype of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DType {
    /// Truth values, one byte each.
    Bool,
    /// Unsigned 8-bit integers.
    U8,
    /// Signed 8-bit integers.
    I8,
    /// Signed 16-bit integers.
    I16,
    /// Signed 32-bit integers.
    I32,
    /// Signed 64-bit integers.
    I64,
    /// IEEE half precision.
    F16,
    /// The upper half of an `f32`.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// A pair of `f32`.
    C64,
    /// A pair of `f64`.
    C128,
}

impl DType {
    /// All dtypes, in the order of the enum.
    pub const ALL: [Self; 12] = [
        Self::Bool,
        Self::U8,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
        Self::C64,
        Self::C128,
    ];

    /// Returns the size of an element in bytes.
    #[must_use]
    #[inline]
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::I16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 | Self::C64 => 8,
            Self::C128 => 16,
        }
    }

    /// Returns the kind of number this dtype holds.
    #[must_use]
    #[inline]
    pub const fn category(self) -> Category {
        match self {
            Self::Bool => Category::Bool,
            Self::U8 | Self::I8 | Self::I16 | Self::I32 | Self::I64 => Category::Integer,
            Self::F16 | Self::BF16 | Self::F32 | Self::F64 => Category::Float,
            Self::C64 | Self::C128 => Category::Complex,
        }
    }

    /// Returns whether this is a real floating-point dtype.
    #[must_use]
    #[inline]
    pub const fn is_float(self) -> bool {
        matches!(self.category(), Category::Float)
    }

    /// Returns whether this is a complex dtype.
    #[must_use]
    #[inline]
    pub const fn is_complex(self) -> bool {
        matches!(self.category(), Category::Complex)
    }

    /// Returns whether this is an integer dtype or `bool`.
    #[must_use]
    #[inline]
    pub const fn is_integral(self) -> bool {
        matches!(self.category(), Category::Bool | Category::Integer)
    }

    /// Returns whether this dtype holds negative numbers.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        !matches!(self, Self::Bool | Self::U8)
    }

    /// Returns PyTorch's spelling.
    #[must_use]
    pub const fn torch_name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "uint8",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::F16 => "float16",
            Self::BF16 => "bfloat16",
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::C64 => "complex64",
            Self::C128 => "complex128",
        }
    }

    /// Returns the dtype of the real and imaginary parts; `self` if it is real.
    #[must_use]
    pub const fn to_real(self) -> Self {
        match self {
            Self::C64 => Self::F32,
            Self::C128 => Self::F64,
            other => other,
        }
    }

    /// Returns the complex dtype whose parts hold this one: `Complex<f64>` for `f64`,
    /// `Complex<f32>` for the other real dtypes.
    #[must_use]
    pub const fn to_complex(self) -> Self {
        match self {
            Self::F64 | Self::C128 => Self::C128,
            _ => Self::C64,
        }
    }

    /// Returns the dtype of a unary float function's result: `self` for floats and complex dtypes,
    /// `default` for integers and bool.
    #[must_use]
    pub const fn to_float(self, default: Self) -> Self {
        if self.is_integral() { default } else { self }
    }

    /// Returns the smallest dtype that holds both, as for two tensors that have dims.
    ///
    /// ```
    /// use nomina_core::DType::{BF16, F16, F32, I16, I8, U8};
    /// assert_eq!(F16.promote(BF16), F32);
    /// assert_eq!(U8.promote(I8), I16);
    /// ```
    #[must_use]
    pub const fn promote(self, other: Self) -> Self {
        let (low, high) = if (self as u8) <= (other as u8) {
            (self, other)
        } else {
            (other, self)
        };
        match (low, high) {
            (Self::U8, Self::I8) => Self::I16,
            (Self::F16, Self::BF16) => Self::F32,
            (Self::F64, Self::C64) => Self::C128,
            _ => high,
        }
    }

    /// Returns whether a computed result of dtype `self` may be stored as `to`, in place or as
    /// `out`. The category may not decrease, but floats may narrow.
    #[must_use]
    pub fn can_cast(self, to: Self) -> bool {
        match (self.category(), to.category()) {
            (Category::Complex, to) => to == Category::Complex,
            (Category::Float, to) => to >= Category::Float,
            (Category::Integer, to) => to >= Category::Integer,
            (Category::Bool, _) => true,
        }
    }
}

/// Prints Rust's spelling: `f32`, `Complex<f64>`.
impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::C64 => "Complex<f32>",
            Self::C128 => "Complex<f64>",
        })
    }
}

/// Parses Rust's or PyTorch's spelling.
impl FromStr for DType {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        use alloc::string::ToString;
        Self::ALL
            .into_iter()
            .find(|dtype| dtype.torch_name() == text || dtype.to_string() == text)
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Parse,
                    "dtype",
                    alloc::format!("{text:?} is not a dtype"),
                )
                .hint("write it as `f32` or `float32`")
            })
    }
}

/// Collects the operands of an operator and computes their common dtype, like PyTorch's
/// `result_type`: from the tensors with dims; then from zero-dim tensors, if their category is
/// higher; then from scalars, likewise.
///
/// ```
/// use nomina_core::{DType, Promoter, Scalar};
/// let mut p = Promoter::new(DType::F32);
/// p.tensor(DType::I32, 2);
/// p.scalar(Scalar::Float(0.5));
/// assert_eq!(p.result(), DType::F32);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Promoter {
    default: DType,
    dimensioned: Option<DType>,
    zero_dim: Option<DType>,
    scalar: Option<DType>,
}

impl Promoter {
    /// Creates an empty collection; `default` is the dtype of float scalars.
    #[must_use]
    pub const fn new(default: DType) -> Self {
        Self {
            default,
            dimensioned: None,
            zero_dim: None,
            scalar: None,
        }
    }

    /// Adds a tensor operand.
    pub fn tensor(&mut self, dtype: DType, rank: usize) {
        let slot = if rank == 0 {
            &mut self.zero_dim
        } else {
            &mut self.dimensioned
        };
        *slot = Some(slot.map_or(dtype, |other| other.promote(dtype)));
    }

    /// Adds a number.
    pub fn scalar(&mut self, value: Scalar) {
        let dtype = value.dtype(self.default);
        self.scalar = Some(self.scalar.map_or(dtype, |other| other.promote(dtype)));
    }

    /// Returns the common dtype.
    #[must_use]
    pub fn result(self) -> DType {
        let step = |below: Option<DType>, above: Option<DType>| match (below, above) {
            (Some(below), Some(above)) if above.category() > below.category() => {
                Some(lift(below, above))
            }
            (below, above) => below.or(above),
        };
        let tensors = step(self.dimensioned, self.zero_dim);
        step(tensors, self.scalar).unwrap_or(self.default)
    }
}

/// Combines two dtypes, where `above` has the higher category. A float combined with a complex
/// dtype of lower precision keeps its precision.
fn lift(below: DType, above: DType) -> DType {
    if above.is_complex() && below.is_float() {
        below.to_complex()
    } else {
        above
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn both_spellings_read_back() {
        for dtype in DType::ALL {
            assert_eq!(dtype.to_string().parse(), Ok(dtype));
            assert_eq!(dtype.torch_name().parse(), Ok(dtype));
        }
        let error = "f8".parse::<DType>().expect_err("no dtype");
        assert_eq!(error.kind(), ErrorKind::Parse);
    }

    #[test]
    fn complex_parts() {
        for dtype in DType::ALL {
            assert!(dtype.to_complex().to_real().is_float());
            assert_eq!(dtype.is_complex(), dtype.to_real() != dtype);
            assert_eq!(
                dtype.is_complex(),
                dtype.size() == 2 * dtype.to_real().size()
            );
        }
        assert_eq!(
            (DType::F16.to_complex(), DType::F64.to_complex()),
            (DType::C64, DType::C128)
        );
    }

    #[test]
    fn a_result_does_not_fall_in_category() {
        for from in DType::ALL {
            for to in DType::ALL {
                // Information can be lost only by a cast to bool, to an integer or to a real dtype.
                assert_eq!(
                    from.can_cast(to),
                    from.category() <= to.category(),
                    "{from} to {to}"
                );
            }
        }
    }

    #[test]
    fn numbers_give_way_to_tensors_of_their_category() {
        let common = |tensors: &[(DType, usize)], number: Option<Scalar>| {
            let mut promoter = Promoter::new(DType::F32);
            tensors
                .iter()
                .for_each(|&(dtype, rank)| promoter.tensor(dtype, rank));
            number
                .into_iter()
                .for_each(|number| promoter.scalar(number));
            promoter.result()
        };
        assert_eq!(common(&[(DType::I8, 1), (DType::I64, 0)], None), DType::I8);
        assert_eq!(common(&[(DType::I8, 1), (DType::F64, 0)], None), DType::F64);
        assert_eq!(
            common(&[(DType::F16, 2)], Some(Scalar::Float(0.5))),
            DType::F16
        );
        assert_eq!(
            common(&[(DType::U8, 2)], Some(Scalar::Float(0.5))),
            DType::F32
        );
        assert_eq!(
            common(&[(DType::Bool, 0)], Some(Scalar::Int(1))),
            DType::I64
        );
        assert_eq!(common(&[], Some(Scalar::Int(1))), DType::I64);
        assert_eq!(common(&[], None), DType::F32);
    }
}
