//! Groups with their members, from consolidated metadata if the group has some.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nomina::{DynTensor, Error, ErrorKind, Result};
use nomina_runtime::file;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::attributes::{Attribute, parse};
use super::errors::{broken, other_version};
use super::group::{description, edit_description, is_group, keys};
use super::text::{Texts, described_texts};
use super::version_2;
use super::{Naming, Zarr};

/// A group of zarr with its attributes, arrays and groups.
///
/// If the group has consolidated metadata (`.zmetadata` of version 2, or inside of `zarr.json`), its members are those
/// listed there, and opening them reads no further file. Changes of a member show only after [`consolidate`] or removal.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::zarr::{self, Group, Zarr};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("weather.zarr");
/// zarr::create_group(&path)?;
/// Zarr::<DynTensor>::create(path.join("t"), DType::F32, &names!["Time"], &[4], &[2])?;
/// zarr::consolidate(&path)?;
/// let group = Group::open(&path)?;
/// assert!(group.is_consolidated());
/// assert_eq!(group.keys()?, ["t"]);
/// assert_eq!(group.array("t")?.shape(), [4]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Group {
    path: PathBuf,
    attributes: BTreeMap<String, Attribute>,
    members: Option<BTreeMap<String, Member>>,
}

/// The consolidated metadata of a member.
#[derive(Debug)]
enum Member {
    /// The text of its `zarr.json`.
    Version3(String),
    /// Its `.zarray`, if it is an array, and its `.zattrs`.
    Version2 {
        array: Option<Value>,
        attributes: Map<String, Value>,
    },
}

#[derive(Deserialize)]
struct GroupJson<'a> {
    zarr_format: Option<u64>,
    node_type: Option<String>,
    #[serde(borrow)]
    attributes: Option<&'a RawValue>,
    #[serde(borrow)]
    consolidated_metadata: Option<Consolidated<'a>>,
}

#[derive(Deserialize)]
struct Consolidated<'a> {
    kind: Option<String>,
    #[serde(borrow)]
    metadata: Option<BTreeMap<String, &'a RawValue>>,
}

