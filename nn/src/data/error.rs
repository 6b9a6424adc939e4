//! Errors of loaders.

use std::any::Any;

use nomina::{Error, ErrorKind};

/// Any error of a data set: of files, decoders, operators.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The batch, and of its items the one that failed.
pub(super) struct LoadPlace {
    pub(super) epoch: u64,
    pub(super) batch: usize,
    /// `None` if the items were read, but do not fit into one batch.
    pub(super) index: Option<usize>,
}

impl LoadPlace {
    /// Adds the place to an error, and keeps its kind: `File` for those of files.
    pub(super) fn failed(&self, cause: &BoxError) -> Error {
        let kind = match cause.downcast_ref::<Error>() {
            Some(own) => own.kind(),
            None if cause.is::<std::io::Error>() => ErrorKind::File,
            None => ErrorKind::Argument,
        };
        self.error(kind, &cause.to_string())
    }

    /// Returns the error of a caught panic.
    pub(super) fn panicked(&self, payload: &(dyn Any + Send)) -> Error {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("no text");
        self.error(ErrorKind::Argument, &format!("a panic: {text}"))
    }

    fn error(&self, kind: ErrorKind, cause: &str) -> Error {
        let Self { epoch, batch, .. } = self;
        let place = match self.index {
            Some(index) => format!("item {index} (batch {batch} of epoch {epoch})"),
            None => format!("batch {batch} of epoch {epoch}"),
        };
        Error::new(kind, "loader", format!("{place}: {cause}"))
    }
}
