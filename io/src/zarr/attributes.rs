//! Attributes of arrays and groups.

use std::collections::BTreeMap;
use std::path::Path;

use nomina::{Error, Result};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::errors::{broken, other_version};
use super::group::{description, edit_description};

/// A value in the attributes of an array or a group.
///
/// ```
/// use nomina_io::zarr::{self, Attribute};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path();
/// # std::fs::write(path.join("zarr.json"), r#"{"zarr_format":3,"node_type":"group","attributes":{"units":"K","levels":[1000,850.5]}}"#).unwrap();
/// let attributes = zarr::attributes(path)?;
/// assert_eq!(attributes["units"].as_str(), Some("K"));
/// assert_eq!(attributes["levels"], Attribute::List(vec![Attribute::Int(1000), Attribute::Float(850.5)]));
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer within the range of `i64`.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// An object.
    Map(BTreeMap<String, Self>),
}

impl Attribute {
    /// Returns the text, if the value is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number, if the value is one.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Parses a JSON text.
    pub(super) fn parse(op: &'static str, text: &str) -> Result<Self> {
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| broken(op, error))?;
        Ok(value.into())
    }
}

impl From<serde_json::Value> for Attribute {
    fn from(value: serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => match number.as_i64() {
                Some(value) => Self::Int(value),
                // Parsed from its text, since it may be out of the JSON parser's range.
                None => Self::Float(number.to_string().parse().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Self::Text(text),
            Value::Array(list) => Self::List(list.into_iter().map(Self::from).collect()),
            Value::Object(map) => {
                let entries = map.into_iter().map(|(key, value)| (key, value.into()));
                Self::Map(entries.collect())
            }
        }
    }
}

/// Parses the text of an attributes object.
pub(super) fn parse(op: &'static str, text: &str) -> Result<BTreeMap<String, Attribute>> {
    match Attribute::parse(op, text)? {
        Attribute::Map(attributes) => Ok(attributes),
        Attribute::Null => Ok(BTreeMap::new()),
        _ => Err(broken(op, "attributes are not an object")),
    }
}

impl From<Attribute> for serde_json::Value {
    /// Converts to JSON; an infinite number or NaN becomes its name, as writers of zarr do.
    fn from(value: Attribute) -> Self {
        match value {
            Attribute::Null => Self::Null,
            Attribute::Bool(value) => value.into(),
            Attribute::Int(value) => value.into(),
            Attribute::Float(value) if value.is_nan() => "NaN".into(),
            Attribute::Float(value) if value.is_infinite() => {
                if value > 0.0 { "Infinity" } else { "-Infinity" }.into()
            }
            Attribute::Float(value) => value.into(),
            Attribute::Text(text) => text.into(),
            Attribute::List(list) => list.into_iter().map(Self::from).collect(),
            Attribute::Map(map) => {
                let entries = map.into_iter().map(|(key, value)| (key, value.into()));
                Self::Object(entries.collect())
            }
        }
    }
}

/// Replaces the attributes of the group or array of version 3 at a path. `_FillValue` of NaN is written as xarray reads
/// it: eight bytes in base64.
///
/// # Errors
/// Returns [`ErrorKind::File`](nomina::ErrorKind::File) if the path does not exist or cannot be written;
/// [`ErrorKind::Parse`](nomina::ErrorKind::Parse) if its metadata is corrupt or of zarr version 2.
pub fn set_attributes<'a>(
    path: impl AsRef<Path>,
    attributes: impl IntoIterator<Item = (&'a str, Attribute)>,
) -> Result<()> {
    edit_description("set_attributes", path.as_ref(), |json| {
        let entries = attributes.into_iter().map(|(key, value)| {
            let value = match value {
                Attribute::Float(value) if key == "_FillValue" && value.is_nan() => {
                    "AAAAAAAA+H8=".into()
                }
                value => value.into(),
            };
            (key.to_owned(), value)
        });
        json["attributes"] = serde_json::Value::Object(entries.collect());
    })
}

/// Reads the attributes of the group or array at a path, such as `units`.
///
/// # Errors
/// Returns [`ErrorKind::File`](nomina::ErrorKind::File) if the path does not exist or cannot be read;
/// [`ErrorKind::Parse`](nomina::ErrorKind::Parse) if its metadata is corrupt.
pub fn attributes(path: impl AsRef<Path>) -> Result<BTreeMap<String, Attribute>> {
    #[derive(Deserialize)]
    struct AttributesJson<'a> {
        zarr_format: u64,
        #[serde(borrow)]
        attributes: Option<&'a RawValue>,
    }

    let (op, path) = ("attributes", path.as_ref());
    let read = || {
        let text = description(op, path)?;
        if !text.trim_ascii_start().starts_with('{') {
            return Err(broken(op, "description is not an object"));
        }
        let json = serde_json::from_str::<AttributesJson<'_>>(&text);
        let json = json.map_err(|error| broken(op, error))?;
        if json.zarr_format != 3 {
            return Err(other_version(op, json.zarr_format));
        }
        let text = json.attributes.map_or("{}", RawValue::get);
        parse(op, text)
    };
    read().map_err(|error: Error| error.within(path.display()))
}
