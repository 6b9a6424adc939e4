//! safetensors files: the format of PyTorch's and Hugging Face's models.
//!
//! Dim names are stored in the metadata, as the text of a JSON object under the key [`DIMS`]:
//! `{"query.weight": ["Head", "Feature", "Hidden"]}`, with `null` for a dim without a name. Other readers can ignore
//! this text. A file of another program has no names; open it with `Wild` dims or by [`refine`](SafeTensors::refine).
//!
//! A [`Checkpoint`] is a folder of such files: those of a large model, or those that several processes wrote.

mod checkpoint;
mod header;
mod parts;
mod save;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nomina::{DType, DynTensor, Error, ErrorKind, Names, Result};
use nomina_runtime::raw::{MappedFile, MappedPart};
use safetensors::tensor::Dtype;

use crate::description::TensorDescription;
use crate::foreign::{Elements, ForeignDType, ReadAs};
use crate::open::{OpenAs, open_as, open_refined};
pub use checkpoint::Checkpoint;
use nomina_runtime::file::{self, failed};
pub use parts::{INDEX, PartAt, save_index, save_parts};
pub use save::{save, save_with};

/// The metadata key of the dim names.
pub const DIMS: &str = "nomina.dims";

/// A file that is open for reading. Only its header is read until a tensor's elements are accessed.
///
/// The file is mapped: its tensors are in the system's page cache, without a copy. Writing to a tensor never changes
/// the file; while this value lives, the tensor is copied first. Tensors that are not aligned, and those of bools, are
/// copied when they are first opened.
///
/// **The file must not change** while this value or a tensor of it lives: writing into the file changes these tensors,
/// and truncating it ends the process when they are read. [`save`] replaces the file, which is safe.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::safetensors::{self, SafeTensors};
/// dims! { Out, In }
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// safetensors::save(&path, [("w", tensor!([[1., 2.], [3., 4.]]; Out, In))])?;
///
/// let file = SafeTensors::open(&path)?;
/// assert_eq!(file.keys().collect::<Vec<_>>(), ["w"]);
/// let w: Tensor<(Out, In)> = file.tensor("w")?;
/// let same: DynTensor = file.tensor("w")?;
/// assert_eq!(w.sum(In).to_vec(), [3., 7.]);
/// assert_eq!(same.names(), &names!["Out", "In"]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct SafeTensors {
    path: PathBuf,
    file: MappedFile,
    entries: BTreeMap<String, Entry>,
    metadata: BTreeMap<String, String>,
    read_as: ReadAs,
}

#[derive(Debug)]
struct Entry {
    part: usize,
    dtype: Dtype,
    shape: Vec<usize>,
    /// Empty if the dims have no names.
    names: Vec<Option<String>>,
}

