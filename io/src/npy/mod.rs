//! npy files: NumPy's format for one array, and npz files, which are several of them ([`npz`](crate::npz)).
//!
//! The format has no names: the type that is asked for says them, and [`save`] drops those that a tensor has. Elements of
//! `bf16` it does not have either.

pub(crate) mod header;

use std::io::{Read, Write};
use std::path::Path;

use nomina::{Device, DynTensor, Error, ErrorKind, Names, Result};
use nomina_runtime::Raw;
use nomina_runtime::call::{contiguous, to_device};
use nomina_runtime::raw::{MappedFile, MappedPart};

use crate::open::{OpenAs, refined};
use header::Header;
use nomina_runtime::file::{self, failed};

/// Opens a file. Its dims have the names that the type says, by position; those of a [`DynTensor`] have none.
///
/// The file is mapped: elements lie in the system's page cache, without a copy, also in Fortran's order. Writing to the tensor
/// changes memory and never the file. Truth values, and numbers in the other byte order, are copied.
///
/// **The file must stay as it is** while the tensor lives: who writes into it changes the tensor, and who truncates it ends
/// the process when it is read. [`save`] replaces a file, which does no harm.
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
/// [`ErrorKind::File`] when the system cannot open or map it; [`ErrorKind::Parse`] when it is broken: a header that is cut off
/// or none, fewer or more elements than it says, a truth value that is neither 0 nor 1; [`ErrorKind::DType`] when its
/// elements are none of ours, or others than the type says; [`ErrorKind::Rank`] or [`ErrorKind::Shape`] when its dims are
/// others.
pub fn load<X: OpenAs>(path: impl AsRef<Path>) -> Result<X> {
    let path = path.as_ref();
    let load = || refined("load", mapped("load", path)?);
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
    /// The number of elements of an array that `len` bytes hold, with the header: no more, no less.
    pub(crate) fn numel(&self, op: &'static str, len: u64) -> Result<usize> {
        let numel = nomina_runtime::shape::numel(op, &self.shape)?;
        let bytes = nomina_runtime::shape::bytes(op, &self.shape, self.dtype)?;
        let there = len.saturating_sub(self.start as u64);
        if there == bytes as u64 {
            return Ok(numel);
        }
        let what = format!(
            "elements of {} take {bytes} bytes, and the file has {there}",
            self.dtype
        );
        let names = Names::unnamed(self.shape.len());
        Err(Error::new(ErrorKind::Parse, op, what).operand(&names, &self.shape))
    }

    /// The sizes of what lies in the file row by row.
    fn stored(&self) -> Vec<usize> {
        match self.fortran {
            false => self.shape.clone(),
            true => self.shape.iter().rev().copied().collect(),
        }
    }

    /// A copy of the elements, in this machine's byte order. Memory is asked for as elements come.
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

    /// Elements as they were stored, with the sizes that the array has.
    pub(crate) fn tensor(&self, stored: Raw) -> Result<DynTensor> {
        let raw = match self.fortran {
            false => stored,
            true => transposed(&stored)?,
        };
        let names = Names::unnamed(raw.rank());
        DynTensor::from_parts(raw, names)
    }
}

/// The dims the other way round.
fn transposed(raw: &Raw) -> Result<Raw> {
    let dims: Vec<usize> = (0..raw.rank()).rev().collect();
    raw.permute(&dims)
}

/// Writes a tensor to a file, which is there as a whole or not at all: it is written beside its place and moved there. Its
/// names are not in it. A tensor that lies column by column is stored so, in Fortran's order.
///
/// # Errors
/// [`ErrorKind::DType`] for `bf16`, which the format lacks; [`ErrorKind::File`] when the system cannot write;
/// [`ErrorKind::Memory`]. What was there before stays then.
pub fn save(path: impl AsRef<Path>, tensor: impl Into<DynTensor>) -> Result<()> {
    let tensor = tensor.into();
    file::write("save", path.as_ref(), |out| write("save", out, &tensor))
}

pub(crate) fn write(op: &'static str, out: &mut impl Write, tensor: &DynTensor) -> Result<()> {
    let about = |error: Error| error.operand(tensor.names(), tensor.shape());
    let raw = to_device(&tensor.raw().clone().detach(), Device::Cpu)?;
    let turned = transposed(&raw)?;
    let fortran = !raw.is_contiguous() && turned.is_contiguous();
    let header = header::written(op, raw.dtype(), fortran, raw.shape()).map_err(about)?;
    let stored = if fortran { turned } else { contiguous(&raw)? };
    let bytes = stored.as_bytes().unwrap_or_default();
    out.write_all(&header)
        .and_then(|()| out.write_all(bytes))
        .map_err(|error| failed(op, &error))
}
