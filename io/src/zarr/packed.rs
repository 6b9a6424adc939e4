//! Packed elements, by the conventions for climate data (CF): `_FillValue`, `missing_value`, `scale_factor`,
//! `add_offset`.
//!
//! A missing element is NaN; another one is its stored value times the factor plus the offset, computed in `f64`.

use std::collections::BTreeMap;

use nomina::{DType, Device, DynTensor, Error, ErrorKind, Names, Result, Scalar};
use nomina_runtime::{Raw, call};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::attributes::Attribute;
use super::errors::broken;

/// The attributes that define the packing. Other attributes are skipped.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Conventions<'a> {
    #[serde(borrow)]
    scale_factor: Option<&'a RawValue>,
    #[serde(borrow)]
    add_offset: Option<&'a RawValue>,
    #[serde(borrow, rename = "_FillValue")]
    fill_value: Option<&'a RawValue>,
    #[serde(borrow)]
    missing_value: Option<&'a RawValue>,
    #[serde(borrow, rename = "_Unsigned")]
    unsigned: Option<&'a RawValue>,
}

/// The packing of elements by the conventions for climate data (CF): the attributes `_FillValue`, `missing_value`,
/// `scale_factor`, `add_offset` and `_Unsigned`.
///
/// A missing element is NaN; another one is its stored value times the factor plus the offset, computed in `f64`.
#[derive(Clone, Debug, PartialEq)]
pub struct CfPacking {
    stored: DType,
    scale: f64,
    offset: f64,
    /// The stored values of missing elements; the first is used for writing.
    missing: Vec<Scalar>,
    /// Whether integers are unsigned, if that differs from the dtype.
    unsigned: Option<bool>,
}

/// The maximum bytes of one of these attributes.
const LONGEST: usize = 1 << 12;

impl CfPacking {
    /// Reads the packing of an array from its attributes. `None` if its elements are not packed.
    pub(super) fn read(op: &'static str, stored: DType, attributes: &str) -> Result<Option<Self>> {
        if attributes == "{}" || stored == DType::Bool || stored.is_complex() {
            return Ok(None);
        }
        // A list would be deserialized as the fields in order.
        if !attributes.starts_with('{') && attributes != "null" {
            return Err(broken(op, "attributes are not an object"));
        }
        let parsed = serde_json::from_str::<Option<Conventions<'_>>>(attributes);
        let parsed = parsed.map_err(|error| broken(op, error))?;
        let Conventions {
            scale_factor,
            add_offset,
            fill_value,
            missing_value,
            unsigned,
        } = parsed.unwrap_or_default();
        let value = |name: &str, text: Option<&RawValue>| match text.map(RawValue::get) {
            Some(text) if text.len() > LONGEST => {
                Err(broken(op, format_args!("`{name}` of {} bytes", text.len())))
            }
            Some(text) => Attribute::parse(op, text).map(|value| match value {
                Attribute::Null => None,
                value => Some(value),
            }),
            None => Ok(None),
        };
        let all = [
            ("scale_factor", scale_factor),
            ("add_offset", add_offset),
            ("_FillValue", fill_value),
            ("missing_value", missing_value),
            ("_Unsigned", unsigned),
        ];
        let mut found = BTreeMap::new();
        for (name, text) in all {
            if let Some(value) = value(name, text)? {
                found.insert(name.to_owned(), value);
            }
        }
        Self::from_attributes(op, stored, &found)
    }

