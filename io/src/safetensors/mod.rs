//! safetensors files: the format of PyTorch's and Hugging Face's models.
//!
//! The names of dims stand in the metadata, as the text of a JSON object under the key [`DIMS`]:
//! `{"query.weight": ["Head", "Feature", "Hidden"]}`, with `null` for a dim without a name. Other readers see a text that they
//! need not know; a file that another program wrote has no names, and opens with `Wild` dims or by
//! [`refine`](SafeTensors::refine).
//!
//! A [`Checkpoint`] is a folder of such files: those of a large model, and those that several processes wrote.

mod checkpoint;
mod header;
mod parts;
mod save;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nomina::{DynTensor, Error, ErrorKind, Names, Result};
use nomina_runtime::raw::{MappedFile, MappedPart};
use safetensors::tensor::Dtype;

use crate::open::{OpenAs, as_it_is, refined};
pub use checkpoint::Checkpoint;
use nomina_runtime::file::{self, failed};
pub use parts::{INDEX, PartAt, save_index, save_parts};
pub use save::{save, save_with};

/// The key of the metadata under which the names of dims stand.
pub const DIMS: &str = "nomina.dims";

/// A file that is open for reading. Nothing but its header is read before a tensor's elements are asked for.
///
/// The file is mapped: its tensors lie in the system's page cache, without a copy. Writing to one of them changes memory and
/// never the file; as long as this lives, the tensor is copied first. Tensors whose place is not aligned, and those of truth
/// values, are copied when they are opened first.
///
/// **The file must stay as it is** while this or a tensor of it lives: who writes into it changes these tensors, and who
/// truncates it ends the process when they are read. [`save`] replaces a file, which does no harm.
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
}

#[derive(Debug)]
struct Entry {
    part: usize,
    dtype: Dtype,
    shape: Vec<usize>,
    /// Empty where dims have no names.
    names: Vec<Option<String>>,
}

impl SafeTensors {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// [`ErrorKind::File`] when the system cannot open or map it; [`ErrorKind::Parse`] when it is broken: a header that is
    /// cut off or no JSON, sizes and places that do not fit each other or the file, a tensor that stands twice; the kind of
    /// its fault when names do not fit a tensor.
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
            let known = header::from_file(info.dtype);
            let numel = known.map_or(end - start, |dtype| (end - start) / dtype.size());
            MappedPart {
                // Within the file, as the header was checked to be.
                start: header.start + start,
                dtype: known.unwrap_or(nomina::DType::U8),
                numel,
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
        })
    }

    /// The names of the tensors, sorted.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Texts that the file has beside its tensors, names of dims among them ([`DIMS`]).
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// A tensor with the names that the file says; a dim has none where it says none. Elements are not copied.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// # use nomina_io::safetensors::{self, SafeTensors};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("model.safetensors");
    /// # safetensors::save(&path, [("w", DynTensor::ones(&[2, 3], ())?)])?;
    /// // A file of another program, which says no names.
    /// let file = SafeTensors::open(&path)?;
    /// let w: Tensor<(Wild, Wild)> = file.tensor("w")?;
    /// let w: DynTensor = file.tensor("w")?;
    /// # assert_eq!(w.shape(), [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] when there is no such tensor; [`ErrorKind::DType`] when its elements are none of ours, or
    /// others than the type says; [`ErrorKind::Rank`], [`ErrorKind::NameMismatch`], [`ErrorKind::UnnamedDim`] or
    /// [`ErrorKind::Shape`] when its dims are others; [`ErrorKind::Parse`] when a truth value is neither 0 nor 1. The text
    /// has the file, the tensor, its dims with sizes, and the type's.
    pub fn tensor<X: OpenAs>(&self, name: &str) -> Result<X> {
        let op = "tensor";
        self.found(op, name, as_it_is)
    }

    /// As [`tensor`](Self::tensor), but that dims without a name take the one which the type says, by position; names that
    /// the file has are checked.
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
    /// When there is no such tensor, or its names, sizes or dtype are others than the type says.
    pub fn refine<X: OpenAs>(&self, name: &str) -> Result<X> {
        let op = "refine";
        self.found(op, name, refined)
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

    fn elements(&self, op: &'static str, name: &str) -> Result<DynTensor> {
        let Some(entry) = self.entries.get(name) else {
            let all = self.keys().take(20).map(|key| format!("`{key}`"));
            let all: Vec<String> = all.collect();
            let more = if self.entries.len() > all.len() {
                ", …"
            } else {
                ""
            };
            return Err(
                Error::new(ErrorKind::Argument, op, "there is no such tensor")
                    .hint(format!("the file has {}{more}", all.join(", "))),
            );
        };
        let names = match entry.names.is_empty() {
            true => Names::unnamed(entry.shape.len()),
            false => header::names_of(&entry.names)?,
        };
        if header::from_file(entry.dtype).is_none() {
            let what = format!("the elements are {}, which no tensor here has", entry.dtype);
            return Err(Error::new(ErrorKind::DType, op, what)
                .operand(&names, &entry.shape)
                .hint("convert it before it is saved"));
        }
        let raw = self.file.part(op, entry.part, &entry.shape);
        DynTensor::from_parts(raw.map_err(|error| error.with_names([&names]))?, names)
    }
}
