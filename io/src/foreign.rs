//! Dtypes of files that no tensor here has, and their conversion.

use std::fmt;

use nomina::{DType, Error, ErrorKind, Result, bf16, f16};
use nomina_runtime::Raw;

/// A dtype that occurs in files but that no tensor here has. Its elements are read as another dtype on request, as by
/// [`SafeTensors::read_as`](crate::safetensors::SafeTensors::read_as).
///
/// | dtype | exactly representable in |
/// |---|---|
/// | `F8E4M3`, `F8E5M2` | `f16`, `bf16`, `f32`, `f64` |
/// | `U16` | `i32`, `i64`, `f32`, `f64` |
/// | `U32` | `i64`, `f64` |
/// | `U64` | none |
///
/// A number outside the range of the integer dtype is an error; floats are rounded to the nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ForeignDType {
    /// 8-bit floats with 4 bits of exponent and 3 of mantissa, without infinities: `torch.float8_e4m3fn`.
    F8E4M3,
    /// 8-bit floats with 5 bits of exponent and 2 of mantissa: `torch.float8_e5m2`.
    F8E5M2,
    /// Unsigned 16-bit integers.
    U16,
    /// Unsigned 32-bit integers.
    U32,
    /// Unsigned 64-bit integers.
    U64,
}

impl fmt::Display for ForeignDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The dtype of the elements in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elements {
    /// A dtype of tensors.
    Own(DType),
    /// A dtype that tensors lack.
    Foreign(ForeignDType),
}

impl Elements {
    /// Returns the dtype in which a file is mapped: for a foreign one, a dtype of the same size.
    pub(crate) fn mapped(self) -> DType {
        match self {
            Self::Own(dtype) => dtype,
            Self::Foreign(ForeignDType::F8E4M3 | ForeignDType::F8E5M2) => DType::U8,
            Self::Foreign(ForeignDType::U16) => DType::I16,
            Self::Foreign(ForeignDType::U32) => DType::I32,
            Self::Foreign(ForeignDType::U64) => DType::I64,
        }
    }
}

impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(dtype) => dtype.fmt(f),
            Self::Foreign(dtype) => dtype.fmt(f),
        }
    }
}

/// The dtypes that foreign elements are read as.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadAs(Vec<(ForeignDType, DType)>);

impl ReadAs {
    /// States the dtype of foreign elements; the last statement counts.
    pub(crate) fn set(&mut self, from: ForeignDType, to: DType) {
        self.0.retain(|pair| pair.0 != from);
        self.0.push((from, to));
    }

    /// Converts a tensor that is mapped in the dtype of [`Elements::mapped`] to the stated one.
    pub(crate) fn convert(&self, op: &'static str, elements: Elements, raw: Raw) -> Result<Raw> {
        let Elements::Foreign(from) = elements else {
            return Ok(raw);
        };
        let Some(&(_, to)) = self.0.iter().find(|pair| pair.0 == from) else {
            let what = format!("elements of {from} are not supported");
            return Err(Error::new(ErrorKind::DType, op, what)
                .operand(&nomina::Names::unnamed(raw.rank()), raw.shape())
                .hint(format!(
                    "read them as another dtype: `.read_as(ForeignDType::{from}, DType::{:?})`",
                    from.fitting()
                )));
        };
        let shape = raw.shape().to_vec();
        let raw = nomina_runtime::call::contiguous(&raw)?;
        let bytes = raw.as_bytes().unwrap_or_default();
        from.decode(op, bytes, &shape, to)
    }
}

impl ForeignDType {
    /// Returns a dtype that errors suggest: the smallest one that holds every element, if there is one.
    pub(crate) fn fitting(self) -> DType {
        match self {
            Self::F8E4M3 | Self::F8E5M2 => DType::BF16,
            Self::U16 => DType::I32,
            Self::U32 | Self::U64 => DType::I64,
        }
    }

    fn decode(self, op: &'static str, bytes: &[u8], shape: &[usize], to: DType) -> Result<Raw> {
        match self {
            Self::F8E4M3 => floats(op, bytes.iter().map(|&bits| e4m3(bits)), shape, to),
            Self::F8E5M2 => floats(op, bytes.iter().map(|&bits| e5m2(bits)), shape, to),
            Self::U16 => integers::<2>(op, bytes, shape, to),
            Self::U32 => integers::<4>(op, bytes, shape, to),
            Self::U64 => integers::<8>(op, bytes, shape, to),
        }
    }
}

