//! Reading and writing of boxes, chunk by chunk.

use std::fs;
use std::io::{self, Write};

use nomina::{Device, DynTensor, Error, ErrorKind, Name, Result};
use nomina_runtime::Raw;
use nomina_runtime::call::{contiguous, to_device};

use super::Zarr;
use super::array_box::{ArrayBox, row_major};
use super::array_metadata::ArrayMetadata;
use super::codec::Source;
use super::errors::chunk_failed;
use crate::open::{OpenAs, open_as};
use crate::unsigned::{narrowed, widened};
use nomina_runtime::file::{self, failed};

impl<X: OpenAs> Zarr<X> {
    /// Returns the box as a part of the array, with a row-major destination.
    fn part(&self) -> ArrayBox {
        let size = self.shape();
        ArrayBox {
            from: self.ranges.iter().map(|range| range.start).collect(),
            to: 0,
            strides: row_major(&size),
            size,
        }
    }

    /// Reads a part of a chunk. If the chunk was never written, `out` is unchanged.
    fn read_chunk(
        &self,
        op: &'static str,
        key: &str,
        part: &ArrayBox,
        out: &mut [u8],
    ) -> Result<()> {
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
            let ArrayMetadata {
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

    /// Reads the box. Chunks that were never written have the array's fill value. Allocates memory for the box,
    /// whatever the size of the chunks, and for zstd a window of at most 8 MiB.
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if a chunk cannot be read, [`ErrorKind::Parse`] if a chunk is corrupt, and
    /// [`ErrorKind::Memory`] if memory is missing.
    pub fn read(&self) -> Result<X> {
        let op = "read";
        let read = || {
            let ArrayMetadata { dtype, names, .. } = &*self.array;
            let all = self.read_bytes(op)?;
            let mut raw = Raw::from_bytes(op, *dtype, &self.shape(), &all)?;
            drop(all);
            if self.array.unsigned {
                raw = widened(op, raw)?;
            }
            if let Some(packing) = &self.packing {
                raw = packing.decode(raw, self.dtype)?;
            }
            open_as(op, DynTensor::from_parts(raw, names.clone())?)
        };
        read().map_err(|error: Error| error.within(self.path.display()))
    }

    /// Reads the bytes of the box's elements.
    pub(super) fn read_bytes(&self, op: &'static str) -> Result<Vec<u8>> {
        let ArrayMetadata {
            elements, chunk, ..
        } = &*self.array;
        let all = elements.filled(&self.shape());
        let mut all = all.map_err(|error| chunk_failed(op, &error))?;
        self.part().each_chunk(chunk, |index, part| {
            self.read_chunk(op, &self.array.key(index), &part, &mut all)
        })?;
        Ok(all)
    }

    /// Writes all of the box. Each chunk is replaced atomically; a chunk that the box covers partly is read first.
    /// Allocates memory for one chunk at a time.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameMismatch`], [`ErrorKind::Shape`] or [`ErrorKind::DType`] if the tensor does not match
    /// the box; [`ErrorKind::Argument`] if an element cannot be packed with the array's attributes; [`ErrorKind::File`]
    /// if a chunk cannot be written; [`ErrorKind::Parse`] if an existing chunk is corrupt; [`ErrorKind::Memory`] if
    /// memory is missing. Chunks that were written before the error remain written.
    pub fn write(&self, tensor: &X) -> Result<()> {
        let op = "write";
        let write = || {
            let tensor = tensor.dynamic();
            self.check(op, &tensor)?;
            let mut raw = to_device(&tensor.into_parts().0.detach(), Device::Cpu)?;
            if let Some(packing) = &self.packing {
                raw = packing.encode(op, &raw)?;
            }
            if self.array.unsigned {
                raw = narrowed(op, raw, self.array.dtype)?;
            }
            self.part().each_chunk(&self.array.chunk, |index, part| {
                self.write_chunk(op, index, part, raw.clone())
            })
        };
        write().map_err(|error: Error| error.within(self.path.display()))
    }

    /// Writes a part of a chunk; `source` has the elements of the box.
    fn write_chunk(
        &self,
        op: &'static str,
        index: &[usize],
        part: ArrayBox,
        mut source: Raw,
    ) -> Result<()> {
        let ArrayMetadata {
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
        // The sizes of the part of the chunk that is within the array.
        let begins: Vec<usize> = index
            .iter()
            .zip(chunk)
            .map(|(at, size)| at * size)
            .collect();
        let inside = all.iter().zip(&begins).zip(chunk);
        let inside = inside.map(|((all, begin), size)| (all - begin).min(*size));
        if !part.size.iter().copied().eq(inside) {
            let old = ArrayBox::whole(chunk, 0, strides.clone());
            self.read_chunk(op, &key, &old, &mut whole)?;
        }
        for (dim, &size) in part.size.iter().enumerate() {
            let start = begins[dim] + part.from[dim] - self.ranges[dim].start;
            source = source.narrow(dim, start, size)?;
        }
        let source = contiguous(&source)?;
        // Copies to the position in the chunk.
        let to = part.from.iter().zip(&strides).map(|(at, by)| at * by).sum();
        let new = ArrayBox::whole(&part.size, to, strides);
        let mut bytes = source.as_bytes().unwrap_or_default();
        new.read(&part.size, elements.size, &mut bytes, &mut whole)
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
                "elements are {}, the array is {}",
                tensor.dtype(),
                self.dtype
            );
            return refused(ErrorKind::DType, &what);
        }
        if tensor.shape() != shape {
            return refused(ErrorKind::Shape, "the sizes of tensor and box differ");
        }
        if tensor.names().iter().zip(&self.array.names).any(other) {
            refused(
                ErrorKind::NameMismatch,
                "the dims of tensor and array differ",
            )
        } else {
            Ok(())
        }
    }
}
