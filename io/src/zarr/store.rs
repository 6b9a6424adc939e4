//! A folder as a store: a value is a file, which is replaced as a whole.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use zarrs::storage::byte_range::{ByteRange, ByteRangeIterator};
use zarrs::storage::{
    Bytes, MaybeBytes, MaybeBytesIterator, OffsetBytesIterator, ReadableStorageTraits,
    StorageError, StoreKey, StorePrefix, WritableStorageTraits, store_set_partial_many,
};

use crate::atomic;

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// How many bytes a chunk by zstd may say that it has. The crate makes room for as many, before it looks.
    most: OnceLock<usize>,
}

/// A block of zstd: what a frame that does not say its length may be longer than it is.
const BLOCK: usize = 128 << 10;

impl Folder {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            most: OnceLock::new(),
        }
    }

    /// From now on values are chunks of so many bytes, compressed by zstd.
    pub(super) fn expect(&self, chunk: usize) {
        let _ = self.most.set(chunk.saturating_mul(2).saturating_add(BLOCK));
    }

    /// Refuses what says that it is longer than a chunk.
    fn checked(&self, bytes: Bytes) -> Result<Bytes, StorageError> {
        let said = zstd::bulk::Decompressor::upper_bound(&bytes);
        match (said, self.most.get()) {
            (Some(said), Some(&most)) if said > most => Err(StorageError::Other(format!(
                "a chunk that says it has {said} bytes"
            ))),
            _ => Ok(bytes),
        }
    }

    fn place(&self, key: &StoreKey) -> PathBuf {
        self.path.join(key.as_str())
    }

    /// A value that may not be there.
    fn open(&self, key: &StoreKey) -> Result<Option<(File, u64)>, StorageError> {
        let opened = File::open(self.place(key)).and_then(|file| {
            let len = file.metadata()?.len();
            Ok((file, len))
        });
        match opened {
            Ok(opened) => Ok(Some(opened)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
}

fn failed(error: io::Error) -> StorageError {
    StorageError::IOError(Arc::new(error))
}

/// A part of a file, which may have become shorter. Memory is asked for what it has.
fn part(file: &mut File, len: u64, range: ByteRange) -> Result<Bytes, StorageError> {
    let (start, end) = (range.start(len), range.end(len));
    if start > end || end > len {
        return Err(StorageError::Other(format!(
            "bytes {start}..{end} of {len}"
        )));
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    file.take(end - start)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    match bytes.len() as u64 == end - start {
        true => Ok(bytes.into()),
        false => Err(failed(ErrorKind::UnexpectedEof.into())),
    }
}

impl ReadableStorageTraits for Folder {
    fn get(&self, key: &StoreKey) -> Result<MaybeBytes, StorageError> {
        let opened = self.open(key)?;
        let value = opened
            .map(|(mut file, len)| part(&mut file, len, ByteRange::FromStart(0, None)))
            .transpose()?;
        value.map(|value| self.checked(value)).transpose()
    }

    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        let opened = self.open(key)?;
        Ok(opened.map(|(mut file, len)| {
            let parts = ranges.map(move |range| self.checked(part(&mut file, len, range)?));
            Box::new(parts) as Box<dyn Iterator<Item = _>>
        }))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        Ok(self.open(key)?.map(|(_, len)| len))
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}

impl WritableStorageTraits for Folder {
    fn set(&self, key: &StoreKey, value: Bytes) -> Result<(), StorageError> {
        let place = self.place(key);
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let written = atomic::write("write", &place, |out| {
            out.write_all(&value)
                .map_err(|error| atomic::failed("write", &error))
        });
        written.map_err(|error| StorageError::Other(error.to_string()))
    }

    fn set_partial_many(
        &self,
        key: &StoreKey,
        values: OffsetBytesIterator<'_>,
    ) -> Result<(), StorageError> {
        store_set_partial_many(self, key, values)
    }

    fn erase(&self, key: &StoreKey) -> Result<(), StorageError> {
        match fs::remove_file(self.place(key)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        }
    }

    fn erase_prefix(&self, prefix: &StorePrefix) -> Result<(), StorageError> {
        // Nothing here erases more than a chunk.
        Err(StorageError::Unsupported(format!(
            "erasing all of {prefix}"
        )))
    }

    fn supports_set_partial(&self) -> bool {
        false
    }
}
