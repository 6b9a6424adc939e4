//! PyTorch's files: `.pt`, `.pth` and `.bin`, as `torch.save` has written them since version 1.6.
//!
//! A file is a zip archive of a pickle and the elements of each storage. The pickle is read by a machine that executes
//! nothing and knows only the globals of tensors and of the containers around them; any other one, such as a class of a
//! model, is an error that names it. The format has no dim names: they come from the requested type, or from the model
//! that loads the tensors.
//!
//! Older files, which are not zip archives, are refused with an error that says how to convert them.

mod archive;
mod arena;
mod global;
mod machine;
mod rebuild;
mod value;
mod walk;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nomina::{DType, DynTensor, Error, ErrorKind, Names, Result};
use nomina_runtime::Raw;
use nomina_runtime::file::{self, failed};
use nomina_runtime::raw::{MappedFile, MappedPart};

use crate::description::TensorDescription;
use crate::foreign::{Elements, ForeignDType, ReadAs};
use crate::open::{OpenAs, open_as, open_refined};
use archive::Archive;
use arena::{Arena, Node, TensorNode};
pub use value::Value;
use walk::{Tensors, Values, Walk};

/// A file that is open for reading: the tensors in its dicts, lists and tuples, each at a path of keys and positions
/// joined by dots.
///
/// The file is mapped: its tensors are in the system's page cache, without a copy, with the strides that they had in
/// PyTorch. Tensors that share a storage in PyTorch share it here until one of them is written to; writing never
/// changes the file. Storages of bools, or of the other byte order, are copied when they are first read.
///
/// **The file must not change** while this value or a tensor of it lives: writing into the file changes these tensors,
/// and truncating it ends the process when they are read.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::pth::{Pth, Value};
/// dims! { Out, In }
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/pth/checkpoint.pt");
/// // Written by `torch.save({"epoch": 3, "model": model.state_dict(), ..}, path)`.
/// let file = Pth::open(path)?;
/// let w: Tensor<(Out, In)> = file.refine("model.0.weight")?;
/// let model: Vec<(String, DynTensor)> = file.tensors_at("model")?;
/// assert_eq!(model[1].0, "0.weight");
/// assert_eq!(file.values()?["epoch"], Value::Int(3));
/// # assert_eq!(w.shape(), [4, 3]);
/// # Ok::<(), Error>(())
/// ```
pub struct Pth {
    path: PathBuf,
    file: MappedFile,
    /// The elements of each storage in this machine's byte order; empty if the file has it.
    swapped: Vec<OnceLock<Box<Raw>>>,
    entries: BTreeMap<String, Entry>,
    versions: BTreeMap<String, i64>,
    arena: Arena,
    root: Node,
    read_as: ReadAs,
}

/// A view of a storage.
struct Entry {
    part: usize,
    /// The number of elements of the storage as it is mapped.
    numel: usize,
    elements: Elements,
    shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
    conjugated: bool,
    negated: bool,
}

impl fmt::Debug for Pth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.iter().map(|(path, entry)| {
            let text = format!("{:?} {}", entry.shape, entry.elements);
            (path, text)
        });
        f.write_str("Pth ")?;
        f.debug_map().entries(entries).finish()
    }
}

#[cold]
fn broken(op: &'static str, what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Parse, op, what)
}

/// A storage of the file, with the dtype of its tensors.
struct StoragePart {
    start: usize,
    len: usize,
    elements: Elements,
}

impl StoragePart {
    /// Finds the storage of a tensor in the archive.
    fn find(
        op: &'static str,
        archive: &mut Archive<'_>,
        arena: &Arena,
        tensor: &TensorNode,
    ) -> Result<Self> {
        let storage = arena.storages[tensor.storage as usize];
        let key = arena.text(storage.key);
        let (start, len) = archive.storage(key)?;
        let size = storage
            .elements
            .map_or(1, |elements| elements.mapped().size());
        if storage.numel.checked_mul(size) != Some(len) {
            let what = format!(
                "storage `{key}` has {} elements of {size} bytes, but its file has {len} bytes",
                storage.numel
            );
            return Err(broken(op, what));
        }
        if !len.is_multiple_of(tensor.elements.mapped().size()) {
            let what = format!(
                "storage `{key}` of {len} bytes as elements of {}",
                tensor.elements
            );
            return Err(broken(op, what));
        }
        Ok(Self {
            start,
            len,
            elements: tensor.elements,
        })
    }

    fn mapped(&self, swapped: bool) -> MappedPart {
        let dtype = if swapped {
            DType::U8
        } else {
            self.elements.mapped()
        };
        MappedPart {
            start: self.start,
            dtype,
            numel: self.len / dtype.size(),
        }
    }
}

