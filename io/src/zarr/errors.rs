//! Errors of metadata and chunks.

use std::fmt;
use std::io;

use nomina::{Error, ErrorKind};
use nomina_runtime::file::failed;

/// Returns the error for metadata that cannot be parsed.
#[cold]
pub(super) fn broken(op: &'static str, what: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Parse, op, what.to_string())
}

/// Returns the error for metadata of another version of the format.
#[cold]
pub(super) fn other_version(op: &'static str, version: u64) -> Error {
    broken(
        op,
        format_args!("zarr version {version} is not supported, only version 3"),
    )
}

/// Returns the error of a chunk: the system's, or that of a corrupt file.
#[cold]
pub(super) fn chunk_failed(op: &'static str, error: &io::Error) -> Error {
    use io::ErrorKind::{InvalidData, InvalidInput, Other, OutOfMemory, UnexpectedEof};
    match error.kind() {
        InvalidData | InvalidInput | Other | UnexpectedEof => {
            Error::new(ErrorKind::Parse, op, error.to_string())
        }
        OutOfMemory => Error::new(ErrorKind::Memory, op, "no memory for the elements"),
        _ => failed(op, error),
    }
}