impl SafeTensors {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if the file cannot be opened or mapped; [`ErrorKind::Parse`] if it is corrupt: its
    /// header is truncated or not JSON, sizes and offsets do not match each other or the file, or a tensor occurs
    /// twice; the kind of the name error if names do not fit a tensor.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::open_file(path).map_err(|error| error.within(path.display()))
    }

    fn open_file(path: &Path) -> Result<Self> {
        let op = "open";
        let file = file::open(path).map_err(|error| failed(op, &error))?;
        let mut header = header::read(op, &file)?;
        let parts = header.tensors.iter().map(|(_, info)| {
            let (start, end) = info.data_offsets;
            let dtype = header::from_file(info.dtype).map_or(DType::U8, Elements::mapped);
            MappedPart {
                // Within the file, as the check of the header guarantees.
                start: header.start + start,
                dtype,
                numel: (end - start) / dtype.size(),
            }
        });
        let file = MappedFile::new(op, &file, parts.collect())?;
        let entries = header.tensors.into_iter().enumerate();
        let entries = entries.map(|(part, (name, info))| {
            let entry = Entry {
                part,
                dtype: info.dtype,
                shape: info.shape,
                names: header.dims.remove(&name).unwrap_or_default(),
            };
            (name, entry)
        });
        Ok(Self {
            path: path.to_owned(),
            file,
            entries: entries.collect(),
            metadata: header.metadata,
            read_as: ReadAs::default(),
        })
    }

    /// Reads elements of a dtype that tensors lack as another one, when tensors are opened.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_io::{ForeignDType, safetensors::SafeTensors};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("model.safetensors");
    /// # let header = r#"{"w":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[0,3]}}"#;
    /// # let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0x38, 0x40, 0xb8]].concat();
    /// # std::fs::write(&path, bytes).unwrap();
    /// let file = SafeTensors::open(&path)?.read_as(ForeignDType::F8E4M3, DType::F32);
    /// let w: Tensor<(Wild,)> = file.tensor("w")?;
    /// assert_eq!(w.to_vec(), [1., 2., -1.]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn read_as(mut self, from: ForeignDType, to: DType) -> Self {
        self.read_as.set(from, to);
        self
    }

    /// Returns the names of the tensors, sorted.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Returns the file's metadata, including the dim names ([`DIMS`]).
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Opens a tensor with the names in the file; a dim that has none there is unnamed. Elements are not copied.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// # use nomina_io::safetensors::{self, SafeTensors};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("model.safetensors");
    /// # safetensors::save(&path, [("w", DynTensor::ones(&[2, 3], ())?)])?;
    /// // A file of another program, without names.
    /// let file = SafeTensors::open(&path)?;
    /// let w: Tensor<(Wild, Wild)> = file.tensor("w")?;
    /// let w: DynTensor = file.tensor("w")?;
    /// # assert_eq!(w.shape(), [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the tensor is missing; [`ErrorKind::DType`] if its elements are not
    /// supported, or differ from the type; [`ErrorKind::Rank`], [`ErrorKind::NameMismatch`], [`ErrorKind::UnnamedDim`]
    /// or [`ErrorKind::Shape`] if its dims differ; [`ErrorKind::Parse`] if a bool is neither 0 nor 1. The text has the
    /// file, the tensor, its dims with sizes, and those of the type.
    pub fn tensor<X: OpenAs>(&self, name: &str) -> Result<X> {
        let op = "tensor";
        self.found(op, name, open_as)
    }

    /// Opens all tensors, each with its name in the file, sorted: the state of a model. Elements are not copied.
    ///
    /// # Errors
    /// Returns the errors of [`tensor`](Self::tensor).
    pub fn tensors(&self) -> Result<Vec<(String, DynTensor)>> {
        self.keys()
            .map(|name| Ok((name.to_owned(), self.tensor(name)?)))
            .collect()
    }

    /// Like [`tensor`](Self::tensor), but dims without a name take their names from the type, by position; names in the
    /// file are checked.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// # use nomina_io::safetensors::{self, SafeTensors};
    /// # dims! { Out, In }
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("model.safetensors");
    /// # safetensors::save(&path, [("w", DynTensor::ones(&[2, 3], ())?)])?;
    /// let file = SafeTensors::open(&path)?;
    /// assert!(file.tensor::<Tensor<(Out, In)>>("w").is_err());
    /// let w: Tensor<(Out, In)> = file.refine("w")?;
    /// # assert_eq!(w.size(Out), 2);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the tensor is missing, or its names, sizes or dtype differ from the type.
    pub fn refine<X: OpenAs>(&self, name: &str) -> Result<X> {
        let op = "refine";
        self.found(op, name, open_refined)
    }

    fn found<X>(
        &self,
        op: &'static str,
        name: &str,
        open: impl FnOnce(&'static str, DynTensor) -> Result<X>,
    ) -> Result<X> {
        let opened = self.elements(op, name).and_then(|tensor| open(op, tensor));
        opened.map_err(|error| error.within(format_args!("`{name}` in {}", self.path.display())))
    }

    /// Describes all tensors.
    pub(crate) fn describe(&self) -> Result<Vec<TensorDescription>> {
        self.keys().map(|name| self.description(name)).collect()
    }

    fn description(&self, name: &str) -> Result<TensorDescription> {
        let described = self.entry("describe", name).and_then(|(entry, names)| {
            let elements = entry.elements("describe", &names)?;
            Ok(TensorDescription::new(name, names, &entry.shape, elements))
        });
        described.map_err(|error| error.within(format_args!("`{name}` in {}", self.path.display())))
    }

    fn elements(&self, op: &'static str, name: &str) -> Result<DynTensor> {
        let (entry, names) = self.entry(op, name)?;
        let elements = entry.elements(op, &names)?;
        let raw = self.file.part(op, entry.part, &entry.shape);
        let raw = raw.and_then(|raw| self.read_as.convert(op, elements, raw));
        DynTensor::from_parts(raw.map_err(|error| error.with_names([&names]))?, names)
    }

    /// Returns a tensor's entry, and the names of its dims.
    fn entry(&self, op: &'static str, name: &str) -> Result<(&Entry, Names)> {
        let Some(entry) = self.entries.get(name) else {
            let all = self.keys().take(20).map(|key| format!("`{key}`"));
            let all: Vec<String> = all.collect();
            let more = if self.entries.len() > all.len() {
                ", …"
            } else {
                ""
            };
            return Err(Error::new(ErrorKind::Argument, op, "tensor not found")
                .hint(format!("the file has {}{more}", all.join(", "))));
        };
        let names = if entry.names.is_empty() {
            Names::unnamed(entry.shape.len())
        } else {
            header::parse_names(&entry.names)?
        };
        Ok((entry, names))
    }
}

impl Entry {
    /// Returns the dtype of the elements.
    fn elements(&self, op: &'static str, names: &Names) -> Result<Elements> {
        header::from_file(self.dtype).ok_or_else(|| {
            let what = format!("elements of {} are not supported", self.dtype);
            Error::new(ErrorKind::DType, op, what)
                .operand(names, &self.shape)
                .hint("convert it before saving")
        })
    }
}