impl Pth {
    /// Opens a file and reads its pickle.
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if the file cannot be opened or mapped; [`ErrorKind::Parse`] if it is not a zip
    /// archive of PyTorch, corrupt, or its pickle names a global that is not one of tensors.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::open_file(path).map_err(|error| error.within(path.display()))
    }

    fn open_file(path: &Path) -> Result<Self> {
        let op = "open";
        let file = file::open(path).map_err(|error| failed(op, &error))?;
        let len = file.metadata().map_err(|error| failed(op, &error))?.len();
        let mut archive = Archive::open(op, &file)?;
        let is_swapped = archive.is_big_endian()?;
        let pickle = archive.pickle(len)?;
        let room = usize::try_from(len).unwrap_or(usize::MAX);
        let (arena, root) =
            machine::read(op, pickle, room.saturating_mul(4).saturating_add(SMALL))?;
        let mut tensors = Tensors::default();
        Walk::new(op, &arena, room.saturating_mul(2).saturating_add(SMALL)).visit(
            root,
            0,
            &mut tensors,
        )?;

        let mut parts: BTreeMap<&str, StoragePart> = BTreeMap::new();
        for &tensor in tensors.found.values() {
            let tensor = &arena.tensors[tensor as usize];
            let key = arena.text(arena.storages[tensor.storage as usize].key);
            let part = match parts.get(key) {
                Some(part) => part,
                None => {
                    let part = StoragePart::find(op, &mut archive, &arena, tensor)?;
                    parts.entry(key).or_insert(part)
                }
            };
            if part.elements.mapped() != tensor.elements.mapped() {
                let (one, other) = (part.elements, tensor.elements);
                let what = format!("storage `{key}` has elements of {one} and of {other}");
                return Err(broken(op, what));
            }
        }
        let mut order: Vec<(&str, StoragePart)> = parts.into_iter().collect();
        order.sort_by_key(|(_, part)| (part.start, part.len));
        let mapped = order.iter().map(|(_, part)| part.mapped(is_swapped));
        let mapped = MappedFile::new(op, &file, mapped.collect())?;
        let swapped = if is_swapped {
            order.iter().map(|_| OnceLock::new()).collect()
        } else {
            Vec::new()
        };
        let places = order.iter().enumerate();
        let places: BTreeMap<&str, (usize, MappedPart)> = places
            .map(|(at, (key, part))| (*key, (at, part.mapped(is_swapped))))
            .collect();
        let entries = tensors.found.into_iter().map(|(path, tensor)| {
            let tensor = &arena.tensors[tensor as usize];
            let key = arena.text(arena.storages[tensor.storage as usize].key);
            let (part, mapped) = places[key];
            let entry = Entry::new(&arena, tensor, part, mapped.numel);
            (path, entry)
        });
        Ok(Self {
            path: path.to_owned(),
            file: mapped,
            swapped,
            entries: entries.collect(),
            versions: tensors.versions,
            root,
            read_as: ReadAs::default(),
            arena,
        })
    }

    /// Reads elements of a dtype that tensors lack as another one, when tensors are opened.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_io::{ForeignDType, pth::Pth};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/pth/foreign.pt");
    /// let file = Pth::open(path)?.read_as(ForeignDType::F8E4M3, DType::F32);
    /// let w: DynTensor = file.tensor("float8_e4m3fn")?;
    /// assert_eq!(w.dtype(), DType::F32);
    /// let error = file.tensor::<DynTensor>("uint16").unwrap_err().to_string();
    /// assert!(error.contains("`.read_as(ForeignDType::U16, DType::I32)`"));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn read_as(mut self, from: ForeignDType, to: DType) -> Self {
        self.read_as.set(from, to);
        self
    }

    /// Returns the paths of the tensors, sorted.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Returns the versions of modules in the `_metadata` of state dicts, by the paths of the modules.
    #[must_use]
    pub fn versions(&self) -> &BTreeMap<String, i64> {
        &self.versions
    }

    /// Returns the values that are not tensors, by their paths.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Parse`] if containers refer to each other so that there are too many paths.
    pub fn values(&self) -> Result<BTreeMap<String, Value>> {
        let op = "values";
        let mut values = Values::default();
        let room = self
            .arena
            .bytes
            .len()
            .saturating_mul(64)
            .saturating_add(SMALL);
        let walked = Walk::new(op, &self.arena, room).visit(self.root, 0, &mut values);
        walked.map_err(|error| error.within(self.path.display()))?;
        Ok(values.0)
    }

    /// Opens a tensor, whose dims have no names. Elements are not copied.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the tensor is missing; [`ErrorKind::DType`] if its elements are not
    /// supported, or differ from the type; [`ErrorKind::Rank`], [`ErrorKind::UnnamedDim`] or [`ErrorKind::Shape`] if
    /// its dims differ from the type, or exceed its storage; [`ErrorKind::Parse`] if a bool is neither 0 nor 1.
    pub fn tensor<X: OpenAs>(&self, path: &str) -> Result<X> {
        self.found("tensor", path, open_as)
    }

    /// Like [`tensor`](Self::tensor), but dims take their names from the type, by position.
    ///
    /// # Errors
    /// If the tensor is missing, or its sizes or dtype differ from the type.
    pub fn refine<X: OpenAs>(&self, path: &str) -> Result<X> {
        self.found("refine", path, open_refined)
    }

    /// Opens all tensors, each with its path, sorted: the state of a model. Elements are not copied.
    ///
    /// # Errors
    /// Returns the errors of [`tensor`](Self::tensor).
    pub fn tensors(&self) -> Result<Vec<(String, DynTensor)>> {
        self.keys()
            .map(|path| Ok((path.to_owned(), self.tensor(path)?)))
            .collect()
    }

    /// Opens all tensors below a path, each with the rest of its path, sorted: a model in a file that has more.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if there are none, and the errors of [`tensor`](Self::tensor).
    pub fn tensors_at(&self, path: &str) -> Result<Vec<(String, DynTensor)>> {
        let below = self.keys().filter_map(|key| {
            let rest = key.strip_prefix(path)?.strip_prefix('.')?;
            Some((key, rest))
        });
        let below = below.map(|(key, rest)| Ok((rest.to_owned(), self.tensor(key)?)));
        let below: Vec<_> = below.collect::<Result<_>>()?;
        if below.is_empty() {
            return Err(self.missing("tensors_at", path));
        }
        Ok(below)
    }

    /// Describes all tensors.
    pub(crate) fn describe(&self) -> Vec<TensorDescription> {
        let entries = self.entries.iter().map(|(path, entry)| {
            let names = Names::unnamed(entry.shape.len());
            TensorDescription::new(path, names, &entry.shape, entry.elements)
        });
        entries.collect()
    }

    #[cold]
    fn missing(&self, op: &'static str, path: &str) -> Error {
        const SHOWN: usize = 20;
        let all: Vec<String> = self
            .keys()
            .take(SHOWN)
            .map(|key| format!("`{key}`"))
            .collect();
        let more = if self.entries.len() > SHOWN {
            ", …"
        } else {
            ""
        };
        Error::new(ErrorKind::Argument, op, "tensor not found")
            .hint(format!("the file has {}{more}", all.join(", ")))
            .within(format_args!("`{path}` in {}", self.path.display()))
    }

    fn found<X>(
        &self,
        op: &'static str,
        path: &str,
        open: impl FnOnce(&'static str, DynTensor) -> Result<X>,
    ) -> Result<X> {
        let Some(entry) = self.entries.get(path) else {
            return Err(self.missing(op, path));
        };
        let opened = self.elements(op, entry).and_then(|tensor| open(op, tensor));
        opened.map_err(|error| error.within(format_args!("`{path}` in {}", self.path.display())))
    }

    fn elements(&self, op: &'static str, entry: &Entry) -> Result<DynTensor> {
        let flat = self.storage(op, entry)?;
        let (shape, strides) = (entry.shape[..].into(), entry.strides[..].into());
        let view = flat.strided_view(shape, strides, entry.offset);
        let view = view.map_err(|error| error.in_op(op))?;
        if view.numel() > entry.numel && matches!(entry.elements, Elements::Foreign(_)) {
            let what = format!("an expanded tensor of {} is not converted", entry.elements);
            return Err(Error::new(ErrorKind::DType, op, what)
                .hint("save a copy in PyTorch: `tensor.contiguous()`"));
        }
        let raw = self.read_as.convert(op, entry.elements, view)?;
        let names = Names::unnamed(raw.rank());
        let mut tensor = DynTensor::from_parts(raw, names)?;
        if entry.conjugated {
            tensor = tensor.conj()?;
        }
        if entry.negated {
            tensor = tensor.neg()?;
        }
        Ok(tensor)
    }

    /// Returns all elements of a storage, as one dim.
    fn storage(&self, op: &'static str, entry: &Entry) -> Result<Raw> {
        let part = self.file.part(op, entry.part, &[entry.numel])?;
        let Some(swapped) = self.swapped.get(entry.part) else {
            return Ok(part);
        };
        if let Some(raw) = swapped.get() {
            return Ok((**raw).clone());
        }
        let dtype = entry.elements.mapped();
        let mut bytes = part.as_bytes().unwrap_or_default().to_vec();
        bytes
            .chunks_exact_mut(dtype.to_real().size())
            .for_each(<[u8]>::reverse);
        let raw = Raw::from_bytes(op, dtype, &[bytes.len() / dtype.size()], &bytes)?;
        Ok((**swapped.get_or_init(|| Box::new(raw))).clone())
    }
}

/// The memory that values may take however short a file is.
const SMALL: usize = 8 << 10;

impl Entry {
    fn new(arena: &Arena, tensor: &TensorNode, part: usize, numel: usize) -> Self {
        let numbers = |span: arena::Span| {
            let nodes = span.within(&arena.items).iter();
            nodes.map(|node| match node {
                // Checked when the tensor was read.
                Node::Int(number) => *number,
                _ => 0,
            })
        };
        Self {
            part,
            numel,
            elements: tensor.elements,
            shape: numbers(tensor.sizes).map(|size| size as usize).collect(),
            strides: numbers(tensor.strides)
                .map(|stride| stride as isize)
                .collect(),
            offset: tensor.offset,
            conjugated: tensor.conjugated,
            negated: tensor.negated,
        }
    }
}
