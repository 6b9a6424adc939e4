//! netCDF: classic and version 4, by `netcdf-reader`.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use netcdf_reader::{
    NcAttrValue, NcFile, NcReadable, NcSliceInfo, NcSliceInfoElem, NcType, NcVariable,
};
use nomina::{DType, DynTensor, Element, Error, ErrorKind, Names, Result};

use super::{LeftOut, Source, Stored, StoredType, StoredVariable, broken};
use crate::attributes::{Attribute, Attributes};
use crate::column::widen;

struct NetCdf {
    file: NcFile,
    /// The group, with a slash at its end; empty for the root.
    prefix: String,
}

impl std::fmt::Debug for NetCdf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("netCDF")
    }
}

fn failed(error: netcdf_reader::Error) -> Error {
    match error {
        netcdf_reader::Error::Io(error) => Error::new(ErrorKind::File, "read", error.to_string()),
        error => broken(error),
    }
}

/// Opens a file, with the variables of a group.
pub(super) fn open(path: &Path, group: Option<&str>) -> Result<Stored> {
    let file = NcFile::open(path).map_err(|error| match error {
        netcdf_reader::Error::InvalidMagic => {
            broken("the file is neither netCDF nor a folder of zarr")
        }
        error => failed(error),
    })?;
    let inner = group.unwrap_or_default().trim_matches('/');
    let found = match file.group(inner) {
        Ok(found) if !inner.is_empty() => found,
        _ if inner.is_empty() => file.root_group().map_err(failed)?,
        _ => return Err(no_group(&file, inner)),
    };
    let (mut variables, mut left_out) = (Vec::new(), Vec::new());
    for variable in &found.variables {
        match describe(variable) {
            Some(variable) => variables.push(variable),
            None => left_out.push(LeftOut {
                name: variable.name().to_owned(),
                why: format!("elements of {:?} are not supported", variable.dtype()),
            }),
        }
    }
    let attributes = convert(&found.attributes);
    let prefix = match inner {
        "" => String::new(),
        inner => format!("{inner}/"),
    };
    Ok(Stored {
        source: Arc::new(NetCdf { file, prefix }),
        variables,
        left_out,
        attributes,
    })
}

#[cold]
fn no_group(file: &NcFile, group: &str) -> Error {
    fn collect(group: &netcdf_reader::NcGroup, prefix: &str, all: &mut Vec<String>) {
        for inner in &group.groups {
            let path = format!("{prefix}{}", inner.name);
            collect(inner, &format!("{path}/"), all);
            all.push(path);
        }
    }
    let mut all = Vec::new();
    if let Ok(root) = file.root_group() {
        collect(root, "", &mut all);
    }
    all.sort_unstable();
    let error = Error::new(
        ErrorKind::NameNotFound,
        "open",
        format!("no group `{group}`"),
    );
    error.hint(match &all[..] {
        [] => "the file has no groups".to_owned(),
        all => format!("groups are {}", all.join(", ")),
    })
}

fn describe(variable: &NcVariable) -> Option<StoredVariable> {
    let stored = match variable.dtype() {
        NcType::Char | NcType::String => StoredType::Text,
        numeric => StoredType::Number(read_dtype(numeric)?),
    };
    let mut dims = variable
        .dimensions()
        .iter()
        .map(|dim| dim.name.clone())
        .collect::<Vec<_>>();
    let mut shape = variable
        .shape()
        .iter()
        .map(|&size| size as usize)
        .collect::<Vec<_>>();
    if *variable.dtype() == NcType::Char {
        // The last dim is that of the characters.
        dims.pop();
        shape.pop();
    }
    Some(StoredVariable {
        name: variable.name().to_owned(),
        dims,
        shape,
        stored,
        attributes: convert(variable.attributes()),
        chunks: None,
    })
}

/// Returns the dtype in which elements are read: for unsigned integers the next wider one.
fn read_dtype(stored: &NcType) -> Option<DType> {
    Some(match stored {
        NcType::Byte => DType::I8,
        NcType::UByte => DType::U8,
        NcType::Short => DType::I16,
        NcType::UShort | NcType::Int => DType::I32,
        NcType::UInt | NcType::Int64 | NcType::UInt64 => DType::I64,
        NcType::Float => DType::F32,
        NcType::Double => DType::F64,
        NcType::Enum { base, .. } => read_dtype(base)?,
        _ => return None,
    })
}

impl NetCdf {
    fn elements<S: NcReadable + Clone, T: Element>(
        &self,
        variable: &str,
        ranges: &[Range<usize>],
        convert: impl Fn(S) -> Option<T>,
    ) -> Result<DynTensor> {
        let shape: Vec<usize> = ranges.iter().map(Range::len).collect();
        let names = Names::unnamed(shape.len());
        if shape.contains(&0) {
            return DynTensor::from_vec(Vec::<T>::new(), &shape, names);
        }
        let array = if ranges.is_empty() {
            self.file.read_variable::<S>(variable)
        } else {
            let slices = ranges.iter().map(|range| NcSliceInfoElem::Slice {
                start: range.start as u64,
                end: range.end as u64,
                step: 1,
            });
            let selection = NcSliceInfo {
                selections: slices.collect(),
            };
            self.file.read_variable_slice::<S>(variable, &selection)
        };
        let array = array.map_err(failed)?;
        let all: Option<Vec<T>> = array.iter().map(|value| convert(value.clone())).collect();
        let out = || {
            broken(format_args!(
                "variable `{variable}`: an element exceeds i64"
            ))
        };
        DynTensor::from_vec(all.ok_or_else(out)?, &shape, names)
    }
}

