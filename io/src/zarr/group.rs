//! Folders of zarr: their metadata, and groups.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use nomina::{Error, ErrorKind, Result};
use nomina_runtime::file::{self, failed};

use super::errors::chunk_failed;

/// The metadata file of a folder.
const DESCRIPTION: &str = "zarr.json";

/// The metadata files of version 2 of the format.
const VERSION_2: [&str; 3] = [".zarray", ".zgroup", ".zmetadata"];

/// Returns whether a folder is an array or a group of version 2, and not also of version 3.
fn is_version_2(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).exists();
    VERSION_2.into_iter().any(has) && !has(DESCRIPTION)
}

/// Returns the error for a folder of version 2.
#[cold]
fn version_2(op: &'static str, folder: &Path) -> Error {
    let is_array = folder.join(".zarray").exists();
    let kind = if is_array { "an array" } else { "a group" };
    let what = format!("{kind} of zarr version 2; only version 3 is read");
    Error::new(ErrorKind::Parse, op, what)
        .hint("convert it, as by xarray's `to_zarr(.., zarr_format=3)`")
}

/// Reads the metadata of an array or a group.
pub(super) fn description(op: &'static str, folder: &Path) -> Result<String> {
    let text = file::read_to_string(&folder.join(DESCRIPTION));
    text.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if is_version_2(folder) => version_2(op, folder),
        io::ErrorKind::NotFound if folder.is_dir() => {
            let what =
                format!("the folder is not a zarr array or group: it has no `{DESCRIPTION}`");
            Error::new(ErrorKind::File, op, what)
        }
        _ => chunk_failed(op, &error),
    })
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

/// Returns the names of the arrays and groups within a group, sorted. Open them at `path.join(name)`. Those of version
/// 2 are listed, too; opening one returns an error that says so.
///
/// # Errors
/// Returns [`ErrorKind::File`] if the folder cannot be read; [`ErrorKind::Parse`] if it is a group of zarr version 2.
pub fn keys(path: impl AsRef<Path>) -> Result<Vec<String>> {
    let (op, path) = ("keys", path.as_ref());
    let list = || {
        if is_version_2(path) {
            return Err(version_2(op, path));
        }
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
