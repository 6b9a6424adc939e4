//! Folders that all ranks write to, and that appear either complete or not at all.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use nomina::{DynTensor, Error, ErrorKind, Result};
use nomina_core::mesh::value::Place;
use nomina_runtime::file::{self, failed};

use crate::check::{Description, TensorDescription};
use crate::dynamic::DynSharded;
use crate::metadata::Metadata;
use crate::origin::CallSite;
use crate::partition::part;
use crate::ranks::Job;
use crate::shared::Shared;

/// A rank's piece of a tensor to be saved: a [`DynSharded`], or a part of an optimizer's state.
#[derive(Clone)]
pub struct Piece {
    pub(crate) metadata: Metadata,
    pub(crate) local: DynTensor,
    /// An axis along which the rows are split as well, although `metadata` says that each rank has all of them.
    pub(crate) rows: Option<usize>,
}

impl std::fmt::Debug for Piece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Piece")
            .field("sizes", &self.metadata.sizes)
            .field("places", &self.metadata.places)
            .field("local", &self.local)
            .finish_non_exhaustive()
    }
}

impl From<DynSharded> for Piece {
    fn from(tensor: DynSharded) -> Self {
        Self {
            metadata: tensor.metadata(),
            local: tensor.local().detach(),
            rows: None,
        }
    }
}

/// The start of a part of a tensor in each dim, and its sizes.
pub(crate) type Extent = (Vec<usize>, Vec<usize>);

impl Piece {
    /// Refuses a tensor of another mesh, one with pending values, and one whose pieces are unrelated tensors.
    pub(crate) fn require_saveable(&self, op: &'static str, shared: &Shared) -> Result<()> {
        if !self.metadata.shared.is_same(shared) {
            return Err(Error::new(ErrorKind::Mesh, op, "a tensor of another mesh"));
        }
        for (axis, place) in self.metadata.places.iter().enumerate() {
            self.metadata.require(op, axis, place.finished())?;
            if *place == Place::Own {
                let what = format!(
                    "the tensor is each rank's own along mesh axis `{}`",
                    shared.axes[axis].name
                );
                return Err(Error::new(ErrorKind::Mesh, op, what)
                    .operand(&self.metadata.names, &self.metadata.sizes)
                    .hint("assemble the pieces with `.claim(sizes)`, or use one: `.broadcast(Axis, rank)`"));
            }
        }
        Ok(())
    }

    /// Returns the box held by the rank at position `at`; `None` if it holds no elements.
    fn extent_at(&self, at: &[usize]) -> Option<Extent> {
        let metadata = &self.metadata;
        let dims = 0..metadata.sizes.len();
        let mut ranges: Vec<(usize, usize)> = dims
            .map(|dim| metadata.range_at(dim, |axis| at[axis]))
            .collect();
        if let Some(axis) = self.rows {
            match ranges.first_mut() {
                Some((start, len)) => {
                    let (first, own) = part(*len, metadata.ranks(axis), at[axis]);
                    (*start, *len) = (*start + first, own);
                }
                None if at[axis] > 0 => return None,
                None => {}
            }
        }
        let (start, shape): Extent = ranges.into_iter().unzip();
        (!shape.contains(&0)).then_some((start, shape))
    }

    /// Returns the box that the rank at position `at` writes. Of several ranks with the same elements, one writes them;
    /// `number` rotates which.
    pub(crate) fn extent_to_write(&self, number: usize, at: &[usize]) -> Option<Extent> {
        let metadata = &self.metadata;
        if metadata.sizes.contains(&0) {
            let first = at.iter().all(|&at| at == 0);
            return first.then(|| (vec![0; metadata.sizes.len()], metadata.sizes.clone()));
        }
        let (mut own, mut all) = (0, 1);
        for (axis, place) in metadata.places.iter().enumerate() {
            if place.dim().is_none() && self.rows != Some(axis) {
                own = own * metadata.ranks(axis) + at[axis];
                all *= metadata.ranks(axis);
            }
        }
        self.extent_at(at).filter(|_| own == number % all)
    }
}

impl Shared {
    /// Returns this rank's position along each axis.
    pub(crate) fn coordinates(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.ranks.rank()).collect()
    }

    /// Iterates over the positions of all ranks, in rank order.
    pub(crate) fn all_coordinates(&self) -> impl Iterator<Item = Vec<usize>> {
        let sizes: Vec<usize> = self.axes.iter().map(|axis| axis.ranks.size()).collect();
        (0..sizes.iter().product()).map(move |rank: usize| {
            let mut place = vec![0; sizes.len()];
            let mut left = rank;
            for (at, size) in place.iter_mut().zip(&sizes).rev() {
                (*at, left) = (left % size, left / size);
            }
            place
        })
    }
}

