//! Errors that only the device can find, while nobody waits for it: an index out of range, say.
//!
//! A kernel that may find one is started with a flag of its own, which lies in the host's memory. The
//! first thread that finds one raises it, with the bad value; whoever waits for the device next looks at
//! the flags of what was started before, and makes the error. So a wait copies nothing for them, and an
//! error of what is started meanwhile stays for the next wait.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use cudarc::driver::result;
use nomina_core::{Error, Result};

use super::capture::Raises;
use super::context::{Cuda, lock};
use super::failure::failed;

/// How many flags there are. When all are in use, the device is waited for.
const FLAGS: u32 = 1024;

/// What a kernel writes, as `index.cuh` has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Flag {
    /// Not zero when it was raised.
    raised: u64,
    /// What was found.
    value: i64,
}

pub(super) type Tell = Arc<dyn Fn(i64) -> Error + Send + Sync>;

/// What a started kernel may have found.
struct Record {
    flag: u32,
    tell: Tell,
    /// Whether the flag is free afterwards, unless other records of it are left: those of a graph's replays.
    last: bool,
}

/// The flags of a device.
#[derive(Default)]
pub(super) struct Board(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// In pinned memory, which the device sees at the same addresses; made when first needed.
    flags: Option<NonNull<Flag>>,
    free: Vec<u32>,
    /// Of kernels that were started since the last wait, in order.
    started: Vec<Record>,
}

// SAFETY: the flags are this one's alone, and never freed.
unsafe impl Send for Inner {}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Board")
    }
}

/// What a kernel needs to raise a flag: the flags' address and the flag's number. It lives until the
/// kernel is started: from then on a wait looks at the flag.
#[must_use]
pub(crate) struct Raise {
    pub(crate) flag: *mut u8,
    pub(crate) record: u32,
    cuda: &'static Cuda,
    tell: Option<Tell>,
}

impl Drop for Raise {
    fn drop(&mut self) {
        if let Some(tell) = self.tell.take() {
            let flag = self.record;
            let mut raises = Some(Raises { flag, tell });
            // A kernel in a region may raise it each time that it is started.
            self.cuda
                .in_region(|region| region.may_raise(raises.take()));
            if let Some(Raises { flag, tell }) = raises {
                let last = true;
                lock(&self.cuda.board.0)
                    .started
                    .push(Record { flag, tell, last });
            }
        }
    }
}

/// The records of what was started before a wait, which are told after it or stay.
#[must_use]
pub(super) struct Pending<'a> {
    board: &'a Board,
    records: Vec<Record>,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if !self.records.is_empty() {
            let mut inner = lock(&self.board.0);
            self.records.append(&mut inner.started);
            inner.started = std::mem::take(&mut self.records);
        }
    }
}

impl Pending<'_> {
    /// The error of the first that found something, now that all are done.
    pub(super) fn told(mut self) -> Result<()> {
        let mut inner = lock(&self.board.0);
        let mut first = Ok(());
        for Record { flag, tell, last } in self.records.drain(..) {
            if let Some(flags) = inner.flags {
                // SAFETY: one of the flags, which no kernel writes any more.
                let found = unsafe { flags.add(flag as usize).replace(Flag::default()) };
                if found.raised != 0 && first.is_ok() {
                    first = Err(tell(found.value).settled());
                }
            }
            if last && Arc::strong_count(&tell) == 1 {
                inner.free.push(flag);
            } else if last {
                inner.started.push(Record { flag, tell, last });
            }
        }
        first
    }
}

impl Board {
    /// A region was started, whose kernels may raise these.
    pub(super) fn may_raise_again(&self, raises: &[Raises]) {
        let records = raises.iter().map(|Raises { flag, tell }| Record {
            flag: *flag,
            tell: Arc::clone(tell),
            last: false,
        });
        lock(&self.0).started.extend(records);
    }

    /// A region is started no more.
    pub(super) fn ends(&self, raises: Vec<Raises>) {
        let records = raises.into_iter().map(|Raises { flag, tell }| Record {
            flag,
            tell,
            last: true,
        });
        lock(&self.0).started.extend(records);
    }
}

impl Cuda {
    /// Prepares for a kernel of `op` that may find something wrong; `tell` then makes the error of the
    /// value that it found.
    pub(crate) fn may_raise(
        &'static self,
        op: &'static str,
        tell: impl Fn(i64) -> Error + Send + Sync + 'static,
    ) -> Result<Raise> {
        loop {
            let mut inner = lock(&self.board.0);
            let flags = match inner.flags {
                Some(flags) => flags,
                None => {
                    let flags = self.flags(op)?;
                    inner.free.extend((0..FLAGS).rev());
                    *inner.flags.insert(flags)
                }
            };
            if let Some(record) = inner.free.pop() {
                return Ok(Raise {
                    flag: flags.as_ptr().cast(),
                    record,
                    cuda: self,
                    tell: Some(Arc::new(tell)),
                });
            }
            drop(inner);
            self.synchronize(op)?;
        }
    }

    fn flags(&self, op: &'static str) -> Result<NonNull<Flag>> {
        let _bound = self.bind(op)?;
        let bytes = FLAGS as usize * size_of::<Flag>();
        // SAFETY: asks for memory, which is written before anybody reads it.
        let flags = unsafe { result::malloc_host(bytes, 0) }
            .map_err(|error| failed(op, "asking for pinned host memory", error))?;
        let flags = NonNull::new(flags.cast::<Flag>());
        let flags = flags.ok_or_else(|| super::memory::refused(op, bytes))?;
        // SAFETY: room for so many, given just now; zeros are a flag.
        unsafe { flags.write_bytes(0, FLAGS as usize) };
        Ok(flags)
    }

    /// What kernels that were started before now may have found: to be taken before a wait.
    pub(super) fn pending(&self) -> Pending<'_> {
        let records = std::mem::take(&mut lock(&self.board.0).started);
        Pending {
            board: &self.board,
            records,
        }
    }
}