impl Group {
    /// Opens a group. Reads its metadata.
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if the path does not exist or cannot be read; [`ErrorKind::Parse`] if its metadata is
    /// corrupt, or it is an array.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let (op, path) = ("open", path.as_ref());
        let open = || {
            let text = description(op, path)?;
            if !text.trim_ascii_start().starts_with('{') {
                return Err(broken(op, "description is not an object"));
            }
            let json = serde_json::from_str::<GroupJson<'_>>(&text);
            let json = json.map_err(|error| broken(op, error))?;
            if let Some(version) = json.zarr_format.filter(|version| *version != 3) {
                return Err(other_version(op, version));
            }
            if json.node_type.as_deref() != Some("group") {
                return Err(broken(op, "an array, not a group"));
            }
            let inline = json
                .consolidated_metadata
                .filter(|all| all.kind.as_deref().is_none_or(|kind| kind == "inline"));
            let members = match inline.and_then(|all| all.metadata) {
                Some(all) => Some(
                    all.into_iter()
                        .map(|(name, text)| (name, Member::Version3(text.get().to_owned())))
                        .collect(),
                ),
                None if path.join("zarr.json").exists() => None,
                None => consolidated_2(op, path)?,
            };
            Ok(Self {
                path: path.to_owned(),
                attributes: parse(op, json.attributes.map_or("{}", RawValue::get))?,
                members,
            })
        };
        open().map_err(|error: Error| error.within(path.display()))
    }

    /// Returns the attributes.
    #[must_use]
    pub fn attributes(&self) -> &BTreeMap<String, Attribute> {
        &self.attributes
    }

    /// Returns whether the members come from consolidated metadata.
    #[must_use]
    pub fn is_consolidated(&self) -> bool {
        self.members.is_some()
    }

    /// Returns the names of the arrays and groups directly within the group, sorted.
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if the folder cannot be read.
    pub fn keys(&self) -> Result<Vec<String>> {
        match &self.members {
            Some(members) => {
                let direct = |name: &&String| {
                    !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.')
                };
                Ok(members.keys().filter(direct).cloned().collect())
            }
            None => keys(&self.path),
        }
    }

    /// Returns the path of a member.
    fn member(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the metadata of a member, in version 3.
    fn description(&self, op: &'static str, name: &str) -> Result<Cow<'_, str>> {
        match self.members.as_ref().and_then(|members| members.get(name)) {
            Some(Member::Version3(text)) => Ok(Cow::Borrowed(text)),
            Some(Member::Version2 { array, attributes }) => {
                version_2::to_version_3(op, array.as_ref(), attributes.clone()).map(Cow::Owned)
            }
            None => description(op, &self.member(name)).map(Cow::Owned),
        }
    }

    /// Returns whether a member is a group, and not an array.
    #[must_use]
    pub fn is_group(&self, name: &str) -> bool {
        match self.members.as_ref().and_then(|members| members.get(name)) {
            Some(Member::Version3(text)) => {
                serde_json::from_str::<Value>(text).is_ok_and(|json| json["node_type"] == "group")
            }
            Some(Member::Version2 { array, .. }) => array.is_none(),
            None => is_group(self.member(name)),
        }
    }

    /// Opens an array like [`Zarr::open_lenient`].
    ///
    /// # Errors
    /// Returns the errors of [`Zarr::open_lenient`].
    pub fn array(&self, name: &str) -> Result<Zarr<DynTensor>> {
        let (op, path) = ("open_lenient", self.member(name));
        let text = self.description(op, name);
        let open = |text: Cow<'_, str>| Zarr::described(op, &path, &text, Naming::Lenient, false);
        text.and_then(open)
            .map_err(|error: Error| error.in_op(op).within(path.display()))
    }

    /// Reads an array of texts like [`read_texts`](super::read_texts).
    ///
    /// # Errors
    /// Returns the errors of [`read_texts`](super::read_texts).
    pub fn texts(&self, name: &str) -> Result<Option<Texts>> {
        let (op, path) = ("read_texts", self.member(name));
        let text = self.description(op, name);
        text.and_then(|text| described_texts(op, &path, &text))
            .map_err(|error| error.within(path.display()))
    }

    /// Returns the attributes of a member.
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if it does not exist, and [`ErrorKind::Parse`] if its metadata is corrupt.
    pub fn member_attributes(&self, name: &str) -> Result<BTreeMap<String, Attribute>> {
        let op = "attributes";
        let read = || {
            let text = self.description(op, name)?;
            let json = serde_json::from_str::<GroupJson<'_>>(&text);
            let json = json.map_err(|error| broken(op, error))?;
            parse(op, json.attributes.map_or("{}", RawValue::get))
        };
        read().map_err(|error: Error| error.within(self.member(name).display()))
    }
}

/// Reads `.zmetadata`, if there is one.
fn consolidated_2(op: &'static str, path: &Path) -> Result<Option<BTreeMap<String, Member>>> {
    let Ok(text) = file::read_to_string(&path.join(".zmetadata")) else {
        return Ok(None);
    };
    let json: Value = serde_json::from_str(&text)
        .map_err(|error| broken(op, format_args!("`.zmetadata`: {error}")))?;
    let Some(all) = json["metadata"].as_object() else {
        return Err(broken(op, "`.zmetadata` has no `metadata`"));
    };
    let mut members = BTreeMap::new();
    for (key, value) in all {
        let Some((name, file)) = key.rsplit_once('/') else {
            continue;
        };
        let array = match file {
            ".zarray" => Some(value.clone()),
            ".zgroup" => None,
            _ => continue,
        };
        let attributes = match all.get(&format!("{name}/.zattrs")) {
            Some(Value::Object(attributes)) => attributes.clone(),
            _ => Map::new(),
        };
        members.insert(name.to_owned(), Member::Version2 { array, attributes });
    }
    Ok(Some(members))
}

/// Writes the metadata of all members of a group of version 3 into its `zarr.json`, where zarr for Python looks first.
/// Consolidate again after adding members or changing their attributes.
///
/// # Errors
/// Returns [`ErrorKind::File`] if the group cannot be read or written; [`ErrorKind::Parse`] if it is corrupt or of zarr
/// version 2.
pub fn consolidate(path: impl AsRef<Path>) -> Result<()> {
    fn collect(
        op: &'static str,
        path: &Path,
        prefix: &str,
        all: &mut Map<String, Value>,
    ) -> Result<()> {
        for name in keys(path)? {
            let folder = path.join(&name);
            let text = description(op, &folder)?;
            let mut json: Value = serde_json::from_str(&text)
                .map_err(|error| broken(op, error).within(folder.display()))?;
            if json["node_type"] == "group" {
                collect(op, &folder, &format!("{prefix}{name}/"), all)?;
                if let Some(group) = json.as_object_mut() {
                    group.remove("consolidated_metadata");
                }
            }
            all.insert(format!("{prefix}{name}"), json);
        }
        Ok(())
    }
    let (op, path) = ("consolidate", path.as_ref());
    if !is_group(path) {
        let what = format!("{} is not a group of zarr", path.display());
        return Err(Error::new(ErrorKind::File, op, what));
    }
    let mut all = Map::new();
    collect(op, path, "", &mut all)?;
    edit_description(op, path, |json| {
        json["consolidated_metadata"] =
            serde_json::json!({ "kind": "inline", "must_understand": false, "metadata": all });
    })
}