/// A collective write of a folder.
pub(crate) struct FolderWrite<'a> {
    pub(crate) op: &'static str,
    pub(crate) at: CallSite,
    pub(crate) path: &'a Path,
    /// The tensors and their names; equal descriptions on all ranks.
    pub(crate) pieces: &'a [(String, Piece)],
}

impl FolderWrite<'_> {
    /// Writes a folder under a temporary name and renames it after all ranks have written. Calls `create` on the first
    /// rank, then `fill` on each rank, then `complete` on the first rank. If any of these fails, or `ready` is an
    /// error, no folder is left and all ranks return an error.
    pub(crate) fn write(
        &self,
        shared: &Shared,
        ready: Result<()>,
        create: impl FnOnce(&Path) -> Result<()>,
        fill: impl FnOnce(&Path) -> Result<()>,
        complete: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        let op = self.op;
        if shared.is_simulated() {
            let what = "the other ranks of this mesh do not run and write nothing";
            return Err(Error::new(ErrorKind::Mesh, op, what));
        }
        self.compare_pieces(shared)?;
        let first = shared.coordinates().iter().all(|&at| at == 0);
        // The folder that a link leads to, whether or not it exists. A link that cannot be followed is an error below.
        let followed = file::follow_links(self.path);
        let path = followed.as_deref().unwrap_or(self.path);
        let partial = partial_path(path);
        let begin = || {
            ready?;
            for (name, piece) in self.pieces {
                let checked = piece.require_saveable(op, shared);
                checked.map_err(|error| error.within(format_args!("`{name}`")))?;
            }
            let io = |error: io::Error| failed(op, &error);
            match first {
                true if path.exists() => Err(Error::new(ErrorKind::File, op, "it already exists")
                    .hint("use a new folder for each checkpoint, and remove old ones afterwards")),
                true => {
                    // Left over from a program that was killed.
                    if partial.exists() {
                        fs::remove_dir_all(&partial).map_err(io)?;
                    }
                    fs::create_dir_all(&partial).map_err(io)?;
                    create(&partial)
                }
                false => Ok(()),
            }
        };
        let done = self
            .agree_on_outcome(shared, begin())
            .and_then(|()| self.agree_on_outcome(shared, fill(&partial)))
            .and_then(|()| {
                let moved = || {
                    complete(&partial)?;
                    fs::rename(&partial, path).map_err(|error| failed(op, &error))?;
                    // Syncs the new name, too. Some file systems cannot do this; the folder exists all the same.
                    #[cfg(unix)]
                    let _ = File::open(parent(path)).and_then(|folder| folder.sync_all());
                    Ok(())
                };
                self.agree_on_outcome(shared, if first { moved() } else { Ok(()) })
            });
        let Err(error) = done else { return Ok(()) };
        if first {
            // If the folder cannot be removed, its temporary name still shows that it is not a checkpoint.
            let _ = fs::remove_dir_all(&partial);
        }
        // The launcher may end all ranks when one of them exits, so each rank waits until the first one has removed the
        // folder. The error to return is the one that failed first.
        let _ = self.barrier(shared, Description::new(self.op, self.at));
        Err(error)
    }

    fn agree_on_outcome(&self, shared: &Shared, done: Result<()>) -> Result<()> {
        let done = done.map_err(|error| error.within(self.path.display()));
        let done = done.map(|()| ((), Vec::new()));
        shared.agree_on_outcome(Description::new(self.op, self.at), ErrorKind::File, 0, done)
    }

    /// Lets the ranks compare their lists of tensors to write.
    fn compare_pieces(&self, shared: &Shared) -> Result<()> {
        let items = self.pieces.iter().map(|(name, piece)| TensorDescription {
            role: "tensor",
            names: piece.metadata.names.to_vec(),
            sizes: piece.metadata.sizes.clone(),
            places: piece.metadata.places.clone(),
            dtype: Some(piece.local.dtype()),
            origin: Some(piece.metadata.origin),
            at: None,
            extra: match piece.rows {
                Some(axis) => format!("`{name}`, by rows over axis {axis}"),
                None => format!("`{name}`"),
            },
        });
        let description = Description {
            items: items.collect(),
            ..Description::new(self.op, self.at)
        };
        self.barrier(shared, description)
    }

    fn barrier(&self, shared: &Shared, description: Description<'_>) -> Result<()> {
        for axis in 0..shared.axes.len() {
            shared
                .start(axis, description.clone(), Job::Barrier)?
                .wait()?;
        }
        shared.mark_synchronized();
        Ok(())
    }
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Returns the path of a folder until it is complete.
fn partial_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    parent(path).join(format!(".{name}.partial"))
}
