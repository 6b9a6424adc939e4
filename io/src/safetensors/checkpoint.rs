//! Reading of checkpoints of several files.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use nomina::dynamic::Index as At;
use nomina::{DType, DynTensor, Error, ErrorKind, Result};

use super::SafeTensors;
use super::parts::{INDEX, Index, SHARDING, Sharding};
use crate::description::TensorDescription;
use crate::foreign::{ForeignDType, ReadAs};
use crate::json::MOST_DIMS;
use crate::open::{OpenAs, open_as, open_refined};
use nomina_runtime::file::{self, failed};

/// A checkpoint: a folder of safetensors files, or one file. Each tensor is whole in one of them, or has parts in
/// several. Both can be read as a whole or by boxes; only the files that a box intersects are opened.
///
/// | folder | files read |
/// |---|---|
/// | with an index, `model.safetensors.index.json` | the files that it lists: Hugging Face's, and those of [`save_parts`](super::save_parts) |
/// | without one | all of its safetensors files, which contain the starts of parts, as in PyTorch's distributed checkpoints |
///
/// Files are mapped and must not change, as those of [`SafeTensors`].
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::safetensors::{self, Checkpoint};
/// dims! { Out, In }
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// safetensors::save(&path, [("w", tensor!([[1., 2.], [3., 4.]]; Out, In))])?;
///
/// let checkpoint = Checkpoint::open(folder.path())?;
/// let column: Tensor<(Out, In)> = checkpoint.part("w", &[0..2, 1..2])?;
/// assert_eq!(column.to_vec(), [2., 4.]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    tensors: BTreeMap<String, Vec<TensorPart>>,
    files: Mutex<BTreeMap<String, Arc<SafeTensors>>>,
    read_as: ReadAs,
}

/// The location of a tensor or of a part of it.
#[derive(Clone, Debug)]
struct TensorPart {
    file: String,
    /// The start and the sizes; `None` if the whole tensor is in the file.
    place: Option<(Vec<usize>, Vec<usize>)>,
}

/// The range of a part in each dim of its tensor.
type Ranges = Vec<Range<usize>>;

fn broken(op: &'static str, what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Parse, op, what)
}