    /// Returns the packing that attributes define, for elements that are stored in a dtype. `None` if they define none.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_io::zarr::{Attribute, CfPacking};
    /// let attributes = [("scale_factor".to_owned(), Attribute::Float(0.5))].into();
    /// let packing = CfPacking::from_attributes("open", DType::I16, &attributes)?.unwrap();
    /// let stored = DynTensor::from_vec(vec![0_i16, 3], &[2], ["N"])?;
    /// assert_eq!(packing.unpack(&stored, DType::F64)?.to_vec::<f64>()?, [0.0, 1.5]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Parse`] if an attribute is not of its type, or does not fit the dtype.
    pub fn from_attributes(
        op: &'static str,
        stored: DType,
        attributes: &BTreeMap<String, Attribute>,
    ) -> Result<Option<Self>> {
        if stored == DType::Bool || stored.is_complex() {
            return Ok(None);
        }
        let value = |name: &str| {
            attributes
                .get(name)
                .filter(|value| **value != Attribute::Null)
        };
        let number = |name: &str| match value(name) {
            None => Ok(None),
            Some(value) => match single(value).as_f64() {
                Some(number) => Ok(Some(number)),
                None => Err(broken(op, format_args!("`{name}` is no number"))),
            },
        };
        let (scale, offset) = (number("scale_factor")?, number("add_offset")?);
        let mut missing = Vec::new();
        for name in ["_FillValue", "missing_value"] {
            let list = match value(name) {
                None => continue,
                Some(Attribute::List(list)) => &list[..],
                Some(one) => std::slice::from_ref(one),
            };
            for one in list {
                match element(stored, one) {
                    Some(value) if is_stored(stored, value) => missing.push(value),
                    Some(_) => {}
                    None => {
                        let what = format!("`{name}` does not fit {stored}");
                        return Err(broken(op, what));
                    }
                }
            }
        }
        let unsigned = match value("_Unsigned") {
            Some(value) if !stored.is_float() => match value.as_str() {
                Some("true") => Some(true),
                Some("false") => Some(false),
                _ => return Err(broken(op, "`_Unsigned` is neither \"true\" nor \"false\"")),
            },
            _ => None,
        };
        let is_packed =
            scale.is_some() || offset.is_some() || !missing.is_empty() || unsigned.is_some();
        Ok(is_packed.then(|| Self {
            stored,
            scale: scale.unwrap_or(1.0),
            offset: offset.unwrap_or(0.0),
            missing,
            unsigned,
        }))
    }

    /// Returns the dtype of unpacked elements: `asked`, or without it the stored one if that is a float, otherwise `f64`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::DType`] if `asked` is no float.
    pub fn dtype(&self, op: &'static str, asked: Option<DType>) -> Result<DType> {
        match asked {
            Some(dtype) if dtype.is_float() => Ok(dtype),
            Some(dtype) => {
                let what = format!(
                    "elements of {dtype}, but the file's are packed in {} by the attributes `_FillValue`, \
                     `scale_factor` or `add_offset`, and are floats",
                    self.stored
                );
                Err(Error::new(ErrorKind::DType, op, what).hint(
                    "open it as `f32` or `f64`, or the elements as they are stored by `open_stored`",
                ))
            }
            None if self.stored.is_float() => Ok(self.stored),
            None => Ok(DType::F64),
        }
    }

    /// Unpacks elements to a float dtype; names are kept.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Memory`] if memory is missing.
    pub fn unpack(&self, stored: &DynTensor, dtype: DType) -> Result<DynTensor> {
        let (raw, names) = stored.clone().into_parts();
        DynTensor::from_parts(self.decode(raw, dtype)?, names)
    }

    /// Packs elements in the stored dtype; names are kept.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if one of them cannot be stored.
    pub fn pack(&self, values: &DynTensor) -> Result<DynTensor> {
        let (raw, names) = values.clone().into_parts();
        DynTensor::from_parts(self.encode("pack", &raw)?, names)
    }

    /// Unpacks elements.
    pub(super) fn decode(&self, stored: Raw, dtype: DType) -> Result<Raw> {
        let names = Names::unnamed(stored.rank());
        let stored = DynTensor::from_parts(stored, names)?;
        let mut x = stored.to_dtype(DType::F64)?;
        if let Some(by) = self.turn() {
            let turned = match self.unsigned {
                Some(true) => x.lt(0)?,
                _ => x.ge(by / 2.0)?,
            };
            let by = if self.unsigned == Some(true) { by } else { -by };
            x = turned.where_cond(&x.add(by)?, &x)?;
        }
        if self.scale != 1.0 {
            x = x.mul(self.scale)?;
        }
        if self.offset != 0.0 {
            x = x.add(self.offset)?;
        }
        for &value in &self.missing {
            let value = call::full(&[], value, self.stored, Device::Cpu)?;
            let value = DynTensor::from_parts(value, Names::unnamed(0))?;
            x = x.masked_fill(&stored.eq(&value)?, f64::NAN)?;
        }
        Ok(x.to_dtype(dtype)?.into_parts().0)
    }

