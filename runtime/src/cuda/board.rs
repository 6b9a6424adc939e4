//! The flags of a device: words in host memory that a kernel writes when it finds an error.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use nomina_core::{Error, Result};

use super::per_device::lock;

/// The number of flags. If all are in use, the next kernel that needs one waits for the device.
pub(super) const FLAGS: u32 = 1024;

/// A flag as kernels write it: the struct of `index.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flag {
    /// Not zero if the flag was raised.
    raised: u64,
    /// The value that the kernel found.
    value: i64,
}

/// Makes the error for the value that a kernel found.
pub(super) type MakeError = Arc<dyn Fn(i64) -> Error + Send + Sync>;

/// A flag that a kernel may raise, and the error that it means.
pub(super) struct FlagUse {
    pub(super) flag: u32,
    pub(super) error: MakeError,
}

impl fmt::Debug for FlagUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flag {}", self.flag)
    }
}

/// A started kernel that may have raised a flag.
struct Record {
    used: FlagUse,
    /// Whether the flag is free afterwards, unless other records of it remain: those of a graph's replays.
    last: bool,
}

/// The flags of a device.
#[derive(Default)]
pub(super) struct Board(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// In pinned memory, which the device sees at the same addresses; allocated at the first use.
    flags: Option<NonNull<Flag>>,
    free: Vec<u32>,
    /// Kernels started since the last wait, in order.
    started: Vec<Record>,
}

// SAFETY: the flags belong to this struct alone and are never freed.
unsafe impl Send for Inner {}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Board")
    }
}

/// The records of kernels that were started before a wait. They are checked after it, or go back to the board if it
/// fails.
#[must_use]
pub(super) struct PendingFlags<'a> {
    board: &'a Board,
    records: Vec<Record>,
}

impl Drop for PendingFlags<'_> {
    fn drop(&mut self) {
        if !self.records.is_empty() {
            let mut inner = lock(&self.board.0);
            self.records.append(&mut inner.started);
            inner.started = std::mem::take(&mut self.records);
        }
    }
}

impl PendingFlags<'_> {
    /// Returns the error of the first kernel that raised its flag. All of them must have ended.
    pub(super) fn check(mut self) -> Result<()> {
        let mut inner = lock(&self.board.0);
        let mut first = Ok(());
        for Record { used, last } in self.records.drain(..) {
            if let Some(flags) = inner.flags {
                // SAFETY: one of the flags, which no kernel writes any more.
                let found = unsafe { flags.add(used.flag as usize).replace(Flag::default()) };
                if found.raised != 0 && first.is_ok() {
                    first = Err((used.error)(found.value).settled());
                }
            }
            if last && Arc::strong_count(&used.error) == 1 {
                inner.free.push(used.flag);
            } else if last {
                inner.started.push(Record { used, last });
            }
        }
        first
    }
}

impl Board {
    /// Takes a free flag: the address of all flags and its number. `allocate` makes room for [`FLAGS`] flags at the
    /// first call. Returns `None` if all are in use.
    pub(super) fn take(
        &self,
        allocate: impl FnOnce() -> Result<NonNull<Flag>>,
    ) -> Result<Option<(NonNull<Flag>, u32)>> {
        let mut inner = lock(&self.0);
        let flags = match inner.flags {
            Some(flags) => flags,
            None => {
                let flags = allocate()?;
                inner.free.extend((0..FLAGS).rev());
                *inner.flags.insert(flags)
            }
        };
        Ok(inner.free.pop().map(|flag| (flags, flag)))
    }

    /// Records a started kernel, after which its flag is free again.
    pub(super) fn started(&self, used: FlagUse) {
        let last = true;
        lock(&self.0).started.push(Record { used, last });
    }

    /// Records the kernels of a graph, which may raise these flags again at the next replay.
    pub(super) fn replayed(&self, uses: &[FlagUse]) {
        let records = uses.iter().map(|FlagUse { flag, error }| Record {
            used: FlagUse {
                flag: *flag,
                error: Arc::clone(error),
            },
            last: false,
        });
        lock(&self.0).started.extend(records);
    }

    /// Releases the flags of a graph that is not replayed any more, once no record of them remains.
    pub(super) fn release(&self, uses: Vec<FlagUse>) {
        let records = uses.into_iter().map(|used| Record { used, last: true });
        lock(&self.0).started.extend(records);
    }

    /// Takes the records of all kernels that were started before now. Call it before a wait.
    pub(super) fn pending(&self) -> PendingFlags<'_> {
        let records = std::mem::take(&mut lock(&self.0).started);
        PendingFlags {
            board: self,
            records,
        }
    }
}
