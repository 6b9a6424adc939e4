//! `TensorProto` as [`DynTensor`].

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path};

use nomina::DynTensor;
use nomina_core::{DType, Error, ErrorKind, Names, Result};
use nomina_runtime::raw::Raw;

use super::wire::{Fields, fixed, ints};
use super::{Limits, READ, broken};

/// Returns the dtype of a number in `TensorProto.DataType`.
///
/// # Errors
/// If nomina has no such dtype.
pub fn dtype(number: i64) -> Result<DType> {
    Ok(match number {
        1 => DType::F32,
        2 => DType::U8,
        3 => DType::I8,
        5 => DType::I16,
        6 => DType::I32,
        7 => DType::I64,
        9 => DType::Bool,
        10 => DType::F16,
        11 => DType::F64,
        14 => DType::C64,
        15 => DType::C128,
        16 => DType::BF16,
        _ => {
            let what = format!("the dtype {} is not supported", type_name(number));
            return Err(Error::new(ErrorKind::DType, READ, what));
        }
    })
}

/// Returns the spelling of a number in `TensorProto.DataType`.
pub fn type_name(number: i64) -> String {
    const NAMES: [&str; 27] = [
        "undefined",
        "float",
        "uint8",
        "int8",
        "uint16",
        "int16",
        "int32",
        "int64",
        "string",
        "bool",
        "float16",
        "double",
        "uint32",
        "uint64",
        "complex64",
        "complex128",
        "bfloat16",
        "float8e4m3fn",
        "float8e4m3fnuz",
        "float8e5m2",
        "float8e5m2fnuz",
        "uint4",
        "int4",
        "float4e2m1",
        "float8e8m0",
        "uint2",
        "int2",
    ];
    let name = usize::try_from(number).ok().and_then(|at| NAMES.get(at));
    name.map_or_else(|| format!("number {number}"), |name| format!("`{name}`"))
}

/// Creates an unnamed tensor from the little-endian bytes of its elements.
pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<DynTensor> {
    let normal: Vec<u8>;
    let bytes = if dtype == DType::Bool && bytes.iter().any(|&b| b > 1) {
        normal = bytes.iter().map(|&b| u8::from(b != 0)).collect();
        &normal
    } else {
        bytes
    };
    let raw = Raw::from_bytes(READ, dtype, shape, bytes)?;
    DynTensor::from_parts(raw, Names::unnamed(shape.len()))
}

/// The number of elements of `shape`, unless it overflows.
pub fn numel(shape: &[usize]) -> Option<usize> {
    shape
        .iter()
        .try_fold(1usize, |n, &size| n.checked_mul(size))
}

/// Reads a `TensorProto`: its name and its elements.
///
/// # Errors
/// If it is broken, its dtype is not supported, or its data are outside the model's folder.
pub fn read<'a>(message: &'a [u8], limits: &Limits<'_>) -> Result<(&'a str, DynTensor)> {
    let (mut name, mut shape, mut number) = ("", Vec::new(), 0);
    let (mut raw, mut external, mut outside) = (None, Vec::new(), false);
    for field in Fields::new(message) {
        match field? {
            (1, wire) => {
                for size in ints(wire) {
                    limits.take(8)?;
                    let size = usize::try_from(size?);
                    shape.push(size.map_err(|_| broken("a tensor has a negative size"))?);
                }
            }
            (2, wire) => number = wire.int()?,
            (8, wire) => name = wire.text()?,
            (9, wire) => raw = Some(wire.bytes()?),
            (13, wire) => external.push(entry(wire.bytes()?)?),
            (14, wire) => outside = wire.int()? == 1,
            (3, _) => return Err(broken("tensors in segments are not supported")),
            _ => {}
        }
    }
    let place = |e: Error| e.within(format!("tensor `{name}`"));
    let dtype = dtype(number).map_err(place)?;
    let bytes = numel(&shape).and_then(|n| n.checked_mul(dtype.size()));
    let bytes = bytes.ok_or_else(|| place(broken("the sizes overflow")))?;
    let tensor = if outside {
        external_bytes(&external, bytes, limits).and_then(|data| from_bytes(dtype, &shape, &data))
    } else if let Some(data) = raw {
        require_length(data.len(), bytes).and_then(|()| {
            limits.take(bytes)?;
            from_bytes(dtype, &shape, data)
        })
    } else {
        typed(message, dtype, bytes, limits).and_then(|data| from_bytes(dtype, &shape, &data))
    };
    Ok((name, tensor.map_err(place)?))
}

