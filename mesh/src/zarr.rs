//! zarr arrays, version 3, over a mesh. Each rank writes the chunks of its box. A mesh of any other shape can read the
//! array in its own boxes, and so can any zarr reader.
//!
//! ```
//! use nomina_mesh::prelude::*;
//! use nomina_mesh::zarr;
//! dims! { Time, Lat }
//! mesh! { Line: Rows }
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = &folder.path().join("t");
//! Line::threads([2], |mesh| {
//!     let t: Sharded<(Time, Lat), Line<Split<Time>>> = mesh.whole(tensor!([[1., 2.], [3., 4.], [5., 6.]]; Time, Lat)).cut(Rows, Time);
//!     zarr::save(path, &t.to_dyn())
//! })?;
//! Line::threads([3], |mesh| {
//!     let t: Sharded<(Time, Lat), Line<Split<Time>>> = zarr::open(&mesh, path)?;
//!     assert_eq!(t.local().shape(), [1, 2]);
//!     Ok(())
//! })?;
//! let array = nomina_io::zarr::Zarr::<Tensor<(Time, Lat)>>::open(path)?;
//! assert_eq!(array.chunks(), [2, 2]);
//! # Ok::<(), nomina::Error>(())
//! ```

use std::ops::Range;
use std::panic::Location;
use std::path::Path;

use nomina::dims::{Dims, Distinct};
use nomina::{DynTensor, Element, Error, ErrorKind, Result, Tensor};
use nomina_core::mesh::{AllFinished, Placement};
use nomina_io::zarr::Zarr;

use crate::boxes::{StoredTensor, open_box};
use crate::check::Description;
use crate::dynamic::DynSharded;
use crate::folder::{FolderWrite, Piece};
use crate::mesh::Mesh;
use crate::metadata::Metadata;
use crate::sharded::Sharded;

/// The maximum bytes of an automatically chosen chunk, if the parts allow it.
const MAX_CHUNK_BYTES: usize = 16 << 20;

/// The maximum number of chunks; more are taken for a mistake.
const MAX_CHUNKS: usize = 1 << 16;

/// Writes a tensor to an array, on all ranks. The chunks are chosen to fit the parts: along a split dim, their size
/// divides the start of each part. The array is written under a temporary name and renamed after all ranks have
/// written. Of ranks with the same elements, the first one writes them.
///
/// # Errors
/// Returns an error on all ranks if one fails: [`ErrorKind::File`] if the array exists or cannot be written;
/// [`ErrorKind::Mesh`] if the tensor is pending or local to each rank; [`ErrorKind::Argument`] if the starts of the
/// parts would require more than 65,536 chunks.
#[track_caller]
pub fn save(path: impl AsRef<Path>, tensor: &DynSharded) -> Result<()> {
    write(path.as_ref(), tensor, None, Location::caller())
}

/// Like [`save`], with chunks of the given size along each dim.
///
/// # Errors
/// Like [`save`], and returns [`ErrorKind::Argument`] if a rank's part begins within a chunk, or if `chunks` does not
/// have a size of at least 1 for each dim.
#[track_caller]
pub fn save_with(path: impl AsRef<Path>, tensor: &DynSharded, chunks: &[usize]) -> Result<()> {
    write(path.as_ref(), tensor, Some(chunks), Location::caller())
}

fn write(
    path: &Path,
    tensor: &DynSharded,
    chunks: Option<&[usize]>,
    at: crate::origin::CallSite,
) -> Result<()> {
    let pieces = [(String::new(), Piece::from(tensor.clone()))];
    let piece = &pieces[0].1;
    let (metadata, shared) = (&piece.metadata, &*piece.metadata.shared);
    let write = FolderWrite {
        op: "save",
        at,
        path,
        pieces: &pieces,
    };
    let chunks = match chunks {
        None => fitting_chunks(metadata, piece.local.dtype().size()),
        Some(chunks) => require_fitting(metadata, chunks).map(|()| chunks.to_vec()),
    };
    let (chunks, ready) = match chunks {
        Ok(chunks) => (chunks, Ok(())),
        Err(error) => (Vec::new(), Err(error)),
    };
    let create = |folder: &Path| {
        let (dtype, names) = (piece.local.dtype(), &metadata.names);
        Zarr::<DynTensor>::create(folder, dtype, names, &metadata.sizes, &chunks).map(drop)
    };
    let fill = |folder: &Path| {
        let Some((start, shape)) = piece.extent_to_write(0, &shared.coordinates()) else {
            return Ok(());
        };
        let mut array = Zarr::<DynTensor>::open(folder)?;
        for (dim, (start, size)) in start.iter().zip(&shape).enumerate() {
            // Only dims with names are split.
            if let Some(name) = &metadata.names[dim] {
                array = array.narrow(name.as_str(), *start..start + size)?;
            }
        }
        if piece.local.shape() == shape {
            array.write(&piece.local)
        } else {
            Ok(())
        }
    };
    write.write(shared, ready, create, fill, |_| Ok(()))
}

