//! Version 2 of the format, read as version 3: its metadata are translated.

use std::path::Path;

use nomina::{Error, ErrorKind, Result};
use nomina_runtime::file;
use serde_json::{Map, Value, json};

use super::errors::broken;

/// The attribute in which xarray stores the names of dims.
const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Returns the metadata of an array or a group of version 2, as those of version 3. `None` if the folder is neither.
pub(super) fn translate(op: &'static str, folder: &Path) -> Result<Option<String>> {
    let read = |name: &str| -> Result<Option<Value>> {
        match file::read_to_string(&folder.join(name)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(file::failed(op, &error)),
            Ok(text) => match serde_json::from_str::<Value>(&text) {
                Ok(value) if value.is_object() => Ok(Some(value)),
                Ok(_) => Err(broken(op, format_args!("`{name}` is not an object"))),
                Err(error) => Err(broken(op, format_args!("`{name}`: {error}"))),
            },
        }
    };
    let array = read(".zarray")?;
    if array.is_none() && read(".zgroup")?.is_none() && read(".zmetadata")?.is_none() {
        return Ok(None);
    }
    let attributes = match read(".zattrs")? {
        Some(Value::Object(attributes)) => attributes,
        _ => Map::new(),
    };
    to_version_3(op, array.as_ref(), attributes).map(Some)
}

/// Translates the metadata of an array, or of a group, to the text of version 3.
pub(super) fn to_version_3(
    op: &'static str,
    array: Option<&Value>,
    attributes: Map<String, Value>,
) -> Result<String> {
    let translated = match array {
        Some(array) => array_of_3(op, array, attributes)?,
        None => json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes }),
    };
    Ok(translated.to_string())
}

fn array_of_3(
    op: &'static str,
    array: &Value,
    mut attributes: Map<String, Value>,
) -> Result<Value> {
    if array["zarr_format"] != 2 {
        return Err(broken(op, "`.zarray` is not of zarr version 2"));
    }
    let dtype = array["dtype"].as_str().unwrap_or_default();
    let (data_type, endian) = data_type(op, dtype)?;
    let mut codecs = Vec::new();
    if array["order"] == "F" {
        let rank = array["shape"].as_array().map_or(0, Vec::len);
        let order: Vec<usize> = (0..rank).rev().collect();
        codecs.push(json!({ "name": "transpose", "configuration": { "order": order } }));
    }
    let mut is_text = false;
    for filter in array["filters"].as_array().into_iter().flatten() {
        match filter["id"].as_str() {
            Some("vlen-utf8") => is_text = true,
            id => {
                let what = format!("filter `{}`", id.unwrap_or("?"));
                return Err(broken(op, what + " is not supported"));
            }
        }
    }
    let data_type = match (&data_type, is_text) {
        (Value::Null, true) => json!("string"),
        (Value::Null, false) | (_, true) => {
            let what = format!("elements of `{dtype}` are not supported");
            return Err(Error::new(ErrorKind::DType, op, what));
        }
        _ => data_type,
    };
    codecs.push(if is_text {
        json!({ "name": "vlen-utf8" })
    } else {
        json!({ "name": "bytes", "configuration": { "endian": endian } })
    });
    match array["compressor"]["id"].as_str() {
        None => {}
        Some(id @ ("gzip" | "zlib" | "zstd" | "blosc")) => {
            let level = array["compressor"]["level"]
                .as_i64()
                .unwrap_or(1)
                .clamp(0, 9);
            // Arrays of version 2 are only read, so that options for writing do not matter.
            codecs.push(json!({ "name": id, "configuration": { "level": level } }));
        }
        Some(id) => {
            let error = broken(op, format_args!("compressor `{id}` is not supported"));
            return Err(error.hint("supported: blosc, gzip, zlib, zstd"));
        }
    }
    let fill = match &array["fill_value"] {
        Value::Null => zero(data_type.as_str().unwrap_or_default()),
        // For xarray, the fill value of version 2 is also that of missing elements.
        value => {
            attributes
                .entry("_FillValue")
                .or_insert_with(|| value.clone());
            value.clone()
        }
    };
    let names = attributes.remove(DIMENSIONS).unwrap_or(Value::Null);
    let separator = array["dimension_separator"].as_str().unwrap_or(".");
    Ok(json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": array["shape"],
        "data_type": data_type,
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": array["chunks"] } },
        "chunk_key_encoding": { "name": "v2", "configuration": { "separator": separator } },
        "fill_value": fill,
        "codecs": codecs,
        "dimension_names": names,
        "attributes": attributes,
    }))
}

fn zero(data_type: &str) -> Value {
    match data_type {
        "bool" => json!(false),
        "string" => json!(""),
        name if name.starts_with("complex") => json!([0.0, 0.0]),
        _ => json!(0),
    }
}

/// Returns the data type of version 3, and the byte order. The type is null for Python objects.
fn data_type(op: &'static str, dtype: &str) -> Result<(Value, &'static str)> {
    let endian = if dtype.starts_with('>') {
        "big"
    } else {
        "little"
    };
    let kind = dtype.get(1..).unwrap_or_default();
    let name = match kind {
        "b1" => "bool",
        "i1" => "int8",
        "i2" => "int16",
        "i4" => "int32",
        "i8" => "int64",
        "u1" => "uint8",
        "u2" => "uint16",
        "u4" => "uint32",
        "u8" => "uint64",
        "f2" => "float16",
        "f4" => "float32",
        "f8" => "float64",
        "c8" => "complex64",
        "c16" => "complex128",
        "O" => return Ok((Value::Null, endian)),
        _ => {
            let text = kind
                .split_at_checked(1)
                .and_then(|(kind, len)| Some((kind, len.parse::<u32>().ok()?)));
            return match text {
                Some(("U", len)) => Ok((fixed("fixed_length_utf32", 4 * u64::from(len)), endian)),
                Some(("S", len)) => Ok((fixed("null_terminated_bytes", len.into()), endian)),
                _ => {
                    let what = format!("elements of `{dtype}` are not supported");
                    Err(Error::new(ErrorKind::DType, op, what))
                }
            };
        }
    };
    Ok((json!(name), endian))
}

fn fixed(name: &str, bytes: u64) -> Value {
    json!({ "name": name, "configuration": { "length_bytes": bytes } })
}
