//! Writing of safetensors files.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::Path;

use nomina::{DynTensor, Error, ErrorKind, Name, Result};
use nomina_runtime::Raw;
use nomina_runtime::call::{contiguous, to_device};
use safetensors::tensor::{Dtype, TensorInfo};

use super::{DIMS, header};
use nomina_runtime::file::{self, failed};

const OP: &str = "save";

/// Writes tensors and their dim names to a file, which appears either complete or not at all: it is written under a
/// temporary name and renamed.
///
/// Accepts any pairs of a name and a tensor, including a map. For tensors of several types, pass pairs of a name and
/// `x.to_dyn()`, which costs nothing. The tensors may have any strides and be on any device.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::safetensors;
/// dims! { Out, In }
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// let (w, b) = (Tensor::<(Out, In)>::ones([2, 3]), Tensor::<(Out,), f64>::zeros([2]));
/// safetensors::save(&path, [("w", w.to_dyn()), ("b", b.to_dyn())])?;
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Returns [`ErrorKind::DType`] for `Complex<f64>`, which the format lacks; [`ErrorKind::Argument`] for a duplicate
/// name or the name `__metadata__`; [`ErrorKind::File`] if the file cannot be written; [`ErrorKind::Memory`] if memory
/// is missing. An existing file is unchanged then.
pub fn save<K: Into<String>, X: Into<DynTensor>>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (K, X)>,
) -> Result<()> {
    save_with(path, tensors, [] as [(String, String); 0])
}

/// Like [`save`], with additional metadata, such as `[("format", "pt")]`.
///
/// # Errors
/// If a dtype is `Complex<f64>`, a name is duplicated, the metadata has the key [`DIMS`], the file cannot be written,
/// or memory is missing.
pub fn save_with<K: Into<String>, X: Into<DynTensor>>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (K, X)>,
    metadata: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
) -> Result<()> {
    let path = path.as_ref();
    let tensors: Vec<(String, DynTensor)> = tensors
        .into_iter()
        .map(|(name, tensor)| (name.into(), tensor.into()))
        .collect();
    let metadata = metadata
        .into_iter()
        .map(|(key, text)| (key.into(), text.into()));
    write(path, tensors, metadata.collect())
}

fn write(
    path: &Path,
    tensors: Vec<(String, DynTensor)>,
    mut metadata: BTreeMap<String, String>,
) -> Result<()> {
    let about = |error: Error| error.within(path.display());
    let refused = |what: String| about(Error::new(ErrorKind::Argument, OP, what));
    if metadata.contains_key(DIMS) {
        return Err(refused(format!("`{DIMS}` is reserved for dim names")));
    }
    let mut seen = HashSet::new();
    let twice = tensors
        .iter()
        .find(|(name, _)| !seen.insert(&name[..]) || name == "__metadata__");
    if let Some((name, _)) = twice {
        return Err(refused(format!("`{name}` is repeated or reserved")));
    }
    let names = named(&tensors);
    if !names.is_empty() {
        let text = serde_json::to_string(&names).map_err(|error| refused(error.to_string()))?;
        metadata.insert(DIMS.to_owned(), text);
    }
    let mut typed = Vec::new();
    for (name, tensor) in tensors {
        let dtype = header::to_file(OP, tensor.dtype()).map_err(|error| {
            let error = error.operand(tensor.names(), tensor.shape());
            about(error.within(format_args!("`{name}`")))
        })?;
        // Detached, because saving is not recorded.
        typed.push((name, dtype, tensor.into_parts().0.detach()));
    }
    // The format's order: largest elements first, so that every tensor is aligned.
    typed.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let header = header::encode(OP, &listed(&typed), &metadata).map_err(about)?;
    file::write(OP, path, |out| {
        let io = |error: std::io::Error| failed(OP, &error);
        out.write_all(&(header.len() as u64).to_le_bytes())
            .map_err(io)?;
        out.write_all(&header).map_err(io)?;
        for (_, _, raw) in &typed {
            let raw = contiguous(&to_device(raw, nomina::Device::Cpu)?)?;
            out.write_all(raw.as_bytes().unwrap_or_default())
                .map_err(io)?;
        }
        Ok(())
    })
}

/// Returns the dim names of the tensors that have some.
fn named(tensors: &[(String, DynTensor)]) -> BTreeMap<&str, Vec<Option<&str>>> {
    tensors
        .iter()
        .filter(|(_, tensor)| tensor.names().has_names())
        .map(|(name, tensor)| {
            let dims = tensor.names().iter();
            (
                &name[..],
                dims.map(|dim| dim.as_ref().map(Name::as_str)).collect(),
            )
        })
        .collect()
}

/// Returns the tensors with their offsets, without gaps.
fn listed(tensors: &[(String, Dtype, Raw)]) -> Vec<(String, TensorInfo)> {
    let mut end = 0_usize;
    let infos = tensors.iter().map(|(name, dtype, raw)| {
        let start = end;
        end = end.saturating_add(raw.nbytes());
        let info = TensorInfo {
            dtype: *dtype,
            shape: raw.shape().to_vec(),
            data_offsets: (start, end),
        };
        (name.clone(), info)
    });
    infos.collect()
}
