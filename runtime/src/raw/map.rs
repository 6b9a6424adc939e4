//! Memory-mapped files as tensors.

use std::fs::File;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use memmap2::{MmapOptions, MmapRaw};
use nomina_core::{DType, Error, ErrorKind, Result};

use super::Raw;
use crate::shape;
use crate::storage::Storage;

/// The location of a tensor in a file: contiguous elements of one dtype, in the machine's byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedPart {
    /// The start, in bytes from the beginning of the file.
    pub start: usize,
    /// The dtype of its elements.
    pub dtype: DType,
    /// The number of elements.
    pub numel: usize,
}

impl MappedPart {
    fn range(&self, op: &'static str) -> Result<Range<usize>> {
        let end = shape::bytes(op, &[self.numel], self.dtype)
            .ok()
            .and_then(|bytes| self.start.checked_add(bytes));
        let end = end.ok_or_else(|| outside(op))?;
        Ok(self.start..end)
    }
}

#[cold]
fn outside(op: &'static str) -> Error {
    Error::new(
        ErrorKind::Parse,
        op,
        "a tensor is outside of the file, or overlaps another",
    )
}

/// A memory-mapped file, loaded page by page as it is read, with the locations of its tensors.
///
/// Writes to a tensor go to memory and never to the file. Elements stay in the file's pages if they are aligned;
/// otherwise they are copied at the first access. So are bools, because not every byte is a valid bool.
///
/// **The file must not change** while this or a tensor of it lives: writing to it changes those tensors, and truncating
/// it ends the process when they are read. Replacing it by a new file of the same name is harmless.
#[derive(Debug)]
pub struct MappedFile {
    map: Arc<MmapRaw>,
    parts: Vec<(MappedPart, OnceLock<Box<Raw>>)>,
}

impl MappedFile {
    /// Maps a file. Its parts are sorted by their start, and no two of them overlap.
    ///
    /// # Errors
    /// [`ErrorKind::Parse`] if parts overlap or leave the file, [`ErrorKind::File`] if the system cannot map it.
    pub fn new(op: &'static str, file: &File, parts: Vec<MappedPart>) -> Result<Self> {
        let failed = |error: std::io::Error| Error::new(ErrorKind::File, op, error.to_string());
        let len = file.metadata().map_err(failed)?.len();
        let len = usize::try_from(len).map_err(|_| outside(op))?;
        let mut free = 0;
        for part in &parts {
            let range = part.range(op)?;
            if range.start < free || range.end > len {
                return Err(outside(op));
            }
            free = range.end;
        }
        // SAFETY: a private mapping, so writes reach neither the file nor another process. This type requires that no
        // one else writes to the file; for the dtypes that are viewed in place, any bytes are valid elements.
        let map = unsafe { MmapOptions::new().len(len).no_reserve_swap().map_copy(file) };
        let parts = parts.into_iter().map(|part| (part, OnceLock::new()));
        Ok(Self {
            map: Arc::new(map.map_err(failed)?.into()),
            parts: parts.collect(),
        })
    }

    /// Returns the part at an index of the list, with these sizes. This keeps a reference to its elements: a tensor of
    /// it is written to in place once this is dropped, and copied first while it lives.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] if there is no such part, [`ErrorKind::Shape`] if the sizes do not multiply to its number
    /// of elements, [`ErrorKind::Parse`] if a bool is neither 0 nor 1, [`ErrorKind::Memory`].
    pub fn part(&self, op: &'static str, index: usize, shape: &[usize]) -> Result<Raw> {
        let Some((part, kept)) = self.parts.get(index) else {
            let what = format!("part {index} of {}", self.parts.len());
            return Err(Error::new(ErrorKind::Index, op, what));
        };
        let flat = match kept.get() {
            Some(raw) => raw,
            None => {
                let raw = Box::new(self.flat(op, part)?);
                // If two threads come here, one keeps its tensor, and the other drops its own unused.
                kept.get_or_init(|| raw)
            }
        };
        if shape::numel(op, shape)? != part.numel {
            let what = format!("sizes {shape:?} for {} elements", part.numel);
            return Err(Error::new(ErrorKind::Shape, op, what));
        }
        Ok(Raw::row_major(flat.storage.clone(), shape, part.dtype))
    }

