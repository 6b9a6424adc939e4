//! The header: the tensors' dtypes, sizes and offsets, and the metadata.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;

use nomina::{DType, Error, ErrorKind, Name, Names, Result};
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::DIMS;
use crate::foreign::{Elements, ForeignDType};
use crate::json::{AtMost, MOST_DIMS};
use nomina_runtime::file::failed;

/// The maximum bytes of a header, set by the format.
const MAX_HEADER: u64 = 100_000_000;

/// The dtypes that both sides have. The format lacks complex numbers of two `f64`.
const DTYPES: [(DType, Dtype); 11] = [
    (DType::Bool, Dtype::BOOL),
    (DType::U8, Dtype::U8),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::I32, Dtype::I32),
    (DType::I64, Dtype::I64),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
    (DType::C64, Dtype::C64),
];

/// Returns the format's dtype of our elements.
pub(super) fn to_file(op: &'static str, dtype: DType) -> Result<Dtype> {
    let found = DTYPES.iter().find(|pair| pair.0 == dtype);
    found.map(|pair| pair.1).ok_or_else(|| {
        let what = format!("safetensors files have no elements of {dtype}");
        Error::new(ErrorKind::DType, op, what).hint("save `view_as_real`, or convert it with `to`")
    })
}

/// The format's dtypes that tensors lack.
const FOREIGN: [(ForeignDType, Dtype); 5] = [
    (ForeignDType::F8E4M3, Dtype::F8_E4M3),
    (ForeignDType::F8E5M2, Dtype::F8_E5M2),
    (ForeignDType::U16, Dtype::U16),
    (ForeignDType::U32, Dtype::U32),
    (ForeignDType::U64, Dtype::U64),
];

/// Returns the elements of the format's dtype, if they are known.
pub(super) fn from_file(dtype: Dtype) -> Option<Elements> {
    let own = DTYPES.iter().find(|pair| pair.1 == dtype);
    let foreign = FOREIGN.iter().find(|pair| pair.1 == dtype);
    own.map(|pair| Elements::Own(pair.0))
        .or(foreign.map(|pair| Elements::Foreign(pair.0)))
}

/// A parsed header.
pub(super) struct SafetensorsHeader {
    /// The tensors in the order of their offsets, validated: no gaps, no overlaps, no sizes that overflow.
    pub(super) tensors: Vec<(String, TensorInfo)>,
    pub(super) metadata: BTreeMap<String, String>,
    /// The dim names of the tensors that have some, validated.
    pub(super) dims: BTreeMap<String, Vec<Option<String>>>,
    /// The offset of the elements from the start of the file.
    pub(super) start: usize,
}

#[cold]
fn broken(op: &'static str, what: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Parse, op, what.to_string())
}

/// Reads a header. The memory used depends on the length of the file, not on the lengths stored in it.
pub(super) fn read(op: &'static str, mut file: &File) -> Result<SafetensorsHeader> {
    let io = |error: std::io::Error| failed(op, &error);
    let len = file.metadata().map_err(io)?.len();
    let Some(room) = len.checked_sub(8) else {
        let what = format!("{len} bytes are not safetensors");
        return Err(broken(op, what));
    };
    let mut count = [0; 8];
    file.read_exact(&mut count).map_err(io)?;
    let count = u64::from_le_bytes(count);
    if count > room.min(MAX_HEADER) {
        let what =
            format!("a header of {count} bytes in a file of {len}: not safetensors, or truncated");
        return Err(broken(op, what));
    }
    let mut text = String::new();
    let read = file.take(count).read_to_string(&mut text).map_err(io)?;
    let wrong = |error: serde_json::Error| broken(op, format_args!("the header: {error}"));
    let HeaderJson {
        mut tensors,
        metadata,
    } = serde_json::from_str(&text).map_err(wrong)?;
    drop(text);
    tensors.sort_by_key(|(_, info)| info.data_offsets);
    let end = checked_len(tensors.clone()).map_err(|error| broken(op, error))?;
    if read as u64 != count || end as u64 != room - count {
        let what = format!(
            "its tensors take {end} bytes, but the file has {}",
            room - count
        );
        return Err(broken(op, what));
    }
    let dims = parse_dims(op, &tensors, &metadata)?;
    Ok(SafetensorsHeader {
        tensors,
        metadata,
        dims,
        start: read + 8,
    })
}

/// Returns the total bytes of the tensors, after checking that they have no gaps.
fn checked_len(tensors: Vec<(String, TensorInfo)>) -> Result<usize, safetensors::SafeTensorError> {
    Metadata::new(None, tensors).map(|metadata| metadata.data_len())
}

