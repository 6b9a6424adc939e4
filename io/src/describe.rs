//! Lists of the tensors in a file of any format.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use nomina::{Error, ErrorKind, Result};
use nomina_runtime::file::{self, failed};

use crate::description::TensorDescription;

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
            describe_arrays(path, "", &mut all)?;
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

/// Describes an array of zarr, or those of a group, whose paths begin with `at`.
#[cfg(feature = "zarr")]
fn describe_arrays(path: &Path, at: &str, all: &mut Vec<TensorDescription>) -> Result<()> {
    use crate::foreign::Elements;
    use crate::zarr::{Zarr, keys};

    let text = file::read_to_string(&path.join("zarr.json")).unwrap_or_default();
    let parsed: serde_json::Result<serde_json::Value> = serde_json::from_str(&text);
    if parsed.is_ok_and(|json| json["node_type"] == "group") {
        for name in keys(path)? {
            let slash = if at.is_empty() { "" } else { "/" };
            describe_arrays(&path.join(&name), &format!("{at}{slash}{name}"), all)?;
        }
        return Ok(());
    }
    let array = Zarr::<nomina::DynTensor>::open(path)?;
    let elements = Elements::Own(array.dtype());
    let (names, shape) = (array.names().clone(), array.shape());
    all.push(TensorDescription::new(at, names, &shape, elements));
    Ok(())
}

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
