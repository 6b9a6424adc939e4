//! Files: protobuf messages, tensors and their external data.

pub mod tensor;
pub mod wire;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

use nomina_core::{Error, ErrorKind, Result};

/// The operator named by errors about files.
pub const READ: &str = "onnx";

/// Creates the error of a file that is not ONNX.
#[cold]
pub fn broken(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::File, READ, what).hint("check the file with `onnx.checker.check_model`")
}

/// The deepest nesting of graphs in graphs.
pub const MAX_DEPTH: usize = 16;

/// The memory that reading may allocate, and the folder of external data.
#[derive(Debug)]
pub struct Limits<'a> {
    left: Cell<usize>,
    seen: RefCell<Vec<PathBuf>>,
    /// The folder of the model, for external data.
    pub folder: Option<&'a Path>,
}

impl<'a> Limits<'a> {
    /// Allows twice the size of the file and a mebibyte for small files.
    pub fn new(file: usize, folder: Option<&'a Path>) -> Self {
        let left = file.saturating_mul(2).saturating_add(1 << 20);
        Self {
            left: Cell::new(left),
            seen: RefCell::default(),
            folder,
        }
    }

    /// Takes `bytes` from what is left.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn take(&self, bytes: usize) -> Result<()> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(broken("the file asks for more memory than twice its size")),
        }
    }

    /// Adds twice the size of a file of external data, once for each file: several tensors may have the same bytes.
    pub fn add(&self, path: &Path, bytes: u64) {
        let mut seen = self.seen.borrow_mut();
        if !seen.iter().any(|other| other == path) {
            seen.push(path.to_owned());
            let twice = usize::try_from(bytes.saturating_mul(2)).unwrap_or(usize::MAX);
            self.left.set(self.left.get().saturating_add(twice));
        }
    }
}
