//! Lists of the tensors in a file of any format.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use nomina::{DType, Error, ErrorKind, Names, Result};
use nomina_runtime::file::{self, failed};

use crate::foreign::{Elements, ForeignDType};

/// A format of files that hold several tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// [`safetensors`](crate::safetensors): a file.
    SafeTensors,
    /// [`safetensors`](crate::safetensors): a folder of files.
    Checkpoint,
    /// [`pth`](crate::pth): a file of PyTorch.
    Pth,
    /// [`npz`](crate::npz): a file of NumPy.
    Npz,
    /// [`zarr`](crate::zarr): an array, or a group of arrays.
    Zarr,
}

/// A tensor in a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TensorDescription {
    /// The name in the file: a path, in a zarr group with slashes.
    pub path: String,
    /// The names of the dims.
    pub names: Names,
    /// The sizes of the dims.
    pub shape: Vec<usize>,
    /// The dtype of the tensor when it is opened; for a foreign dtype, one that holds its elements.
    pub dtype: DType,
    /// The dtype in the file, if tensors lack it.
    pub foreign: Option<ForeignDType>,
}

impl TensorDescription {
    pub(crate) fn new(path: &str, names: Names, shape: &[usize], elements: Elements) -> Self {
        let (dtype, foreign) = match elements {
            Elements::Own(dtype) => (dtype, None),
            Elements::Foreign(foreign) => (foreign.fitting(), Some(foreign)),
        };
        Self {
            path: path.to_owned(),
            names,
            shape: shape.to_vec(),
            dtype,
            foreign,
        }
    }
}

/// Lists the tensors of a file, sorted by their paths. Their elements are not read.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::{Format, describe, safetensors};
/// dims! { Out, In }
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// safetensors::save(&path, [("w", Tensor::<(Out, In)>::ones([2, 3]))])?;
/// let (format, tensors) = describe(&path)?;
/// assert_eq!((format, &tensors[0].path[..]), (Format::SafeTensors, "w"));
/// assert_eq!((&tensors[0].names, &tensors[0].shape[..]), (&names!["Out", "In"], &[2, 3][..]));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Returns the errors of opening a file of its format; [`ErrorKind::Parse`] if it has none of them; and
/// [`ErrorKind::DType`] if the elements of a tensor have a dtype that cannot be read.
pub fn describe(path: impl AsRef<Path>) -> Result<(Format, Vec<TensorDescription>)> {
    let path = path.as_ref();
    let format = find_format(path).map_err(|error| error.within(path.display()))?;
    let tensors = match format {
        #[cfg(feature = "safetensors")]
        Format::SafeTensors => crate::safetensors::SafeTensors::open(path)?.describe()?,
        #[cfg(feature = "safetensors")]
        Format::Checkpoint => crate::safetensors::Checkpoint::open(path)?.describe()?,
        #[cfg(feature = "pth")]
        Format::Pth => crate::pth::Pth::open(path)?.describe(),
        #[cfg(feature = "npz")]
        Format::Npz => crate::npz::Npz::open(path)?.describe()?,
        #[cfg(feature = "zarr")]
        Format::Zarr => {
            let mut all = Vec::new();
            crate::zarr::describe_all(path, "", &mut all)?;
            all
        }
        #[allow(unreachable_patterns)]
        format => {
            let what = format!("the feature of {format:?} is off");
            return Err(Error::new(ErrorKind::Parse, OP, what).within(path.display()));
        }
    };
    Ok((format, tensors))
}

const OP: &str = "describe";

/// Finds the format of a file by its first bytes and the names in it.
fn find_format(path: &Path) -> Result<Format> {
    let io = |error: std::io::Error| failed(OP, &error);
    if path.is_dir() {
        let is_zarr = path.join("zarr.json").exists()
            || path.join(".zgroup").exists()
            || path.join(".zarray").exists();
        return Ok(if is_zarr {
            Format::Zarr
        } else {
            Format::Checkpoint
        });
    }
    let start = start_of(&file::open(path).map_err(io)?)?;
    match start[..] {
        // The length of a safetensors header, and its brace.
        [_, _, _, _, _, 0, 0, 0, b'{', ..] => Ok(Format::SafeTensors),
        [b'P', b'K', ..] if has_arrays(path) => Ok(Format::Npz),
        [b'P', b'K', ..] | [0x80, ..] => Ok(Format::Pth),
        _ => {
            let what = "neither safetensors, zarr, npz nor a file of PyTorch";
            Err(Error::new(ErrorKind::Parse, OP, what))
        }
    }
}

fn start_of(file: &File) -> Result<Vec<u8>> {
    let mut start = Vec::new();
    let read = file.take(9).read_to_end(&mut start);
    read.map_err(|error| failed(OP, &error))?;
    Ok(start)
}

#[cfg(feature = "npz")]
fn has_arrays(path: &Path) -> bool {
    crate::npz::Npz::open(path).is_ok_and(|file| !file.keys().is_empty())
}

#[cfg(not(feature = "npz"))]
fn has_arrays(_: &Path) -> bool {
    false
}