    /// Returns all elements of a part, as one dim.
    fn flat(&self, op: &'static str, part: &MappedPart) -> Result<Raw> {
        let range = part.range(op)?;
        let first = self.map.as_mut_ptr().wrapping_add(range.start);
        let in_place = part.dtype != DType::Bool
            && first.addr().is_multiple_of(part.dtype.size())
            && !range.is_empty();
        let Some(ptr) = NonNull::new(first).filter(|_| in_place) else {
            // SAFETY: within the mapping, as `new` checked; a copied part is never written to.
            let bytes = unsafe { std::slice::from_raw_parts(first, range.len()) };
            return Raw::from_bytes(op, part.dtype, &[part.numel], bytes);
        };
        // SAFETY: within the mapping, which the storage keeps alive; parts do not overlap, and this is the only storage
        // of the part, because `part` keeps the first one.
        let storage = unsafe { Storage::mapped(op, ptr, range.len(), self.map.clone())? };
        Ok(Raw::row_major(storage, &[part.numel], part.dtype))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(bytes: &[u8]) -> File {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("nomina-{}-{count}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let file = File::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file
    }

    fn part(start: usize, dtype: DType, numel: usize) -> MappedPart {
        MappedPart {
            start,
            dtype,
            numel,
        }
    }

    #[test]
    fn parts_lie_within_the_file_and_not_on_each_other() {
        let file = opened(&[1; 16]);
        let kind = |parts: &[MappedPart]| {
            let mapped = MappedFile::new("open", &file, parts.to_vec());
            mapped.map_err(|error| error.kind()).err()
        };
        let half = part(0, DType::F32, 2);
        assert_eq!(kind(&[half, part(8, DType::F32, 2)]), None);
        for wrong in [
            part(9, DType::F32, 2),
            part(7, DType::U8, 1),
            part(16, DType::U8, 1),
            part(usize::MAX, DType::U8, 2),
            part(8, DType::F64, usize::MAX),
        ] {
            assert_eq!(kind(&[half, wrong]), Some(ErrorKind::Parse), "{wrong:?}");
        }
    }

    #[test]
    fn a_part_is_the_files_until_it_is_written_to() {
        let bytes: Vec<u8> = (0..64).map(|i| i % 2).collect();
        let parts = vec![
            part(0, DType::I16, 8),
            part(17, DType::I32, 2),
            part(32, DType::Bool, 4),
        ];
        let file = MappedFile::new("open", &opened(&bytes), parts).unwrap();
        let in_place =
            |raw: &Raw, start: usize| raw.as_ptr() == file.map.as_ptr().wrapping_add(start);
        let (first, again) = (
            file.part("open", 0, &[2, 4]).unwrap(),
            file.part("open", 0, &[8]).unwrap(),
        );
        assert!(in_place(&first, 0) && first.shares_storage(&again) && !first.is_unique());
        assert_eq!(first.as_slice::<i16>(), Some(&[256; 8][..]));
        // Copies: one is not aligned, the other might contain invalid bools.
        let odd = file.part("open", 1, &[2]).unwrap();
        assert_eq!(odd.as_bytes(), Some(&bytes[17..25]));
        assert!(!in_place(&odd, 17));
        let truth = file.part("open", 2, &[4]).unwrap();
        assert_eq!(
            truth.as_slice::<bool>(),
            Some(&[false, true, false, true][..])
        );
        assert!(!in_place(&truth, 32));
        assert_eq!(
            file.part("open", 3, &[]).unwrap_err().kind(),
            ErrorKind::Index
        );
        assert_eq!(
            file.part("open", 0, &[9]).unwrap_err().kind(),
            ErrorKind::Shape
        );
        let address = first.as_ptr();
        drop((file, again));
        let mut alone = first;
        let written = alone.unique_ptr().unwrap();
        // SAFETY: the first of its sixteen bytes, which are not shared.
        unsafe { written.write(7) };
        assert_eq!((alone.as_ptr(), alone.as_bytes().unwrap()[0]), (address, 7));
    }
}