    /// Packs elements.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if one of them cannot be stored.
    pub(super) fn encode(&self, op: &'static str, values: &Raw) -> Result<Raw> {
        let shape = values.shape();
        let all = values.try_scalars()?.map(|value| value.to_complex().re);
        let names = Names::unnamed(shape.len());
        let packed = if self.stored.is_float() {
            let missing = self.missing.first().map(|value| value.to_complex().re);
            let pack = |value: f64| match missing {
                Some(missing) if value.is_nan() => missing,
                _ => (value - self.offset) / self.scale,
            };
            DynTensor::from_vec(all.map(pack).collect::<Vec<f64>>(), shape, names)?
        } else {
            let pack = |(at, value)| self.integer(op, at, value);
            let all = all.enumerate().map(pack).collect::<Result<Vec<i64>>>()?;
            DynTensor::from_vec(all, shape, names)?
        };
        Ok(packed.to_dtype(self.stored)?.into_parts().0)
    }

    fn integer(&self, op: &'static str, at: usize, value: f64) -> Result<i64> {
        let refused = |what: &str| {
            let what = format!("element {at}, {value}, {what}");
            Err(Error::new(ErrorKind::Argument, op, what))
        };
        if value.is_nan() {
            return match self.missing.first() {
                Some(Scalar::Int(missing)) => Ok(*missing),
                _ => refused("and the array has no missing value"),
            };
        }
        let packed = ((value - self.offset) / self.scale).round_ties_even();
        let (least, most) = range(self.stored);
        let (least, most, by) = match (self.turn(), self.unsigned) {
            (Some(by), Some(true)) => (0, most * 2 + 1, by as i128),
            (Some(by), _) => (-most / 2 - 1, most / 2, -by as i128),
            (None, _) => (least, most, 0),
        };
        // The cast saturates, so values out of range stay out of range.
        let mut packed = packed as i128;
        if packed < least || packed > most {
            return refused(&format!("does not fit elements of {}", self.stored));
        }
        if !is_within(packed, range(self.stored)) {
            packed -= by;
        }
        match packed as i64 {
            packed if self.missing.contains(&Scalar::Int(packed)) => {
                refused("would become a missing element")
            }
            packed => Ok(packed),
        }
    }

    /// Returns the number of values of the stored dtype if `_Unsigned` contradicts the dtype's sign.
    fn turn(&self) -> Option<f64> {
        let has_sign = self.stored != DType::U8;
        let bits = 8 * self.stored.size() as i32;
        (self.unsigned == Some(has_sign)).then(|| 2_f64.powi(bits))
    }
}

fn is_within(value: i128, (least, most): (i128, i128)) -> bool {
    (least..=most).contains(&value)
}

/// Returns the least and the greatest integer of a dtype.
fn range(dtype: DType) -> (i128, i128) {
    match (dtype, 8 * dtype.size()) {
        (DType::U8, _) => (0, 255),
        (_, bits) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    }
}

/// Returns whether a stored element can have this value. NaN is excluded, since it needs no replacement.
fn is_stored(dtype: DType, value: Scalar) -> bool {
    match value {
        Scalar::Int(value) => is_within(value.into(), range(dtype)),
        Scalar::Float(value) => !value.is_nan(),
        _ => false,
    }
}

/// Returns the only item of a list of one, or the value itself.
fn single(value: &Attribute) -> &Attribute {
    match value {
        Attribute::List(list) if list.len() == 1 => &list[0],
        value => value,
    }
}

/// Parses an element in an attribute: a number; for floats also a name such as "NaN", or base64 bytes as xarray writes.
fn element(dtype: DType, value: &Attribute) -> Option<Scalar> {
    if dtype.is_float() {
        let value = match value {
            Attribute::Text(text) => match &text[..] {
                "NaN" => f64::NAN,
                "Infinity" => f64::INFINITY,
                "-Infinity" => f64::NEG_INFINITY,
                text => f64::from_le_bytes(base64(text)?.try_into().ok()?),
            },
            value => value.as_f64()?,
        };
        return Some(Scalar::Float(value));
    }
    match value {
        Attribute::Int(value) => Some(Scalar::Int(*value)),
        Attribute::Float(value) if value.trunc() == *value => Some(Scalar::Int(*value as i64)),
        _ => None,
    }
}

/// Decodes a short base64 text.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in digits.bytes() {
        let digit = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(digit)) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_their_digits() {
        assert_eq!(base64("AAAAAAAA+H8=").unwrap(), f64::NAN.to_le_bytes());
        assert_eq!(base64("bm9t").unwrap(), b"nom");
        assert_eq!(base64("bm8=").unwrap(), b"no");
        assert_eq!(base64("b?"), None);
    }
}
