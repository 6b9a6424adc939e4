//! Logs in TensorBoard's event format.
//!
//! ```
//! use nomina::prelude::*;
//! use nomina_nn::tensorboard::EventLog;
//! dims! { N }
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().join("runs/first");
//! let mut log = EventLog::create(folder)?;
//! for step in 0..3 {
//!     log.scalar("loss/train", 1.0 / (step + 1) as f64, step)?;
//! }
//! log.histogram("weights", &Tensor::<(N,)>::randn([100]), 2)?;
//! log.text("options", "`lr = 0.1`", 0)?;
//! log.flush()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `tensorboard --logdir runs` shows it, beside logs of PyTorch and TensorFlow. The crates for this format are
//! unmaintained or need a compiler of protocol buffers, so that the few messages are written here; checksums are those
//! of the crate `crc32c`.

mod histogram;
mod message;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use nomina::dims::Dims;
use nomina::{DType, Error, ErrorKind, Real, Result, Tensor};

use histogram::Histogram;
use message::Message;

/// A log: one file of events in a folder, which is a run in TensorBoard.
///
/// Events are buffered; [`flush`](Self::flush) and dropping the log write them.
#[derive(Debug)]
pub struct EventLog {
    file: BufWriter<File>,
    path: PathBuf,
}

impl EventLog {
    /// Creates a new file in a folder, and the folder if it does not exist. Other files in it stay, so that a resumed
    /// run continues in the same folder.
    ///
    /// # Errors
    /// If the file cannot be created or written.
    pub fn create(folder: impl AsRef<Path>) -> Result<Self> {
        static CREATED: AtomicU64 = AtomicU64::new(0);
        let folder = folder.as_ref();
        let failed = |error| failed(folder, &error);
        fs::create_dir_all(folder).map_err(failed)?;
        let (seconds, process) = (now() as u64, process::id());
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        // TensorBoard looks for the word; the rest keeps names of several processes apart.
        let name = format!("events.out.tfevents.{seconds:010}.nomina.{process}.{number}");
        let path = folder.join(name);
        let file = File::create_new(&path).map_err(failed)?;
        let mut log = Self {
            file: BufWriter::new(file),
            path,
        };
        let mut version = Message::default();
        version.double(1, now()).text(3, "brain.Event:2");
        log.write(&version)?;
        log.flush()?;
        Ok(log)
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a number. A `/` in the tag groups charts; the format stores an `f32`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn scalar(&mut self, tag: &str, value: impl Into<f64>, step: u64) -> Result<()> {
        self.value(tag, step, |summary| {
            summary.float(2, value.into() as f32);
        })
    }

    /// Adds the distribution of a tensor's elements. Elements that are not finite are left out.
    ///
    /// # Errors
    /// If the file cannot be written, or memory runs out.
    pub fn histogram<D: Dims, T: Real>(
        &mut self,
        tag: &str,
        values: &Tensor<D, T>,
        step: u64,
    ) -> Result<()> {
        let values = values.to_dyn().detach().to_dtype(DType::F64)?;
        let histogram = Histogram::count(&values.to_vec::<f64>()?);
        self.value(tag, step, |summary| {
            summary.message(5, &histogram.message());
        })
    }

    /// Adds a text, which TensorBoard shows as Markdown.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn text(&mut self, tag: &str, text: &str, step: u64) -> Result<()> {
        const STRING: u64 = 7;
        let (mut plugin, mut metadata) = (Message::default(), Message::default());
        plugin.text(1, "text");
        metadata.message(1, &plugin);
        let (mut size, mut shape, mut tensor) = <(Message, Message, Message)>::default();
        size.number(1, 1);
        shape.message(2, &size);
        tensor.number(1, STRING).message(2, &shape).text(8, text);
        self.value(tag, step, |summary| {
            summary.message(8, &tensor).message(9, &metadata);
        })
    }

    /// Adds an image that is encoded as PNG, such as one from `nomina_io::png`.
    ///
    /// # Errors
    /// If the bytes are not a PNG, or the file cannot be written.
    pub fn png(&mut self, tag: &str, png: &[u8], step: u64) -> Result<()> {
        let Some(header) = message::PngHeader::parse(png) else {
            let error = Error::new(ErrorKind::Parse, "EventLog", "the image is not a PNG");
            return Err(error.hint("encode it first, with `nomina_io::png`"));
        };
        let mut image = Message::default();
        image.number(1, header.height).number(2, header.width);
        image.number(3, header.channels).bytes(4, png);
        self.value(tag, step, |summary| {
            summary.message(4, &image);
        })
    }

    /// Writes all events to the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn flush(&mut self) -> Result<()> {
        let flushed = self.file.flush();
        flushed.map_err(|error| failed(&self.path, &error))
    }

    fn value(&mut self, tag: &str, step: u64, fill: impl FnOnce(&mut Message)) -> Result<()> {
        let (mut value, mut summary) = (Message::default(), Message::default());
        value.text(1, tag);
        fill(&mut value);
        summary.message(1, &value);
        let mut event = Message::default();
        event.double(1, now()).number(2, step).message(5, &summary);
        self.write(&event)
    }

    /// Writes a record: length, checksum of the length, event, checksum of the event.
    fn write(&mut self, event: &Message) -> Result<()> {
        let bytes = event.as_bytes();
        let length = (bytes.len() as u64).to_le_bytes();
        let mut record = Vec::with_capacity(bytes.len() + 16);
        record.extend(length);
        record.extend(masked_checksum(&length).to_le_bytes());
        record.extend(bytes);
        record.extend(masked_checksum(bytes).to_le_bytes());
        let written = self.file.write_all(&record);
        written.map_err(|error| failed(&self.path, &error))
    }
}

/// Returns a checksum as the format stores it: rotated, plus a constant, since checksums of data with checksums are weak.
fn masked_checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
        .rotate_right(15)
        .wrapping_add(0xa282_ead8)
}

/// Returns the seconds since 1970.
fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

#[cold]
fn failed(path: &Path, error: &io::Error) -> Error {
    let what = format!("{}: {error}", path.display());
    Error::new(ErrorKind::File, "EventLog", what)
}