/// Returns the starts of the parts of a dim.
fn starts(metadata: &Metadata, dim: usize) -> Vec<usize> {
    let splits = |axis: &usize| {
        let place = &metadata.places[*axis];
        place.dim().is_some() && place.dim() == metadata.names[dim].as_ref()
    };
    let axes: Vec<usize> = (0..metadata.places.len()).filter(splits).collect();
    let all: usize = axes.iter().map(|&axis| metadata.ranks(axis)).product();
    let start = |number: usize| {
        // Axes that do not split the dim do not matter.
        let at = |axis: usize| {
            let inner = axes.iter().filter(|&&other| other > axis);
            number / inner.map(|&axis| metadata.ranks(axis)).product::<usize>()
                % metadata.ranks(axis)
        };
        metadata.range_at(dim, at)
    };
    let starts = (0..all).map(start).filter(|&(_, len)| len > 0);
    starts.map(|(start, _)| start).collect()
}

/// Returns the largest chunk sizes that fit the parts, of at most [`MAX_CHUNK_BYTES`] bytes if possible.
fn fitting_chunks(metadata: &Metadata, bytes: usize) -> Result<Vec<usize>> {
    let common = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let dims = 0..metadata.sizes.len();
    let steps: Vec<usize> = dims
        .map(|dim| starts(metadata, dim).into_iter().fold(0, common))
        .collect();
    let whole = steps.iter().zip(&metadata.sizes);
    let mut chunks: Vec<usize> = whole
        .map(|(&step, &size)| if step == 0 { size.max(1) } else { step })
        .collect();
    for dim in 0..chunks.len() {
        let all = chunks
            .iter()
            .fold(bytes, |all, &size| all.saturating_mul(size));
        let most = (chunks[dim] as u128 * MAX_CHUNK_BYTES as u128 / all.max(1) as u128) as usize;
        if all > MAX_CHUNK_BYTES {
            let fits = |size: &usize| steps[dim] == 0 || steps[dim].is_multiple_of(*size);
            chunks[dim] = (1..=most.max(1)).rev().find(fits).unwrap_or(1);
        }
    }
    let counts = chunks.iter().zip(&metadata.sizes);
    let count = counts.map(|(chunk, size)| size.div_ceil(*chunk));
    if count.fold(1, usize::saturating_mul) > MAX_CHUNKS {
        let what = format!("the starts of the ranks' parts allow only chunks of {chunks:?}");
        return Err(Error::new(ErrorKind::Argument, "save", what)
            .operand(&metadata.names, &metadata.sizes)
            .hint("gather the dim first, give it a size that the ranks divide, or save a checkpoint of safetensors files"));
    }
    Ok(chunks)
}

/// Refuses chunks that two ranks would write.
fn require_fitting(metadata: &Metadata, chunks: &[usize]) -> Result<()> {
    let op = "save";
    if chunks.len() != metadata.sizes.len() || chunks.contains(&0) {
        let what = format!("chunks of sizes {chunks:?}");
        return Err(Error::new(ErrorKind::Argument, op, what)
            .operand(&metadata.names, &metadata.sizes)
            .hint("give each dim a size of at least 1"));
    }
    for (dim, &chunk) in chunks.iter().enumerate() {
        let starts = starts(metadata, dim);
        if let Some(start) = starts.iter().find(|start| !start.is_multiple_of(chunk)) {
            let what = format!(
                "chunks of {chunk}, but a rank's part begins at {start}: two ranks would write one chunk"
            );
            return Err(Error::new(ErrorKind::Argument, op, what)
                .operand(&metadata.names, &metadata.sizes)
                .at(0, dim)
                .hint(format!(
                    "give sizes that divide {starts:?}, or none: `save`"
                )));
        }
    }
    Ok(())
}

/// Opens an array in any placement, on all ranks. Each rank reads the chunks that its box intersects.
///
/// # Errors
/// Returns an error on all ranks if [`Zarr::open`] or [`Zarr::read`] fails on one of them.
#[track_caller]
pub fn open<
    M: Placement<Mesh = M>,
    D: Dims + Distinct,
    P: Placement<Mesh = M> + AllFinished,
    T: Element,
>(
    mesh: &Mesh<M>,
    path: impl AsRef<Path>,
) -> Result<Sharded<D, P, T>> {
    let at = Location::caller();
    let open = || Ok(Zarr::<Tensor<D, T>>::open(path.as_ref())?.into_dyn());
    open_box(mesh, Description::new("open", at), at, open)
}

impl StoredTensor for Zarr<DynTensor> {
    fn sizes(&self) -> Vec<usize> {
        self.shape()
    }

    fn narrow(self, dim: &str, range: Range<usize>) -> Result<Self> {
        Self::narrow(&self, dim, range)
    }

    fn read(&self) -> Result<DynTensor> {
        Self::read(self)
    }
}
