//! Folders of zarr: their metadata, and groups.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use nomina::{Error, ErrorKind, Result};
use nomina_runtime::file::{self, failed};

use super::errors::{broken, chunk_failed};
use super::version_2;

/// The metadata file of a folder.
const DESCRIPTION: &str = "zarr.json";

/// The metadata files of version 2 of the format.
const VERSION_2: [&str; 3] = [".zarray", ".zgroup", ".zmetadata"];

/// Returns whether a folder is an array or a group of version 2, and not also of version 3.
fn is_version_2(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).exists();
    VERSION_2.into_iter().any(has) && !has(DESCRIPTION)
}

/// Reads the metadata of an array or a group. Those of version 2 are translated to version 3.
pub(super) fn description(op: &'static str, folder: &Path) -> Result<String> {
    let error = match file::read_to_string(&folder.join(DESCRIPTION)) {
        Ok(text) => return Ok(text),
        Err(error) => error,
    };
    if error.kind() == io::ErrorKind::NotFound {
        if let Some(text) = version_2::translate(op, folder)? {
            return Ok(text);
        }
        if folder.is_dir() {
            let what =
                format!("the folder is not a zarr array or group: it has no `{DESCRIPTION}`");
            return Err(Error::new(ErrorKind::File, op, what));
        }
    }
    Err(chunk_failed(op, &error))
}

/// Changes the metadata of an array or a group of version 3.
pub(super) fn edit_description(
    op: &'static str,
    path: &Path,
    edit: impl FnOnce(&mut serde_json::Value),
) -> Result<()> {
    let change = || {
        if is_version_2(path) {
            let what = "of zarr version 2, which is read only";
            return Err(Error::new(ErrorKind::Parse, op, what));
        }
        let text = description(op, path)?;
        let mut json: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| broken(op, error))?;
        if json["zarr_format"] != 3 {
            return Err(broken(op, "not of zarr version 3"));
        }
        edit(&mut json);
        file::write(op, &path.join(DESCRIPTION), |out| {
            out.write_all(json.to_string().as_bytes())
                .map_err(|error| failed(op, &error))
        })
    };
    change().map_err(|error: Error| error.within(path.display()))
}

/// Returns whether a path is a group, and not an array.
#[must_use]
pub fn is_group(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    if path.join(".zgroup").exists() && !path.join(DESCRIPTION).exists() {
        return true;
    }
    let text = file::read_to_string(&path.join(DESCRIPTION)).unwrap_or_default();
    let parsed: serde_json::Result<serde_json::Value> = serde_json::from_str(&text);
    parsed.is_ok_and(|json| json["node_type"] == "group")
}

/// Turns a folder into an array or a group. Of several concurrent callers, one succeeds.
///
/// # Errors
/// Returns [`ErrorKind::File`] if the folder is an array or group already, or, for an array, if it is not empty: chunks
/// of another array would be read as elements of the new one.
pub(super) fn describe(op: &'static str, path: &Path, text: &str, is_array: bool) -> Result<()> {
    let io = |error: io::Error| failed(op, &error);
    let folder = file::follow_links(path).map_err(io)?;
    fs::create_dir_all(&folder).map_err(io)?;
    let exists = |what: String| Error::new(ErrorKind::File, op, what).hint("remove it first");
    if folder.join(DESCRIPTION).exists() {
        return Err(exists("it already exists".to_owned()));
    }
    if is_version_2(&folder) {
        return Err(exists("it already exists, of zarr version 2".to_owned()));
    }
    if is_array {
        for entry in fs::read_dir(&folder).map_err(io)? {
            let name = entry.map_err(io)?.file_name();
            let name = name.to_string_lossy();
            // Another caller is creating the same array; the file system decides between the two.
            if name == DESCRIPTION || file::is_temporary(&name) {
                continue;
            }
            let what = format!(
                "the folder has `{name}`: old chunks would be read as elements of the new array"
            );
            return Err(exists(what));
        }
    }
    file::create(op, &folder.join(DESCRIPTION), |out| {
        out.write_all(text.as_bytes()).map_err(io)
    })
}

/// Turns a folder into a group, whose arrays are folders within it: `xarray.open_zarr` opens it. The folder may contain
/// arrays already.
///
/// # Errors
/// Returns [`ErrorKind::File`] if it is an array or a group already, or cannot be written.
pub fn create_group(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let text = r#"{"zarr_format":3,"node_type":"group","attributes":{}}"#;
    let described = describe("create_group", path, text, false);
    described.map_err(|error: Error| error.within(path.display()))
}

/// Returns the names of the arrays and groups within a group, sorted. Open them at `path.join(name)`.
///
/// # Errors
/// Returns [`ErrorKind::File`] if the folder cannot be read.
pub fn keys(path: impl AsRef<Path>) -> Result<Vec<String>> {
    let (op, path) = ("keys", path.as_ref());
    let list = || {
        let mut names = Vec::new();
        let io = |error: io::Error| failed(op, &error);
        for entry in fs::read_dir(path).map_err(io)? {
            let entry = entry.map_err(io)?;
            let folder = entry.path();
            if folder.join(DESCRIPTION).exists() || is_version_2(&folder) {
                names.extend(entry.file_name().into_string());
            }
        }
        names.sort_unstable();
        Ok(names)
    };
    list().map_err(|error: Error| error.within(path.display()))
}
