//! Folders of zarr: what says what they are, and groups.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use nomina::{Error, ErrorKind, Result};

use crate::atomic::{self, failed};

/// The file that says what a folder is.
pub(super) const DESCRIPTION: &str = "zarr.json";

/// Makes a folder an array or a group.
pub(super) fn describe(op: &'static str, path: &Path, text: &str) -> Result<()> {
    let file = path.join(DESCRIPTION);
    if file.exists() {
        return Err(Error::new(ErrorKind::File, op, "there is one already").hint("remove it first"));
    }
    let io = |error: io::Error| failed(op, &error);
    fs::create_dir_all(path).map_err(io)?;
    atomic::write(op, &file, |out| out.write_all(text.as_bytes()).map_err(io))
}

/// Makes a folder a group, whose arrays are folders within it: what `xarray.open_zarr` opens.
///
/// # Errors
/// [`ErrorKind::File`] when it is an array or a group already, or the system cannot write.
pub fn create_group(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let text = r#"{"zarr_format":3,"node_type":"group","attributes":{}}"#;
    describe("create_group", path, text).map_err(|error: Error| error.within(path.display()))
}

/// The names of the arrays and groups that lie within a group, sorted. They open at `path.join(name)`.
///
/// # Errors
/// [`ErrorKind::File`] when the folder cannot be read.
pub fn keys(path: impl AsRef<Path>) -> Result<Vec<String>> {
    let path = path.as_ref();
    let list = || {
        let mut names = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if entry.path().join(DESCRIPTION).exists() {
                names.extend(entry.file_name().into_string());
            }
        }
        names.sort_unstable();
        Ok(names)
    };
    list().map_err(|error: io::Error| failed("keys", &error).within(path.display()))
}
