//! Elements in the JSON of metadata.

use nomina::{DType, Device, Scalar};
use nomina_runtime::call;
use serde_json::value::RawValue;

/// The representation of texts in chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextCodec {
    /// The number of texts, and each with its length, by `vlen-utf8`.
    Variable,
    /// Code points of 32 bits, up to this many bytes.
    Utf32(usize),
    /// Bytes, up to this many.
    Bytes(usize),
}

impl TextCodec {
    /// Returns the bytes of an element: 1 if they vary.
    pub(super) const fn size(self) -> usize {
        match self {
            Self::Variable => 1,
            Self::Utf32(bytes) | Self::Bytes(bytes) => bytes,
        }
    }
}

/// Parses an element, and returns its bytes.
pub(super) fn parse_element(dtype: DType, text: &str) -> Option<Vec<u8>> {
    if dtype.is_complex() {
        let [re, im] = serde_json::from_str::<[&RawValue; 2]>(text).ok()?;
        let part = |text: &RawValue| parse_element(dtype.to_real(), text.get());
        return Some([part(re)?, part(im)?].concat());
    }
    let value = if dtype == DType::Bool {
        Scalar::Bool(serde_json::from_str(text).ok()?)
    } else if !dtype.is_float() {
        Scalar::Int(serde_json::from_str(text).ok()?)
    } else if let Ok(word) = serde_json::from_str::<String>(text) {
        Scalar::Float(match &word[..] {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => return parse_bits(dtype, word.strip_prefix("0x")?),
        })
    } else {
        Scalar::Float(serde_json::from_str(text).ok()?)
    };
    let element = call::full(&[], value, dtype, Device::Cpu).ok()?;
    // Integers that do not fit would wrap, and are refused.
    let fits = !matches!(value, Scalar::Int(_)) || element.item().ok()? == value;
    element.as_bytes().filter(|_| fits).map(<[u8]>::to_vec)
}

/// Parses an unsigned integer with the size of a dtype, and returns its bytes.
pub(super) fn parse_unsigned(dtype: DType, text: &str) -> Option<Vec<u8>> {
    let bytes = serde_json::from_str::<u64>(text).ok()?.to_le_bytes();
    let (element, rest) = bytes.split_at(dtype.size());
    rest.iter().all(|&byte| byte == 0).then(|| element.to_vec())
}

/// Parses the bits of an element, the highest first.
fn parse_bits(dtype: DType, digits: &str) -> Option<Vec<u8>> {
    let bits = u64::from_str_radix(digits, 16).ok()?;
    (digits.len() == 2 * dtype.size()).then(|| bits.to_le_bytes()[..dtype.size()].to_vec())
}