/// Returns the text of a header: entries in the given order, and metadata sorted, so that the same tensors give the
/// same bytes.
pub(super) fn encode(
    op: &'static str,
    tensors: &[(String, TensorInfo)],
    metadata: &BTreeMap<String, String>,
) -> Result<Vec<u8>> {
    checked_len(tensors.to_vec()).map_err(|error| broken(op, error))?;
    let header = HeaderToWrite { tensors, metadata };
    let mut text = serde_json::to_vec(&header).map_err(|error| broken(op, error))?;
    // Aligns the elements to a multiple of their size.
    text.resize(text.len().next_multiple_of(8), b' ');
    if text.len() as u64 > MAX_HEADER {
        let what = format!(
            "a header of {} bytes exceeds the format's {MAX_HEADER}",
            text.len()
        );
        return Err(Error::new(ErrorKind::Argument, op, what));
    }
    Ok(text)
}

struct HeaderToWrite<'a> {
    tensors: &'a [(String, TensorInfo)],
    metadata: &'a BTreeMap<String, String>,
}

impl Serialize for HeaderToWrite<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.metadata.is_empty() {
            map.serialize_entry("__metadata__", self.metadata)?;
        }
        for (name, info) in self.tensors {
            map.serialize_entry(name, info)?;
        }
        map.end()
    }
}

/// Returns the dim names in the metadata, after checking that each entry has an existing tensor and one name per dim.
fn parse_dims(
    op: &'static str,
    tensors: &[(String, TensorInfo)],
    metadata: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Vec<Option<String>>>> {
    let Some(text) = metadata.get(DIMS) else {
        return Ok(BTreeMap::new());
    };
    let parsed: serde_json::Result<BTreeMap<String, Vec<Option<String>>>> =
        serde_json::from_str(text);
    let dims =
        parsed.map_err(|error| broken(op, format_args!("`{DIMS}` of the metadata: {error}")))?;
    let ranks: BTreeMap<&str, usize> = tensors
        .iter()
        .map(|(name, info)| (&name[..], info.shape.len()))
        .collect();
    for (tensor, names) in &dims {
        let about = |error: Error| {
            error
                .in_op(op)
                .within(format_args!("the names of `{tensor}`"))
        };
        let Some(&rank) = ranks.get(&tensor[..]) else {
            return Err(about(broken(op, "tensor not found")));
        };
        if rank != names.len() {
            let what = format!("{} names for {rank} dims", names.len());
            return Err(about(Error::new(ErrorKind::NamesLen, op, what)));
        }
        parse_names(names).map_err(about)?;
    }
    Ok(dims)
}

/// Parses a list of names.
pub(super) fn parse_names(names: &[Option<String>]) -> Result<Names> {
    let names: Result<Vec<_>> = names
        .iter()
        .map(|name| name.as_deref().map(Name::new).transpose())
        .collect();
    Names::new(names?)
}

/// A deserialized header, in which each tensor occurs once.
struct HeaderJson {
    tensors: Vec<(String, TensorInfo)>,
    metadata: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for HeaderJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HeaderVisitor)
    }
}

/// Deserializes entry by entry. The crate's own implementation keeps all parsed values until it knows which are
/// tensors.
struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = HeaderJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HeaderJson, A::Error> {
        let (mut tensors, mut metadata) = (Vec::new(), None);
        while let Some(key) = map.next_key::<String>()? {
            if key != "__metadata__" {
                tensors.push((key, map.next_value::<LimitedInfo>()?.into()));
            } else if metadata.replace(map.next_value()?).is_some() {
                return Err(A::Error::custom("`__metadata__` is repeated"));
            }
        }
        let metadata = metadata.unwrap_or_default();
        tensors.sort_by(|a: &(String, TensorInfo), b| a.0.cmp(&b.0));
        match tensors.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(A::Error::custom(format_args!(
                "tensor `{}` is repeated",
                pair[0].0
            ))),
            None => Ok(HeaderJson { tensors, metadata }),
        }
    }
}

/// The crate's `TensorInfo`, with a limited number of dims.
#[derive(Deserialize)]
struct LimitedInfo {
    dtype: Dtype,
    shape: AtMost<usize, MOST_DIMS>,
    data_offsets: (usize, usize),
}

impl From<LimitedInfo> for TensorInfo {
    fn from(info: LimitedInfo) -> Self {
        Self {
            dtype: info.dtype,
            shape: info.shape.0,
            data_offsets: info.data_offsets,
        }
    }
}
