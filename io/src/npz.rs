//! npz files: several npy files in a zip archive, as `np.savez` and `np.savez_compressed` write them.
//!
//! The format has no dim names: they come from the requested type, and [`save`] drops those of a tensor.

use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use nomina::{DType, DynTensor, Error, ErrorKind, Names, Result};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::description::TensorDescription;
use crate::foreign::Elements;
use crate::npy::{header, write};
use crate::open::{OpenAs, open_refined};
use nomina_runtime::file::{self, failed};

/// A file that is open for reading. Each array is read on request.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::npz::{self, Npz};
/// dims! { N, C }
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("all.npz");
/// npz::save(&path, [("x", tensor!([[1., 2.], [3., 4.]]; N, C).into_dyn()), ("y", tensor!([1, 2]; N).into_dyn())])?;
/// let file = Npz::open(&path)?;
/// assert_eq!(file.keys(), ["x", "y"]);
/// let x: Tensor<(N, C)> = file.load("x")?;
/// # assert_eq!(x.to_vec(), [1., 2., 3., 4.]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Npz {
    path: PathBuf,
    keys: Vec<String>,
    /// Locked, because all readers share the file's cursor.
    archive: Mutex<ZipArchive<BufReader<File>>>,
}

#[cold]
fn broken(op: &'static str, error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Parse, op, error.to_string())
}

impl Npz {
    /// Opens a file and reads the list of its arrays.
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if the file cannot be opened, [`ErrorKind::Parse`] if it is not a valid zip archive.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let (op, path) = ("open", path.as_ref());
        let about = |error: Error| error.within(path.display());
        let file = file::open(path).map_err(|error| about(failed(op, &error)))?;
        let archive =
            ZipArchive::new(BufReader::new(file)).map_err(|error| about(broken(op, error)))?;
        let names: std::result::Result<Vec<_>, _> = archive.file_names().collect();
        let names = names.map_err(|error| about(broken(op, error)))?;
        let arrays = names.iter().filter_map(|name| name.strip_suffix(".npy"));
        let mut keys: Vec<String> = arrays.map(str::to_owned).collect();
        keys.sort_unstable();
        Ok(Self {
            path: path.to_owned(),
            keys,
            archive: Mutex::new(archive),
        })
    }

    /// Returns the names of the arrays, sorted.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Reads an array. Its dims are named by position as in the type; the dims of a [`DynTensor`] have no names.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the array is missing; [`ErrorKind::Parse`] if it is corrupt, or compressed
    /// in a way that NumPy does not use; [`ErrorKind::DType`], [`ErrorKind::Rank`] or [`ErrorKind::Shape`] if its
    /// elements or dims differ from the type; [`ErrorKind::Memory`] if memory is missing.
    pub fn load<X: OpenAs>(&self, name: &str) -> Result<X> {
        let op = "load";
        let loaded = self
            .read(op, name)
            .and_then(|tensor| open_refined(op, tensor));
        loaded.map_err(|error: Error| {
            error.within(format_args!("`{name}` in {}", self.path.display()))
        })
    }

    /// Describes all arrays.
    pub(crate) fn describe(&self) -> Result<Vec<TensorDescription>> {
        let op = "describe";
        let describe = |name: &String| {
            let mut archive = self.archive.lock().unwrap_or_else(|held| held.into_inner());
            let entry = archive.by_name(&format!("{name}.npy"));
            let mut entry = entry.map_err(|error| broken(op, error))?;
            let header = header::read(op, &mut entry)?;
            // Unsigned integers are read as `i64`.
            let dtype = if header.unsigned {
                DType::I64
            } else {
                header.dtype
            };
            let (names, elements) = (Names::unnamed(header.shape.len()), Elements::Own(dtype));
            Ok(TensorDescription::new(name, names, &header.shape, elements))
        };
        let all = self.keys.iter();
        all.map(|name| {
            describe(name).map_err(|error: Error| {
                error.within(format_args!("`{name}` in {}", self.path.display()))
            })
        })
        .collect()
    }

    fn read(&self, op: &'static str, name: &str) -> Result<DynTensor> {
        if !self.keys.iter().any(|key| key == name) {
            let keys = self.keys.iter().take(20).map(|key| format!("`{key}`"));
            let keys: Vec<String> = keys.collect();
            return Err(Error::new(ErrorKind::Argument, op, "array not found")
                .hint(format!("the file has {}", keys.join(", "))));
        }
        // A thread that panicked while it read left only the cursor moved, which every read does.
        let mut archive = self.archive.lock().unwrap_or_else(|held| held.into_inner());
        let entry = archive.by_name(&format!("{name}.npy"));
        let mut entry = entry.map_err(|error| broken(op, error))?;
        let header = header::read(op, &mut entry)?;
        header.numel(op, entry.size())?;
        let stored = header.read(op, &mut entry)?;
        // Reading past the end verifies the checksum.
        let more = entry.read(&mut [0]).map_err(|error| broken(op, error))?;
        if more != 0 {
            return Err(broken(op, "there are too many elements"));
        }
        header.tensor(stored)
    }
}

/// Writes tensors to a file, which appears either complete or not at all: it is written under a temporary name and
/// renamed. Dim names are not stored; elements are not compressed.
///
/// # Errors
/// Returns [`ErrorKind::DType`] for `bf16`, which the format lacks; [`ErrorKind::Argument`] for a duplicate name;
/// [`ErrorKind::File`] if the file cannot be written; [`ErrorKind::Memory`] if memory is missing. An existing file is
/// unchanged then.
pub fn save<K: Into<String>, X: Into<DynTensor>>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (K, X)>,
) -> Result<()> {
    let tensors: Vec<(String, DynTensor)> = tensors
        .into_iter()
        .map(|(name, tensor)| (name.into(), tensor.into()))
        .collect();
    let op = "save";
    file::write(op, path.as_ref(), |out| {
        let metadata = out.get_ref().metadata();
        if metadata.map_err(|error| failed(op, &error))?.is_file() {
            archive(op, ZipWriter::new(out), &tensors)
        } else {
            // A pipe cannot seek: the sizes follow each array.
            archive(op, ZipWriter::new_stream(out), &tensors)
        }
    })
}

fn archive<W: Write + Seek>(
    op: &'static str,
    mut archive: ZipWriter<W>,
    tensors: &[(String, DynTensor)],
) -> Result<()> {
    let zip = |error: ZipError| match error {
        ZipError::Io(error) => failed(op, &error),
        error => Error::new(ErrorKind::Argument, op, error.to_string()),
    };
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(true);
    for (name, tensor) in tensors {
        let about = |error: Error| error.within(format_args!("`{name}`"));
        archive
            .start_file(format!("{name}.npy"), options)
            .map_err(|error| about(zip(error)))?;
        write(op, &mut archive, tensor).map_err(about)?;
    }
    archive.finish().map(drop).map_err(zip)
}