fn require_length(has: usize, needs: usize) -> Result<()> {
    if has == needs {
        return Ok(());
    }
    Err(broken(format!(
        "its sizes need {needs} bytes, and it has {has}"
    )))
}

/// Collects the elements of the field that belongs to `dtype`.
fn typed(message: &[u8], dtype: DType, bytes: usize, limits: &Limits<'_>) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    let wanted = match dtype {
        DType::F32 | DType::C64 => 4,
        DType::F64 | DType::C128 => 10,
        DType::I64 => 7,
        _ => 5,
    };
    let size = dtype.size();
    for field in Fields::new(message) {
        let (number, wire) = field?;
        if number != wanted {
            continue;
        }
        match wanted {
            4 => data.extend(fixed::<4>(&wire)?),
            10 => data.extend(fixed::<8>(&wire)?),
            _ => {
                for value in ints(wire) {
                    if data.len() >= bytes {
                        return Err(broken("a tensor has more elements than its sizes say"));
                    }
                    data.extend(&value?.to_le_bytes()[..size]);
                }
            }
        }
        if data.len() > bytes {
            return Err(broken("a tensor has more elements than its sizes say"));
        }
    }
    limits.take(data.len())?;
    require_length(data.len(), bytes)?;
    Ok(data)
}

fn entry(message: &[u8]) -> Result<(&str, &str)> {
    let mut pair = ("", "");
    for field in Fields::new(message) {
        match field? {
            (1, wire) => pair.0 = wire.text()?,
            (2, wire) => pair.1 = wire.text()?,
            _ => {}
        }
    }
    Ok(pair)
}

/// Reads elements from a file in the model's folder.
fn external_bytes(entries: &[(&str, &str)], bytes: usize, limits: &Limits<'_>) -> Result<Vec<u8>> {
    let find = |key: &str| entries.iter().find(|e| e.0 == key).map(|e| e.1);
    let number = |key: &str| match find(key) {
        Some(text) => text
            .parse::<u64>()
            .map(Some)
            .map_err(|_| broken(format!("its {key} is not a number"))),
        None => Ok(None),
    };
    let location = find("location").unwrap_or("");
    let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?);
    require_length(
        length.map_or(bytes, |n| usize::try_from(n).unwrap_or(usize::MAX)),
        bytes,
    )?;
    let Some(folder) = limits.folder else {
        let hint = "open the model by its path";
        return Err(
            Error::new(ErrorKind::File, READ, "its elements are in another file").hint(hint),
        );
    };
    let inside = Path::new(location);
    if location.is_empty()
        || !inside
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
    {
        return Err(broken(format!(
            "external data `{location}` are outside the model's folder"
        )));
    }
    let path = folder.join(inside);
    let fail =
        |e: std::io::Error| Error::new(ErrorKind::File, READ, format!("{}: {e}", path.display()));
    let (real, home) = (
        path.canonicalize().map_err(fail)?,
        folder.canonicalize().map_err(fail)?,
    );
    if !real.starts_with(home) {
        return Err(broken(format!(
            "external data `{location}` are outside the model's folder"
        )));
    }
    // Opening a pipe would wait for its writer.
    let about = real.metadata().map_err(fail)?;
    if !about.is_file() {
        return Err(broken(format!("external data `{location}` are no file")));
    }
    let mut file = File::open(&real).map_err(fail)?;
    let size = about.len();
    if offset
        .checked_add(bytes as u64)
        .is_none_or(|end| end > size)
    {
        return Err(broken(format!("external data `{location}` are cut off")));
    }
    limits.add(&real, size);
    limits.take(bytes)?;
    let mut data = vec![0; bytes];
    file.seek(SeekFrom::Start(offset)).map_err(fail)?;
    file.read_exact(&mut data).map_err(fail)?;
    Ok(data)
}