impl Checkpoint {
    /// Opens a folder or a file. If a folder has an index, only the index is read.
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if it cannot be opened, or the folder has no safetensors file; [`ErrorKind::Parse`]
    /// if the index, or without one a file, is corrupt.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let (op, path) = ("open", path.as_ref());
        let mut all = Self {
            path: path.to_owned(),
            tensors: BTreeMap::new(),
            files: Mutex::default(),
            read_as: ReadAs::default(),
        };
        let mut open = || {
            // Anything that exists and is not a folder is opened as a file.
            if path.exists() && !path.is_dir() {
                all.path = path.parent().map(Path::to_owned).unwrap_or_default();
                let name = path.file_name().and_then(|name| name.to_str());
                let name = name.ok_or_else(|| broken(op, "a name is not a string"))?;
                return all.add_file(op, name.to_owned());
            }
            match file::read_to_string(&path.join(INDEX)) {
                Ok(text) => all.add_index(op, &text),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => all.add_folder(op),
                Err(error) => Err(failed(op, &error)),
            }
        };
        open().map_err(|error: Error| error.within(path.display()))?;
        Ok(all)
    }

    fn add_index(&mut self, op: &'static str, text: &str) -> Result<()> {
        let index: Index = serde_json::from_str(text)
            .map_err(|error| broken(op, error.to_string()).within(INDEX))?;
        let Index {
            mut metadata,
            weight_map,
        } = index;
        for (name, file) in weight_map {
            let listed = metadata.parts.remove(&name);
            let parts = match listed.filter(|parts| !parts.is_empty()) {
                None => vec![TensorPart { file, place: None }],
                Some(parts) => parts
                    .into_iter()
                    .map(|(file, start, shape)| TensorPart {
                        file,
                        place: Some((start.0, shape.0)),
                    })
                    .collect(),
            };
            // An index must not name files in other folders.
            let apart =
                |part: &&TensorPart| Path::new(&part.file).file_name() != Some(part.file.as_ref());
            if let Some(part) = parts.iter().find(apart) {
                let what = format!("`{name}` in `{}`, which is not a file name", part.file);
                return Err(broken(op, what).within(INDEX));
            }
            self.tensors.insert(name, parts);
        }
        match metadata.parts.keys().next() {
            Some(name) => {
                let what = format!("parts of `{name}`, not in `weight_map`");
                Err(broken(op, what).within(INDEX))
            }
            None => Ok(()),
        }
    }

    fn add_folder(&mut self, op: &'static str) -> Result<()> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(|error| failed(op, &error))? {
            let name = entry.map_err(|error| failed(op, &error))?.file_name();
            let name = name.into_string().unwrap_or_default();
            if name.ends_with(".safetensors") && !name.starts_with('.') {
                names.push(name);
            }
        }
        if names.is_empty() {
            let what = format!("neither `{INDEX}` nor a safetensors file");
            return Err(Error::new(ErrorKind::File, op, what));
        }
        names.sort_unstable();
        names
            .into_iter()
            .try_for_each(|name| self.add_file(op, name))
    }

    /// Adds a file without an index.
    fn add_file(&mut self, op: &'static str, name: String) -> Result<()> {
        let file = self.file(op, &name)?;
        let starts = starts(op, &file).map_err(|error| error.within(&name))?;
        for (key, entry) in &file.entries {
            let start = starts.as_ref().and_then(|starts| starts.get(key));
            let place = start.map(|start| (start.saved_offsets.0.clone(), entry.shape.clone()));
            let part = TensorPart {
                file: name.clone(),
                place,
            };
            let parts = self.tensors.entry(key.clone()).or_default();
            parts.push(part);
            if parts.len() > 1 && parts.iter().any(|part| part.place.is_none()) {
                let what = format!("`{key}` is in several files without parts");
                return Err(broken(op, what));
            }
        }
        Ok(())
    }

    fn file(&self, op: &'static str, name: &str) -> Result<Arc<SafeTensors>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(name) {
            return Ok(file.clone());
        }
        let opened = SafeTensors::open(self.path.join(name));
        let mut file = opened.map_err(|error| error.in_op(op))?;
        file.read_as = self.read_as.clone();
        let file = Arc::new(file);
        files.insert(name.to_owned(), file.clone());
        Ok(file)
    }

    /// Reads elements of a dtype that tensors lack as another one, like [`SafeTensors::read_as`].
    #[must_use]
    pub fn read_as(mut self, from: ForeignDType, to: DType) -> Self {
        self.read_as.set(from, to);
        // Files that are open already were opened without it.
        self.files = Mutex::default();
        self
    }

    /// Returns the names of the tensors, sorted.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Returns the parts of a tensor, with their ranges.
    fn parts(&self, op: &'static str, name: &str) -> Result<Vec<(&str, Ranges)>> {
        let Some(parts) = self.tensors.get(name) else {
            return Err(Error::new(ErrorKind::Argument, op, "tensor not found")
                .hint("`keys` lists what the checkpoint has"));
        };
        let mut all: Vec<(&str, Ranges)> = Vec::new();
        for part in parts {
            let (start, shape) = match &part.place {
                Some(place) => place.clone(),
                None => {
                    let file = self.file(op, &part.file)?;
                    let entry = file.entries.get(name);
                    let entry = entry.ok_or_else(|| missing(op, &part.file))?;
                    (vec![0; entry.shape.len()], entry.shape.clone())
                }
            };
            let ends = start.iter().zip(&shape);
            let ranges = ends.map(|(start, size)| Some(*start..start.checked_add(*size)?));
            let ranges: Option<Ranges> = ranges.collect();
            let rank = all.first().map_or(shape.len(), |(_, ranges)| ranges.len());
            match ranges.filter(|ranges| start.len() == rank && ranges.len() == shape.len()) {
                Some(ranges) if ranges.len() == rank && rank <= MOST_DIMS => {
                    all.push((&part.file, ranges));
                }
                _ => {
                    let what = format!("a part that begins at {start:?} and has sizes {shape:?}");
                    return Err(broken(op, what));
                }
            }
        }
        Ok(all)
    }

    /// Returns the sizes of a tensor.
    ///
    /// # Errors
    /// If the tensor is missing, or its file cannot be read.
    pub fn shape(&self, name: &str) -> Result<Vec<usize>> {
        let op = "shape";
        let parts = self.parts(op, name);
        parts
            .map(|parts| total_sizes(&parts))
            .map_err(|error| self.with_context(error, name))
    }

    /// Describes all tensors, whose parts are taken together.
    pub(crate) fn describe(&self) -> Result<Vec<TensorDescription>> {
        let op = "describe";
        let describe = |name: &str| {
            let parts = self.parts(op, name)?;
            let Some((file, _)) = parts.first() else {
                return Err(broken(op, "it has no parts"));
            };
            let mut found = self.file(op, file)?.description(name)?;
            found.shape = total_sizes(&parts);
            Ok(found)
        };
        let all = self.keys();
        all.map(|name| describe(name).map_err(|error| self.with_context(error, name)))
            .collect()
    }

    fn with_context(&self, error: Error, name: &str) -> Error {
        error.within(format_args!("`{name}` in {}", self.path.display()))
    }

    /// Opens a tensor with the names in the files. A tensor that is whole in a file is not copied.
    ///
    /// # Errors
    /// Returns the errors of [`SafeTensors::tensor`], and [`ErrorKind::Parse`] if the parts do not match each other or
    /// their files.
    pub fn tensor<X: OpenAs>(&self, name: &str) -> Result<X> {
        let op = "tensor";
        let opened = self.elements(op, name, None);
        let opened = opened.and_then(|tensor| open_as(op, tensor));
        opened.map_err(|error| self.with_context(error, name))
    }

    /// Opens all tensors, each with its name, sorted: the state of a model.
    ///
    /// # Errors
    /// Returns the errors of [`tensor`](Self::tensor).
    pub fn tensors(&self) -> Result<Vec<(String, DynTensor)>> {
        self.keys()
            .map(|name| Ok((name.to_owned(), self.tensor(name)?)))
            .collect()
    }

    /// Like [`tensor`](Self::tensor), but dims without a name take their names from the type.
    ///
    /// # Errors
    /// Like [`tensor`](Self::tensor).
    pub fn refine<X: OpenAs>(&self, name: &str) -> Result<X> {
        let op = "refine";
        let opened = self.elements(op, name, None);
        let opened = opened.and_then(|tensor| open_refined(op, tensor));
        opened.map_err(|error| self.with_context(error, name))
    }

    /// Opens a box of a tensor: a range for each of its dims. Only the elements of the box are read. The exception is
    /// bools: their parts are read and checked entirely.
    ///
    /// Returns the errors of [`tensor`](Self::tensor), and [`ErrorKind::Index`] if the box is not within the tensor.
    pub fn part<X: OpenAs>(&self, name: &str, ranges: &[Range<usize>]) -> Result<X> {
        let op = "part";
        let opened = self.elements(op, name, Some(ranges));
        let opened = opened.and_then(|tensor| open_as(op, tensor));
        opened.map_err(|error| self.with_context(error, name))
    }

    fn elements(
        &self,
        op: &'static str,
        name: &str,
        requested: Option<&[Range<usize>]>,
    ) -> Result<DynTensor> {
        let parts = self.parts(op, name)?;
        let shape = total_sizes(&parts);
        let all: Ranges = shape.iter().map(|&size| 0..size).collect();
        let requested = requested.unwrap_or(&all);
        let inside = requested.iter().zip(&shape);
        let inside = inside.map(|(range, &size)| range.start <= range.end && range.end <= size);
        if requested.len() != shape.len() || inside.clone().any(|inside| !inside) {
            let what = format!("the box {requested:?} of a tensor of sizes {shape:?}");
            return Err(Error::new(ErrorKind::Index, op, what));
        }
        let mut met: Vec<(&str, &Ranges, Ranges)> = Vec::new();
        for (file, ranges) in &parts {
            let both = intersection(ranges, requested);
            if met
                .iter()
                .any(|(_, _, other)| numel(&intersection(other, &both)) > 0)
            {
                return Err(broken(op, format!("two parts overlap: {both:?}")));
            }
            if numel(&both) > 0 {
                met.push((file, ranges, both));
            }
        }
        let found: u128 = met.iter().map(|(_, _, both)| numel(both)).sum();
        if found != numel(requested) {
            return Err(broken(op, "its parts are incomplete"));
        }
        if let (true, Some((file, ranges))) = (met.is_empty(), parts.first()) {
            // There are no elements, but the dtype and the names are needed.
            let none = ranges.iter().map(|range| range.start..range.start);
            met.push((file, ranges, none.collect()));
        }
        let mut read = Vec::new();
        for (file, ranges, both) in met {
            read.push((self.read(op, name, file, ranges, &both)?, both));
        }
        let Some((first, _)) = read.first() else {
            return Err(broken(op, "it has no parts"));
        };
        let sizes: Vec<usize> = requested.iter().map(Range::len).collect();
        let (dtype, names) = (first.dtype(), first.names().clone());
        if read.len() == 1 && first.shape() == sizes {
            return first.contiguous();
        }
        let mut out = DynTensor::options().dtype(dtype).zeros(&sizes, names)?;
        for (part, both) in read.into_iter().filter(|(_, both)| numel(both) > 0) {
            if part.dtype() != dtype || part.names() != out.names() {
                let what = "its parts differ in dtype or dim names";
                return Err(broken(op, what).operand(part.names(), part.shape()));
            }
            let at = both.iter().zip(requested).enumerate();
            let at = at.map(|(dim, (both, requested))| {
                let range = both.start - requested.start..both.end - requested.start;
                (dim as i64, At::from(range))
            });
            out.at_mut(at)?.copy_(&part)?;
        }
        Ok(out)
    }

    /// Reads the part of a box that is in a file, whose part has these ranges.
    fn read(
        &self,
        op: &'static str,
        name: &str,
        file: &str,
        ranges: &Ranges,
        both: &Ranges,
    ) -> Result<DynTensor> {
        let open = self.file(op, file)?;
        let entry = open.entries.get(name).ok_or_else(|| missing(op, file))?;
        let starts = starts(op, &open)?;
        let start = starts.as_ref().and_then(|starts| starts.get(name));
        let other = start.is_some_and(|start| {
            let own = ranges.iter().map(|range| range.start);
            !start.saved_offsets.0.iter().copied().eq(own)
        });
        if other
            || !entry
                .shape
                .iter()
                .copied()
                .eq(ranges.iter().map(Range::len))
        {
            let what = "the part in the file is not that of the index";
            return Err(broken(op, what).within(file));
        }
        let mut part = open.elements(op, name)?;
        for (dim, (both, range)) in both.iter().zip(ranges).enumerate() {
            part = part.narrow(dim as i64, (both.start - range.start) as i64, both.len())?;
        }
        Ok(part)
    }
}

