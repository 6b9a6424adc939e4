//! Checkpoints of safetensors files. Each rank writes its piece to its own file; a mesh of any other shape can read
//! them, and so can a program without a mesh, by [`nomina_io::safetensors::Checkpoint`].
//!
//! ```
//! use nomina_mesh::prelude::*;
//! use nomina_mesh::safetensors::{self, Checkpoint};
//! dims! { Batch, Feature }
//! mesh! { Grid: Data, Model }
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = &folder.path().join("step-10");
//! Grid::threads([2, 2], |mesh| {
//!     let w = mesh.whole(tensor!([[1., 2.], [3., 4.], [5., 6.]]; Batch, Feature));
//!     let w: Sharded<(Batch, Feature), Grid<Split<Batch>, Split<Feature>>> = w.cut(Data, Batch).cut(Model, Feature);
//!     safetensors::save(&mesh, path, [("w", w.to_dyn()), ("rng", mesh.get_rng_state()?)])
//! })?;
//! Grid::threads([1, 3], |mesh| {
//!     let checkpoint = Checkpoint::open(&mesh, path)?;
//!     let w: Sharded<(Batch, Feature), Grid<Whole, Split<Batch>>> = checkpoint.tensor("w")?;
//!     mesh.set_rng_state(&checkpoint.tensor_dyn("rng", &[])?)?;
//!     assert_eq!(w.local().shape(), [1, 2]);
//!     Ok(())
//! })?;
//! let alone = nomina_io::safetensors::Checkpoint::open(path)?;
//! let w: Tensor<(Batch, Feature)> = alone.tensor("w")?;
//! # assert_eq!(w.to_vec(), [1., 2., 3., 4., 5., 6.]);
//! # Ok::<(), nomina::Error>(())
//! ```

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::panic::Location;
use std::path::Path;

use nomina::dims::{Dims, Distinct};
use nomina::{DynTensor, Element, Error, ErrorKind, Name, Names, Result};
use nomina_core::mesh::value::Place;
use nomina_core::mesh::{AllFinished, Placement};
use nomina_io::safetensors as files;

use crate::check::Description;
use crate::dynamic::DynSharded;
use crate::folder::FolderWrite;
pub use crate::folder::Piece;
use crate::mesh::Mesh;
use crate::metadata::Metadata;
use crate::origin::{CallSite, Origin};
use crate::sharded::{Sharded, places};

/// Returns the name of a rank's file.
fn file(rank: usize, ranks: usize) -> String {
    format!("model-{:05}-of-{ranks:05}.safetensors", rank + 1)
}

/// Writes tensors to a folder, on all ranks. Each rank writes its piece to its own file; of ranks with the same
/// elements, one writes them. The first rank writes the index, `model.safetensors.index.json`. A tensor that no axis
/// splits is in a single file.
///
/// The folder is written under the name `.name.partial` and renamed after all ranks have written, so that it appears
/// either complete or not at all.
///
/// # Errors
/// Returns an error on all ranks if one fails: [`ErrorKind::File`] if the folder exists or cannot be written;
/// [`ErrorKind::Mesh`] if a tensor is pending or local to each rank, or if ranks save different tensors; otherwise an
/// error of [`nomina_io::safetensors::save`].
#[track_caller]
pub fn save<M: Placement<Mesh = M>, K: Into<String>, X: Into<Piece>>(
    mesh: &Mesh<M>,
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (K, X)>,
) -> Result<()> {
    let at = Location::caller();
    let pieces = tensors.into_iter();
    let pieces: Vec<(String, Piece)> = pieces
        .map(|(name, piece)| (name.into(), piece.into()))
        .collect();
    let shared = &*mesh.shared;
    let ranks = shared.all_coordinates().count();
    let write = FolderWrite {
        op: "save",
        at,
        path: path.as_ref(),
        pieces: &pieces,
    };
    let mut seen = HashSet::new();
    let twice = pieces.iter().find(|(name, _)| !seen.insert(&name[..]));
    let ready = twice.map_or(Ok(()), |(name, _)| {
        let what = format!("`{name}` is repeated");
        Err(Error::new(ErrorKind::Argument, "save", what))
    });
    let fill = |folder: &Path| {
        let own = shared.coordinates();
        let mut parts = Vec::new();
        for (number, (name, piece)) in pieces.iter().enumerate() {
            let Some((start, shape)) = piece.extent_to_write(number, &own) else {
                continue;
            };
            let tensor = match piece.local.shape() == shape {
                true => piece.local.clone(),
                // A tensor without elements is written as a part of other sizes.
                false => DynTensor::options()
                    .dtype(piece.local.dtype())
                    .zeros(&shape, piece.local.names().clone())?,
            };
            parts.push((&name[..], start, tensor));
        }
        let rank = shared.all_coordinates().position(|place| place == own);
        if parts.is_empty() {
            Ok(())
        } else {
            files::save_parts(folder.join(file(rank.unwrap_or(0), ranks)), parts)
        }
    };
    let complete = |folder: &Path| {
        let mut parts = Vec::new();
        for (number, (name, piece)) in pieces.iter().enumerate() {
            for (rank, place) in shared.all_coordinates().enumerate() {
                if let Some((start, shape)) = piece.extent_to_write(number, &place) {
                    parts.push(files::PartAt {
                        name: name.clone(),
                        file: file(rank, ranks),
                        start,
                        shape,
                        dtype: piece.local.dtype(),
                    });
                }
            }
        }
        files::save_index(folder, parts)
    };
    write.write(shared, ready, |_| Ok(()), fill, complete)
}

