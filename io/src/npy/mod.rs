//! npy files: NumPy's format for one array. npz files ([`npz`](crate::npz)) contain several of them.
//!
//! The format has no dim names: they come from the requested type, and [`save`] drops those of a tensor. It does not
//! support `bf16` either.

pub(crate) mod header;

use std::io::{Read, Write};
use std::path::Path;

use nomina::{Device, DynTensor, Error, ErrorKind, Names, Result};
use nomina_runtime::Raw;
use nomina_runtime::call::{contiguous, to_device};
use nomina_runtime::raw::{MappedFile, MappedPart};

use crate::open::{OpenAs, open_refined};
use crate::unsigned::widened;
use header::Header;
use nomina_runtime::file::{self, failed};

/// Loads a file. Its dims are named by position as in the type; the dims of a [`DynTensor`] have no names.
///
/// The file is mapped: elements are in the system's page cache, without a copy, in C or Fortran order. Writing to the
/// tensor never changes the file. Bools, and numbers in the other byte order, are copied.
///
/// **The file must not change** while the tensor lives: writing into the file changes the tensor, and truncating it
/// ends the process when the tensor is read. [`save`] replaces the file, which is safe.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::npy;
/// dims! { N, C }
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("x.npy");
/// npy::save(&path, tensor!([[1., 2.], [3., 4.]]; N, C))?;
/// let x: Tensor<(N, C)> = npy::load(&path)?;
/// let d: DynTensor = npy::load(&path)?;
/// assert_eq!(x.sum(C).to_vec(), [3., 7.]);
/// assert_eq!(d.refine_names(["N", "C"])?.names(), &names!["N", "C"]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Returns [`ErrorKind::File`] if the file cannot be opened or mapped; [`ErrorKind::Parse`] if it is corrupt: its
/// header is truncated or missing, it has fewer or more elements than the header says, or a bool is neither 0 nor 1;
/// [`ErrorKind::DType`] if its elements are not supported, or differ from the type; [`ErrorKind::Rank`] or
/// [`ErrorKind::Shape`] if its dims differ.
pub fn load<X: OpenAs>(path: impl AsRef<Path>) -> Result<X> {
    let path = path.as_ref();
    let load = || open_refined("load", mapped("load", path)?);
    load().map_err(|error: Error| error.within(path.display()))
}

fn mapped(op: &'static str, path: &Path) -> Result<DynTensor> {
    let io = |error: std::io::Error| failed(op, &error);
    let mut file = file::open(path).map_err(io)?;
    let header = header::read(op, &mut file)?;
    let len = file.metadata().map_err(io)?.len();
    let numel = header.numel(op, len)?;
    let flat = if header.swapped {
        header.read(op, &mut file)?
    } else {
        let part = MappedPart {
            start: header.start,
            dtype: header.dtype,
            numel,
        };
        let file = MappedFile::new(op, &file, vec![part])?;
        file.part(op, 0, &header.stored())?
    };
    header.tensor(flat)
}

impl Header {
    /// Returns the number of elements of the array, after checking that they and the header take exactly `len` bytes.
    pub(crate) fn numel(&self, op: &'static str, len: u64) -> Result<usize> {
        let numel = nomina_runtime::shape::numel(op, &self.shape)?;
        let bytes = nomina_runtime::shape::bytes(op, &self.shape, self.dtype)?;
        let there = len.saturating_sub(self.start as u64);
        if there == bytes as u64 {
            return Ok(numel);
        }
        let what = format!(
            "elements of {} take {bytes} bytes, but the file has {there}",
            self.dtype
        );
        let names = Names::unnamed(self.shape.len());
        Err(Error::new(ErrorKind::Parse, op, what).operand(&names, &self.shape))
    }

    /// Returns the sizes of the file's elements as a row-major array.
    fn stored(&self) -> Vec<usize> {
        if self.fortran {
            self.shape.iter().rev().copied().collect()
        } else {
            self.shape.clone()
        }
    }

    /// Reads the elements in this machine's byte order. Memory grows with the elements that are read.
    pub(crate) fn read(&self, op: &'static str, from: &mut impl Read) -> Result<Raw> {
        let expected = nomina_runtime::shape::bytes(op, &self.shape, self.dtype)?;
        let mut bytes = Vec::new();
        let read = from.take(expected as u64).read_to_end(&mut bytes);
        read.map_err(|error| failed(op, &error))?;
        if bytes.len() != expected {
            let what = format!(
                "it ends after {} of {expected} bytes of elements",
                bytes.len()
            );
            return Err(Error::new(ErrorKind::Parse, op, what));
        }
        if self.swapped {
            let size = self.dtype.to_real().size();
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        Raw::from_bytes(op, self.dtype, &self.stored(), &bytes)
    }

    /// Turns the stored elements into a tensor with the array's sizes.
    pub(crate) fn tensor(&self, stored: Raw) -> Result<DynTensor> {
        let stored = if self.unsigned {
            widened("load", stored)?
        } else {
            stored
        };
        let raw = if self.fortran {
            transposed(&stored)?
        } else {
            stored
        };
        let names = Names::unnamed(raw.rank());
        DynTensor::from_parts(raw, names)
    }
}

/// Reverses the dims.
fn transposed(raw: &Raw) -> Result<Raw> {
    let dims: Vec<usize> = (0..raw.rank()).rev().collect();
    raw.permute(&dims)
}

/// Writes a tensor to a file, which appears either complete or not at all: it is written under a temporary name and
/// renamed. Dim names are not stored. A column-major tensor is stored in Fortran order.
///
/// # Errors
/// Returns [`ErrorKind::DType`] for `bf16`, which the format lacks; [`ErrorKind::File`] if the file cannot be written;
/// [`ErrorKind::Memory`] if memory is missing. An existing file is unchanged then.
pub fn save(path: impl AsRef<Path>, tensor: impl Into<DynTensor>) -> Result<()> {
    let tensor = tensor.into();
    file::write("save", path.as_ref(), |out| write("save", out, &tensor))
}

pub(crate) fn write(op: &'static str, out: &mut impl Write, tensor: &DynTensor) -> Result<()> {
    let about = |error: Error| error.operand(tensor.names(), tensor.shape());
    let raw = to_device(&tensor.raw().clone().detach(), Device::Cpu)?;
    let turned = transposed(&raw)?;
    let fortran = !raw.is_contiguous() && turned.is_contiguous();
    let header = header::encode(op, raw.dtype(), fortran, raw.shape()).map_err(about)?;
    let stored = if fortran { turned } else { contiguous(&raw)? };
    let bytes = stored.as_bytes().unwrap_or_default();
    out.write_all(&header)
        .and_then(|()| out.write_all(bytes))
        .map_err(|error| failed(op, &error))
}
