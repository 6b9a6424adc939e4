//! Protobuf's wire format, read in place.
//!
//! A message is an iterator of fields that borrow from the file, so reading allocates nothing. The crate `onnx-rs` 0.1.3
//! overflows the stack on nested graphs and allocates 137 times a file of empty nodes; `prost` copies every field.

use nomina_core::Result;

use super::broken;

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub enum Wire<'a> {
    /// A number of 1 to 10 bytes.
    Varint(u64),
    /// Eight bytes.
    Fixed64([u8; 8]),
    /// Four bytes.
    Fixed32([u8; 4]),
    /// A string, a message or packed numbers.
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    /// Returns the integer of an `int64`, `int32` or `enum` field.
    pub fn int(self) -> Result<i64> {
        match self {
            Wire::Varint(value) => Ok(value as i64),
            _ => Err(broken("a field that is an integer has another wire type")),
        }
    }

    /// Returns the number of a `float` field.
    pub fn float(self) -> Result<f32> {
        match self {
            Wire::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => Err(broken("a field that is a float has another wire type")),
        }
    }

    /// Returns the bytes of a message, string or bytes field.
    pub fn bytes(self) -> Result<&'a [u8]> {
        match self {
            Wire::Bytes(bytes) => Ok(bytes),
            _ => Err(broken("a field with a length has another wire type")),
        }
    }

    /// Returns the text of a string field.
    pub fn text(self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| broken("a text is not UTF-8"))
    }
}

/// The fields of a message.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Reads the message in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn field(&mut self) -> Result<(u32, Wire<'a>)> {
        let tag = varint(&mut self.0)?;
        let number = u32::try_from(tag >> 3).map_err(|_| broken("a field number is too large"))?;
        let wire = match tag & 7 {
            0 => Wire::Varint(varint(&mut self.0)?),
            1 => Wire::Fixed64(take(&mut self.0)?),
            2 => {
                let length = varint(&mut self.0)?;
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                if length > self.0.len() {
                    return Err(broken("a field is longer than the file"));
                }
                let (bytes, rest) = self.0.split_at(length);
                self.0 = rest;
                Wire::Bytes(bytes)
            }
            5 => Wire::Fixed32(take(&mut self.0)?),
            _ => return Err(broken("a field has an unknown wire type")),
        };
        Ok((number, wire))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Wire<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

/// The integers of a repeated field, packed or not: one element of `wire`, or all of them.
pub fn ints(wire: Wire<'_>) -> impl Iterator<Item = Result<i64>> {
    let (one, mut packed) = match wire {
        Wire::Bytes(bytes) => (None, bytes),
        other => (Some(other.int()), &[][..]),
    };
    let rest = std::iter::from_fn(move || {
        if packed.is_empty() {
            return None;
        }
        let value = varint(&mut packed).map(|v| v as i64);
        if value.is_err() {
            packed = &[];
        }
        Some(value)
    });
    one.into_iter().chain(rest)
}

/// Takes the bytes of numbers that are `N` bytes each, packed or not.
pub fn fixed<'a, const N: usize>(wire: &'a Wire<'_>) -> Result<&'a [u8]> {
    let bytes = match wire {
        Wire::Bytes(bytes) => *bytes,
        Wire::Fixed32(bytes) => &bytes[..],
        Wire::Fixed64(bytes) => &bytes[..],
        Wire::Varint(_) => &[0],
    };
    if bytes.len().is_multiple_of(N) {
        Ok(bytes)
    } else {
        Err(broken("numbers are cut off"))
    }
}

fn varint(bytes: &mut &[u8]) -> Result<u64> {
    let mut value = 0u64;
    for shift in 0..10 {
        let Some((&byte, rest)) = bytes.split_first() else {
            return Err(broken("the file is cut off"));
        };
        *bytes = rest;
        value |= u64::from(byte & 0x7f).wrapping_shl(7 * shift);
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(broken("an integer has more than ten bytes"))
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let Some((head, rest)) = bytes.split_first_chunk::<N>() else {
        return Err(broken("the file is cut off"));
    };
    *bytes = rest;
    Ok(*head)
}
