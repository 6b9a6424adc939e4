//! Writing of tensors that are divided over several files.
//!
//! A file with parts stores their starts in its metadata, with the key and format of PyTorch's distributed checkpoints,
//! which can read them: `DCP_SHARDING_INFO` is the text of `{"w": {"saved_offsets": [2, 0]}}`. The index next to the
//! files has Hugging Face's format, and also lists the parts of each tensor that has several.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use nomina::{DynTensor, Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::save_with;
use crate::json::{AtMost, MOST_DIMS};
use nomina_runtime::file::{self, failed};

/// The name of the index of a checkpoint of several files.
pub const INDEX: &str = "model.safetensors.index.json";

/// The metadata key of the starts of parts.
pub(super) const SHARDING: &str = "DCP_SHARDING_INFO";

/// The start of a part within its tensor.
#[derive(Deserialize, Serialize)]
pub(super) struct Sharding<T = AtMost<usize, MOST_DIMS>> {
    pub(super) saved_offsets: T,
}

/// Writes parts of tensors to a file. Each part comes with its start: the index of its first element within the tensor,
/// one number per dim. Otherwise like [`save`](super::save).
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::safetensors::{self, Checkpoint, PartAt};
/// dims! { N, C }
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// // The rows of a tensor, by two processes; then an index, by one of them.
/// let x = tensor!([[1., 2.], [3., 4.], [5., 6.]]; N, C);
/// safetensors::save_parts(folder.join("1.safetensors"), [("x", vec![0, 0], x.narrow(N, ..2).to_dyn())])?;
/// safetensors::save_parts(folder.join("2.safetensors"), [("x", vec![2, 0], x.narrow(N, 2..).to_dyn())])?;
/// let part = |file: &str, start, rows| PartAt {
///     name: "x".into(),
///     file: file.into(),
///     start: vec![start, 0],
///     shape: vec![rows, 2],
///     dtype: DType::F32,
/// };
/// safetensors::save_index(folder, [part("1.safetensors", 0, 2), part("2.safetensors", 2, 1)])?;
///
/// let same: Tensor<(N, C)> = Checkpoint::open(folder)?.tensor("x")?;
/// assert!(same.equal(&x));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`save`](super::save), and [`ErrorKind::Argument`] if a start does not have one number per
/// dim.
pub fn save_parts<K: Into<String>, X: Into<DynTensor>>(
    path: impl AsRef<Path>,
    parts: impl IntoIterator<Item = (K, Vec<usize>, X)>,
) -> Result<()> {
    let path = path.as_ref();
    let (mut tensors, mut starts) = (Vec::new(), BTreeMap::new());
    for (name, start, tensor) in parts {
        let (name, tensor) = (name.into(), tensor.into());
        if start.len() != tensor.rank() {
            let what = format!("the part `{name}` begins at {start:?}");
            return Err(Error::new(ErrorKind::Argument, "save", what)
                .operand(tensor.names(), tensor.shape())
                .hint("give a number for each dim")
                .within(path.display()));
        }
        let saved_offsets = start;
        starts.insert(name.clone(), Sharding { saved_offsets });
        tensors.push((name, tensor));
    }
    let text = text(&starts).map_err(|error| error.within(path.display()))?;
    let metadata = [
        (SHARDING, text),
        ("DCP_VERSION", "1.0".to_owned()),
        ("format", "pt".to_owned()),
    ];
    save_with(path, tensors, metadata)
}

fn text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::new(ErrorKind::Argument, "save", error.to_string()))
}

/// The location and description of a tensor's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartAt {
    /// The name of the tensor.
    pub name: String,
    /// The name of the file within the checkpoint's folder.
    pub file: String,
    /// The index of the part's first element within the tensor.
    pub start: Vec<usize>,
    /// The sizes of the part.
    pub shape: Vec<usize>,
    /// The dtype of the tensor.
    pub dtype: nomina::DType,
}

/// An index file.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct Index {
    #[serde(default)]
    pub(super) metadata: About,
    pub(super) weight_map: BTreeMap<String, String>,
}

/// The contents of an index besides the file of each tensor.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct About {
    /// The bytes of all elements. Other programs write an integer or a float; it is never read.
    #[serde(default, skip_deserializing)]
    total_size: u64,
    /// The parts of tensors that have several: file, start and sizes.
    #[serde(
        default,
        rename = "nomina.parts",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub(super) parts: BTreeMap<String, Vec<(String, Sizes, Sizes)>>,
}

pub(super) type Sizes = AtMost<usize, MOST_DIMS>;

/// Writes the index of a folder's files. Each tensor is whole in one file, or its parts cover it without overlap.
///
/// # Errors
/// Returns [`ErrorKind::File`] if the file cannot be written.
pub fn save_index(folder: impl AsRef<Path>, parts: impl IntoIterator<Item = PartAt>) -> Result<()> {
    let mut index = Index::default();
    for part in parts {
        let numel = part.shape.iter().map(|&size| size as u64);
        let bytes = numel.fold(part.dtype.size() as u64, u64::saturating_mul);
        let all = &mut index.metadata;
        all.total_size = all.total_size.saturating_add(bytes);
        let first = index.weight_map.entry(part.name.clone());
        first.or_insert_with(|| part.file.clone());
        let parts = all.parts.entry(part.name).or_default();
        parts.push((part.file, AtMost(part.start), AtMost(part.shape)));
    }
    // A tensor that is whole in one file needs only the file's name.
    index.metadata.parts.retain(|_, parts| parts.len() > 1);
    let path = folder.as_ref().join(INDEX);
    let text = text(&index).map_err(|error| error.within(path.display()))?;
    file::write("save", &path, |out| {
        out.write_all(text.as_bytes())
            .map_err(|error| failed("save", &error))
    })
}
