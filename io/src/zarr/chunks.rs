//! Boxes, chunk by chunk.

use std::fs;
use std::io::{self, Write};

use nomina::{Device, DynTensor, Error, ErrorKind, Name, Result};
use nomina_runtime::Raw;
use nomina_runtime::call::{contiguous, to_device};

use super::Zarr;
use super::boxes::{Part, row_major};
use super::codec::Source;
use super::describe::Described;
use crate::open::{OpenAs, as_it_is};
use nomina_runtime::file::{self, failed};

/// What went wrong with a chunk: the system's doing, or the file's.
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

impl<X: OpenAs> Zarr<X> {
    /// The box as a part of the array, with its elements row by row.
    fn part(&self) -> Part {
        let size = self.shape();
        Part {
            from: self.ranges.iter().map(|range| range.start).collect(),
            to: 0,
            strides: row_major(&size),
            size,
        }
    }

    /// Reads a part of a chunk; what was never written stays as it is.
    fn read_chunk(&self, op: &'static str, key: &str, part: &Part, out: &mut [u8]) -> Result<()> {
        let mut read = || {
            let file = match file::open(&self.path.join(key)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                file => file?,
            };
            let source = Source {
                file: &file,
                start: 0,
                len: file.metadata()?.len(),
            };
            let Described {
                elements,
                chain,
                chunk,
                ..
            } = &*self.array;
            chain.read(elements, source, chunk, part, out)
        };
        read().map_err(|error: io::Error| {
            chunk_failed(op, &error).within(format_args!("chunk {key}"))
        })
    }

    /// Reads the box. Chunks that were never written are the array's fill value. Memory is asked for the box, whatever the
    /// chunks are, and a window of at most 8 MiB where they are packed by zstd.
    ///
    /// # Errors
    /// [`ErrorKind::File`] when a chunk cannot be read, [`ErrorKind::Parse`] when one is broken, [`ErrorKind::Memory`].
    pub fn read(&self) -> Result<X> {
        let op = "read";
        let read = || {
            let Described {
                dtype,
                names,
                elements,
                chunk,
                ..
            } = &*self.array;
            let shape = self.shape();
            let all = elements.filled(&shape);
            let mut all = all.map_err(|error| chunk_failed(op, &error))?;
            self.part().each_chunk(chunk, |index, part| {
                self.read_chunk(op, &self.array.key(index), &part, &mut all)
            })?;
            let mut raw = Raw::from_bytes(op, *dtype, &shape, &all)?;
            if let Some(packing) = &self.packing {
                drop(all);
                raw = packing.decode(raw, self.dtype)?;
            }
            as_it_is(op, DynTensor::from_parts(raw, names.clone())?)
        };
        read().map_err(|error: Error| error.within(self.path.display()))
    }

    /// Writes all of the box. Each chunk is there as a whole or as it was; of those that the box meets in part, the rest is
    /// read first. Memory is asked for one chunk at a time.
    ///
    /// # Errors
    /// [`ErrorKind::NameMismatch`], [`ErrorKind::Shape`] or [`ErrorKind::DType`] when the tensor is another than the box;
    /// [`ErrorKind::Argument`] when an element cannot be packed as the array's attributes say; [`ErrorKind::File`] when the
    /// system cannot write, [`ErrorKind::Parse`] when a chunk that is there is broken,
    /// [`ErrorKind::Memory`]. Chunks that were written before stay so.
    pub fn write(&self, tensor: &X) -> Result<()> {
        let op = "write";
        let write = || {
            let tensor = tensor.dynamic();
            self.check(op, &tensor)?;
            let shape = self.shape();
            let mut raw = to_device(&tensor.into_parts().0.detach(), Device::Cpu)?;
            if let Some(packing) = &self.packing {
                raw = packing.encode(op, &raw)?;
            }
            let raw = contiguous(&raw)?;
            let elements = raw.as_bytes().unwrap_or_default();
            self.part().each_chunk(&self.array.chunk, |index, part| {
                self.write_chunk(op, index, part, &shape, elements)
            })
        };
        write().map_err(|error: Error| error.within(self.path.display()))
    }

    /// Puts a part of a box, whose sizes and elements these are, into a chunk.
    fn write_chunk(
        &self,
        op: &'static str,
        index: &[usize],
        part: Part,
        shape: &[usize],
        bytes: &[u8],
    ) -> Result<()> {
        let Described {
            shape: all,
            elements,
            chain,
            chunk,
            ..
        } = &*self.array;
        let key = self.array.key(index);
        let about = |error: io::Error| chunk_failed(op, &error).within(format_args!("chunk {key}"));
        let strides = row_major(chunk);
        let mut whole = elements.filled(chunk).map_err(about)?;
        // What of the chunk lies within the array.
        let begins: Vec<usize> = index
            .iter()
            .zip(chunk)
            .map(|(at, size)| at * size)
            .collect();
        let inside = all.iter().zip(&begins).zip(chunk);
        let inside = inside.map(|((all, begin), size)| (all - begin).min(*size));
        if !part.size.iter().copied().eq(inside) {
            let old = Part::whole(chunk, 0, strides.clone());
            self.read_chunk(op, &key, &old, &mut whole)?;
        }
        // From where it lies in the box to where it lies in the chunk.
        let to = part.from.iter().zip(&strides).map(|(at, by)| at * by).sum();
        let dims = 0..chunk.len();
        let new = Part {
            from: dims
                .map(|dim| begins[dim] + part.from[dim] - self.ranges[dim].start)
                .collect(),
            size: part.size,
            to,
            strides,
        };
        new.read(shape, elements.size, &mut &bytes[..], &mut whole)
            .map_err(about)?;
        let packed = chain.write(elements, chunk, whole).map_err(about)?;
        let path = self.path.join(&key);
        let folder = path.parent().unwrap_or(&self.path);
        fs::create_dir_all(folder).map_err(|error| failed(op, &error))?;
        file::write(op, &path, |out| {
            out.write_all(&packed).map_err(|error| failed(op, &error))
        })
    }

    fn check(&self, op: &'static str, tensor: &DynTensor) -> Result<()> {
        let shape = self.shape();
        let refused = |kind, what: &str| {
            Err(Error::new(kind, op, what)
                .operand(tensor.names(), tensor.shape())
                .operand(&self.array.names, &shape))
        };
        let other = |(ours, theirs): (&Option<Name>, &Option<Name>)| {
            ours.is_some() && theirs.is_some() && ours != theirs
        };
        if tensor.dtype() != self.dtype {
            let what = format!(
                "elements of {} into an array of {}",
                tensor.dtype(),
                self.dtype
            );
            return refused(ErrorKind::DType, &what);
        }
        if tensor.shape() != shape {
            return refused(ErrorKind::Shape, "a tensor of other sizes than the box");
        }
        match tensor.names().iter().zip(&self.array.names).any(other) {
            true => refused(
                ErrorKind::NameMismatch,
                "a tensor of other dims than the array",
            ),
            false => Ok(()),
        }
    }
}