/// Returns the value of a float of 4 bits of exponent and 3 of mantissa, which has no infinities.
fn e4m3(bits: u8) -> f64 {
    let (sign, exponent, mantissa) = (bits >> 7, (bits >> 3) & 15, bits & 7);
    if bits & 0x7f == 0x7f {
        return f64::NAN.copysign(if sign == 1 { -1.0 } else { 1.0 });
    }
    float8(sign, i32::from(exponent), f64::from(mantissa) / 8.0, 7)
}

/// Returns the value of a float of 5 bits of exponent and 2 of mantissa: the upper half of an `f16`.
fn e5m2(bits: u8) -> f64 {
    f16::from_bits(u16::from(bits) << 8).to_f64()
}

fn float8(sign: u8, exponent: i32, fraction: f64, bias: i32) -> f64 {
    let value = if exponent == 0 {
        fraction * f64::from(1 - bias).exp2()
    } else {
        (1.0 + fraction) * f64::from(exponent - bias).exp2()
    };
    if sign == 1 { -value } else { value }
}

/// Collects elements without aborting if there is no memory.
fn collect<T: nomina::Element>(
    op: &'static str,
    shape: &[usize],
    elements: impl ExactSizeIterator<Item = Result<T>>,
) -> Result<Raw> {
    let mut all = Vec::new();
    all.try_reserve_exact(elements.len()).map_err(|_| {
        let what = format!("no memory for {} elements of {}", elements.len(), T::DTYPE);
        Error::new(ErrorKind::Memory, op, what)
    })?;
    for element in elements {
        all.push(element?);
    }
    Raw::from_vec(all, shape)
}

fn floats(
    op: &'static str,
    values: impl ExactSizeIterator<Item = f64>,
    shape: &[usize],
    to: DType,
) -> Result<Raw> {
    match to {
        DType::F16 => collect(op, shape, values.map(|value| Ok(f16::from_f64(value)))),
        DType::BF16 => collect(op, shape, values.map(|value| Ok(bf16::from_f64(value)))),
        DType::F32 => collect(op, shape, values.map(|value| Ok(value as f32))),
        DType::F64 => collect(op, shape, values.map(Ok)),
        _ => {
            let what = format!("floats of 8 bits cannot be read as {to}");
            Err(Error::new(ErrorKind::DType, op, what).hint("read them as a float dtype"))
        }
    }
}

fn integers<const SIZE: usize>(
    op: &'static str,
    bytes: &[u8],
    shape: &[usize],
    to: DType,
) -> Result<Raw> {
    let values = bytes.chunks_exact(SIZE).map(|bytes| {
        let mut wide = [0; 8];
        wide[..SIZE].copy_from_slice(bytes);
        u64::from_le_bytes(wide)
    });
    let outside = |value: u64| {
        let what = format!("{value} is outside the range of {to}");
        Error::new(ErrorKind::DType, op, what).hint("read them as a wider dtype")
    };
    match to {
        DType::I16 => collect(
            op,
            shape,
            values.map(|value| i16::try_from(value).map_err(|_| outside(value))),
        ),
        DType::I32 => collect(
            op,
            shape,
            values.map(|value| i32::try_from(value).map_err(|_| outside(value))),
        ),
        DType::I64 => collect(
            op,
            shape,
            values.map(|value| i64::try_from(value).map_err(|_| outside(value))),
        ),
        DType::F32 => collect(op, shape, values.map(|value| Ok(value as f32))),
        DType::F64 => collect(op, shape, values.map(|value| Ok(value as f64))),
        _ => {
            let what = format!("unsigned integers cannot be read as {to}");
            Err(Error::new(ErrorKind::DType, op, what).hint("read them as i32, i64, f32 or f64"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_of_eight_bits() {
        // The ends of both formats, from the OCP specification of 8-bit floats.
        assert_eq!(e4m3(0b0111_1110), 448.0);
        assert_eq!(e4m3(0b0000_1000), 2f64.powi(-6));
        assert_eq!(e4m3(0b1000_0001), -(2f64.powi(-9)));
        assert_eq!(e4m3(0b0011_1000), 1.0);
        assert!(e4m3(0x7f).is_nan() && e4m3(0xff).is_nan());
        assert!(e4m3(0x80) == 0.0 && e4m3(0x80).is_sign_negative());
        assert_eq!(e5m2(0b0111_1011), 57344.0);
        assert_eq!(e5m2(0b0000_0001), 2f64.powi(-16));
        assert_eq!(e5m2(0b1111_1100), f64::NEG_INFINITY);
        assert!(e5m2(0b0111_1101).is_nan());
        // Every number is exact in the suggested dtype.
        for bits in 0..=255 {
            for value in [e4m3(bits), e5m2(bits)] {
                assert!(value.is_nan() || bf16::from_f64(value).to_f64() == value);
                assert!(value.is_nan() || f16::from_f64(value).to_f64() == value);
            }
        }
    }
}
