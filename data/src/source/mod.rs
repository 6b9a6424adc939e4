//! Stored variables: what formats have in common.

#[cfg(feature = "netcdf")]
mod netcdf;
mod zarr;

use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use nomina::{DType, DynTensor, Error, ErrorKind, Result};

use crate::attributes::Attributes;

/// An open file.
pub(crate) trait Source: Debug + Send + Sync {
    /// Reads a box of a variable as stored, without names.
    fn read(&self, variable: &str, ranges: &[Range<usize>]) -> Result<DynTensor>;

    /// Reads all texts of a variable, in row-major order.
    fn read_text(&self, variable: &str) -> Result<Vec<String>>;
}

/// The elements of a stored variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoredType {
    /// Numbers; unsigned integers are read in the next wider dtype.
    Number(DType),
    /// Texts.
    Text,
}

/// The metadata of a stored variable.
#[derive(Clone, Debug)]
pub(crate) struct StoredVariable {
    pub(crate) name: String,
    pub(crate) dims: Vec<String>,
    pub(crate) shape: Vec<usize>,
    pub(crate) stored: StoredType,
    pub(crate) attributes: Attributes,
    /// The sizes of the chunks in the file, if it has some.
    pub(crate) chunks: Option<Vec<usize>>,
}

/// The metadata of an open file.
pub(crate) struct Stored {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) variables: Vec<StoredVariable>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) attributes: Attributes,
}

/// A variable of a file whose elements no tensor has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name in the file.
    pub name: String,
    /// The reason.
    pub why: String,
}

/// Opens a file of any format, by its content.
pub(crate) fn open(path: &Path, group: Option<&str>) -> Result<Stored> {
    let op = "open";
    let opened = if path.is_dir() {
        zarr::open(path, group)
    } else {
        open_file(op, path, group)
    };
    opened.map_err(|error: Error| error.in_op(op).within(path.display()))
}

#[cfg(feature = "netcdf")]
fn open_file(_: &'static str, path: &Path, group: Option<&str>) -> Result<Stored> {
    netcdf::open(path, group)
}

#[cfg(not(feature = "netcdf"))]
fn open_file(op: &'static str, path: &Path, _: Option<&str>) -> Result<Stored> {
    let what = if path.exists() {
        "files of netCDF need the feature `netcdf` of nomina-data"
    } else {
        "the file does not exist"
    };
    Err(Error::new(ErrorKind::File, op, what))
}

/// Returns the error of a file that cannot be read.
#[cold]
pub(crate) fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Parse, "read", what.to_string())
}