impl Source for NetCdf {
    fn read(&self, variable: &str, ranges: &[Range<usize>]) -> Result<DynTensor> {
        let variable = &format!("{}{variable}", self.prefix)[..];
        let found = self.file.variable(variable).map_err(failed)?;
        let mut dtype = found.dtype();
        while let NcType::Enum { base, .. } = dtype {
            dtype = base;
        }
        match dtype {
            NcType::Byte => self.elements::<i8, i8>(variable, ranges, Some),
            NcType::UByte => self.elements::<u8, u8>(variable, ranges, Some),
            NcType::Short => self.elements::<i16, i16>(variable, ranges, Some),
            NcType::UShort => self.elements::<u16, i32>(variable, ranges, |x| Some(x.into())),
            NcType::Int => self.elements::<i32, i32>(variable, ranges, Some),
            NcType::UInt => self.elements::<u32, i64>(variable, ranges, |x| Some(x.into())),
            NcType::Int64 => self.elements::<i64, i64>(variable, ranges, Some),
            NcType::UInt64 => self.elements::<u64, i64>(variable, ranges, |x| x.try_into().ok()),
            NcType::Float => self.elements::<f32, f32>(variable, ranges, Some),
            NcType::Double => self.elements::<f64, f64>(variable, ranges, Some),
            other => Err(broken(format_args!(
                "variable `{variable}` has elements of {other:?}"
            ))),
        }
    }

    fn read_text(&self, variable: &str) -> Result<Vec<String>> {
        let texts = self
            .file
            .read_variable_as_strings(&format!("{}{variable}", self.prefix))
            .map_err(failed)?;
        let clean = |text: String| text.trim_end_matches(['\0', ' ']).to_owned();
        Ok(texts.into_iter().map(clean).collect())
    }
}

/// Converts attributes, except those that hold the structure of netCDF-4.
fn convert(attributes: &[netcdf_reader::NcAttribute]) -> Attributes {
    const INTERNAL: [&str; 6] = [
        "CLASS",
        "NAME",
        "DIMENSION_LIST",
        "REFERENCE_LIST",
        "_Netcdf4Dimid",
        "_Netcdf4Coordinates",
    ];
    let own = attributes
        .iter()
        .filter(|one| !INTERNAL.contains(&&one.name[..]) && one.name != "_NCProperties");
    own.filter_map(|one| Some((one.name.clone(), value(&one.name, &one.value)?)))
        .collect()
}

fn value(name: &str, value: &NcAttrValue) -> Option<Attribute> {
    fn list<T: Copy>(values: &[T], convert: impl Fn(T) -> Attribute) -> Attribute {
        match values {
            [one] => convert(*one),
            all => Attribute::List(all.iter().map(|&one| convert(one)).collect()),
        }
    }
    // The factors are used in computations, as they are; other numbers are shown.
    let float = |value: f32| match name {
        "scale_factor" | "add_offset" => Attribute::Float(value.into()),
        _ => Attribute::Float(widen(value)),
    };
    let unsigned = |value: u64| match i64::try_from(value) {
        Ok(value) => Attribute::Int(value),
        Err(_) => Attribute::Float(value as f64),
    };
    Some(match value {
        NcAttrValue::Chars(text) => Attribute::Text(text.trim_end_matches('\0').to_owned()),
        NcAttrValue::Strings(texts) => match &texts[..] {
            [text] => Attribute::Text(text.clone()),
            all => Attribute::List(all.iter().cloned().map(Attribute::Text).collect()),
        },
        NcAttrValue::Bytes(values) => list(values, |x| Attribute::Int(x.into())),
        NcAttrValue::UBytes(values) => list(values, |x| Attribute::Int(x.into())),
        NcAttrValue::Shorts(values) => list(values, |x| Attribute::Int(x.into())),
        NcAttrValue::UShorts(values) => list(values, |x| Attribute::Int(x.into())),
        NcAttrValue::Ints(values) => list(values, |x| Attribute::Int(x.into())),
        NcAttrValue::UInts(values) => list(values, |x| Attribute::Int(x.into())),
        NcAttrValue::Int64s(values) => list(values, Attribute::Int),
        NcAttrValue::UInt64s(values) => list(values, unsigned),
        NcAttrValue::Floats(values) => list(values, float),
        NcAttrValue::Doubles(values) => list(values, Attribute::Float),
        NcAttrValue::UserDefined { .. } => return None,
    })
}