fn missing(op: &'static str, file: &str) -> Error {
    broken(op, "the file lacks the tensor").within(file)
}

/// Returns the starts of the parts in a file, from its metadata.
fn starts(op: &'static str, file: &SafeTensors) -> Result<Option<BTreeMap<String, Sharding>>> {
    let parsed = file.metadata.get(SHARDING).map(|text| {
        serde_json::from_str(text)
            .map_err(|error| broken(op, format!("`{SHARDING}` of the metadata: {error}")))
    });
    parsed.transpose()
}

/// Returns the sizes of the whole tensor.
fn total_sizes(parts: &[(&str, Ranges)]) -> Vec<usize> {
    let rank = parts.first().map_or(0, |(_, ranges)| ranges.len());
    let end = |dim: usize| parts.iter().map(|(_, ranges)| ranges[dim].end).max();
    (0..rank).map(|dim| end(dim).unwrap_or(0)).collect()
}

/// Returns the intersection of two boxes.
fn intersection(one: &[Range<usize>], other: &[Range<usize>]) -> Ranges {
    let both = one.iter().zip(other);
    both.map(|(one, other)| {
        let start = one.start.max(other.start);
        start..one.end.min(other.end).max(start)
    })
    .collect()
}

fn numel(ranges: &[Range<usize>]) -> u128 {
    let sizes = ranges.iter().map(|range| range.len() as u128);
    sizes.fold(1, u128::saturating_mul)
}
