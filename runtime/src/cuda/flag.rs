//! Errors that only the device can find, while nobody waits for it: an index out of range, say.
//!
//! A kernel that may find one is started with a record's number. The first that finds one writes the
//! number and the bad value to the device's flag; whoever waits for the device next reads the flag and
//! makes the error that the record tells of.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Mutex;

use nomina_core::{Error, ErrorKind, Result};

use super::context::{Cuda, lock};
use crate::storage::DeviceBuffer;

/// How many records are kept. When there are so many, the older half is waited for and dropped; a
/// thread that made a record and has not started its kernel yet keeps it that way.
const RECORDS: usize = 4096;

/// What a kernel writes, as `index.cuh` has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Flag {
    /// Not zero when it was raised.
    raised: u64,
    /// What was found.
    value: i64,
    /// The number of the record.
    record: u64,
}

type Tell = Box<dyn Fn(i64) -> Error + Send>;

/// The records of what may be found, by number.
#[derive(Default)]
pub(super) struct Board(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    flag: Option<DeviceBuffer>,
    records: VecDeque<Tell>,
    /// The number of the first record.
    first: u32,
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Board")
    }
}

/// What a kernel needs to raise the flag: the flag's address and the record's number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raise {
    pub(crate) flag: *mut u8,
    pub(crate) record: u32,
}

impl Cuda {
    /// Prepares for a kernel of `op` that may find something wrong; `tell` then makes the error of the
    /// value that it found.
    pub(crate) fn may_raise(
        &'static self,
        op: &'static str,
        tell: impl Fn(i64) -> Error + Send + 'static,
    ) -> Result<Raise> {
        if lock(&self.board.0).records.len() >= RECORDS {
            self.synchronize(op)?;
            let mut inner = lock(&self.board.0);
            let older = inner.records.len() / 2;
            inner.records.drain(..older);
            inner.first = inner.first.wrapping_add(older as u32);
        }
        let mut inner = lock(&self.board.0);
        let flag = match &inner.flag {
            Some(flag) => flag.as_ptr(),
            None => {
                let flag = self.scratch(op, [size_of::<Flag>()])?;
                let at = flag.as_ptr();
                // SAFETY: the scratch was made just now.
                unsafe { self.clear(op, at, size_of::<Flag>())? };
                inner.flag = Some(flag);
                at
            }
        };
        let record = inner.first.wrapping_add(inner.records.len() as u32);
        inner.records.push_back(Box::new(tell));
        Ok(Raise { flag, record })
    }

    /// The error that the flag tells of, after all work is done.
    pub(super) fn raised(&self, op: &'static str) -> Result<()> {
        let inner = lock(&self.board.0);
        let Some(at) = inner.flag.as_ref().map(DeviceBuffer::as_ptr) else {
            return Ok(());
        };
        let mut flag = Flag::default();
        // SAFETY: the flag is a block of that size, and numbers may have any bits.
        unsafe { self.fetch(op, (&raw mut flag).cast(), at, size_of::<Flag>())? };
        if flag.raised == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { self.clear(op, at, size_of::<Flag>())? };
        let place = (flag.record as u32).wrapping_sub(inner.first) as usize;
        Err(match inner.records.get(place) {
            Some(tell) => tell(flag.value).settled(),
            None => {
                let what = format!("a kernel found the value {} out of range", flag.value);
                let error = Error::new(ErrorKind::Index, op, what);
                error
                    .hint("check the indices of the calls before")
                    .settled()
            }
        })
    }
}