/// A checkpoint read by the ranks of a mesh: one that [`save`] wrote on any mesh, or any other that
/// [`nomina_io::safetensors::Checkpoint`] reads. Each rank reads only the elements that it holds.
///
/// All ranks make the same calls and exchange the outcomes: an error on one rank is an error on all.
pub struct Checkpoint<M> {
    mesh: Mesh<M>,
    files: files::Checkpoint,
}

impl<M: Placement<Mesh = M>> Checkpoint<M> {
    /// Opens a folder or a file on all ranks. Reads only its index.
    ///
    /// # Errors
    /// Returns an error on all ranks if [`nomina_io::safetensors::Checkpoint::open`] fails on one of them.
    #[track_caller]
    pub fn open(mesh: &Mesh<M>, path: impl AsRef<Path>) -> Result<Self> {
        let at = Location::caller();
        let files = files::Checkpoint::open(path).map(|files| (files, Vec::new()));
        let shared = &mesh.shared;
        Ok(Self {
            files: shared.agree_on_outcome(
                Description::new("open", at),
                ErrorKind::Mesh,
                0,
                files,
            )?,
            mesh: mesh.clone(),
        })
    }

    /// Returns the names of the tensors, sorted.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.files.keys()
    }

    /// Reads a tensor in any placement, and checks its names, constant sizes and dtype.
    ///
    /// # Errors
    /// Returns an error on all ranks if [`nomina_io::safetensors::Checkpoint::tensor`] fails on one of them.
    #[track_caller]
    pub fn tensor<D: Dims + Distinct, P: Placement<Mesh = M> + AllFinished, T: Element>(
        &self,
        name: &str,
    ) -> Result<Sharded<D, P, T>> {
        self.typed("tensor", name, Location::caller(), false)
    }

    /// Like [`tensor`](Self::tensor), but dims that have no name in the files take their names from the type.
    ///
    /// # Errors
    /// Like [`tensor`](Self::tensor).
    #[track_caller]
    pub fn refine<D: Dims + Distinct, P: Placement<Mesh = M> + AllFinished, T: Element>(
        &self,
        name: &str,
    ) -> Result<Sharded<D, P, T>> {
        self.typed("refine", name, Location::caller(), true)
    }

    fn typed<D: Dims + Distinct, P: Placement<Mesh = M>, T: Element>(
        &self,
        op: &'static str,
        name: &str,
        at: CallSite,
        refine: bool,
    ) -> Result<Sharded<D, P, T>> {
        let names = Names::from_static(D::NAMES);
        let read = || {
            let sizes = self.files.shape(name)?;
            if sizes.len() != D::RANK {
                let what = format!("{} dims, but the type has {names}", sizes.len());
                let error = Error::new(ErrorKind::Rank, op, what);
                return Err(error.within(format_args!("`{name}`")));
            }
            let metadata = self.metadata(at, names.clone(), sizes, places::<P>());
            let ranges = ranges(&metadata);
            let local = if refine {
                let read: DynTensor = self.files.part(name, &ranges)?;
                let given = read.names().iter().zip(names.iter());
                let given: Vec<Option<Name>> = given
                    .map(|(own, given)| own.clone().or_else(|| given.clone()))
                    .collect();
                DynTensor::from_parts(read.into_parts().0, Names::new(given)?)?.try_into()?
            } else {
                self.files.part(name, &ranges)?
            };
            Ok(((local, metadata.sizes.clone()), metadata.sizes))
        };
        let kind = ErrorKind::Mesh;
        let description = Description {
            extra: name,
            ..Description::new(op, at)
        };
        let read = self
            .mesh
            .shared
            .agree_on_outcome(description, kind, D::RANK, read())?;
        Ok(Sharded {
            local: read.0,
            sizes: read.1,
            origin: self.mesh.shared.origin(at).with_name(name),
            mesh: self.mesh.clone(),
        })
    }

    fn metadata(
        &self,
        at: CallSite,
        names: Names,
        sizes: Vec<usize>,
        places: Vec<Place>,
    ) -> Metadata {
        Metadata {
            names,
            sizes,
            places,
            origin: Origin::of_local(at),
            shared: self.mesh.shared.clone(),
        }
    }

    /// Reads a tensor with the names and the dtype of the files. `places` has its state along each axis; further axes
    /// are whole.
    ///
    /// # Errors
    /// Returns an error on all ranks if one fails: [`ErrorKind::Argument`] if there are more states than axes;
    /// [`ErrorKind::Mesh`] if a state is pending; [`ErrorKind::NameNotFound`] if the tensor lacks a dim that is split;
    /// otherwise an error of [`tensor`](Self::tensor).
    #[track_caller]
    pub fn tensor_dyn(&self, name: &str, places: &[Place]) -> Result<DynSharded> {
        let (op, at) = ("tensor", Location::caller());
        let read = || {
            let sizes = self.files.shape(name)?;
            // Reads the names, and no elements.
            let none: Vec<Range<usize>> = sizes.iter().map(|_| 0..0).collect();
            let names = self.files.part::<DynTensor>(name, &none)?.names().clone();
            let axes = self.mesh.shared.axes.len();
            if places.len() > axes {
                let what = format!("{} states, but the mesh has {axes} axes", places.len());
                return Err(Error::new(ErrorKind::Argument, op, what));
            }
            let mut places = places.to_vec();
            places.resize(axes, Place::Whole);
            let metadata = self.metadata(at, names, sizes, places);
            metadata.require_loadable(op)?;
            let local = self.files.part(name, &ranges(&metadata))?;
            let sizes = metadata.sizes.clone();
            Ok((DynSharded::from_metadata(local, metadata), sizes))
        };
        // All ranks read the sizes from the files, and compare them.
        let rank = self.files.shape(name).map_or(0, |sizes| sizes.len());
        let shared = &self.mesh.shared;
        let description = Description {
            extra: name,
            ..Description::new(op, at)
        };
        let found = shared.agree_on_outcome(description, ErrorKind::Mesh, rank, read())?;
        Ok(found.with_origin(shared.origin(at).with_name(name)))
    }

    /// Reads a box of a tensor, on this rank alone.
    pub(crate) fn part(&self, name: &str, ranges: &[Range<usize>]) -> Result<DynTensor> {
        self.files.part(name, ranges)
    }

    /// Returns the sizes of a tensor.
    pub(crate) fn shape(&self, name: &str) -> Result<Vec<usize>> {
        self.files.shape(name)
    }

    pub(crate) fn mesh(&self) -> &Mesh<M> {
        &self.mesh
    }
}

impl<M: Placement> fmt::Debug for Checkpoint<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoint")
            .field("mesh", &self.mesh)
            .field("files", &self.files)
            .finish()
    }
}

/// Returns the ranges of this rank's piece.
fn ranges(metadata: &Metadata) -> Vec<Range<usize>> {
    let dims = 0..metadata.sizes.len();
    dims.map(|dim| {
        let (start, len) = metadata.range(dim, None);
        start..start + len
    })
    .collect()
}
