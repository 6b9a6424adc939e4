//! Errors that only the device can find, while no thread waits for it: an index out of range, for example.
//!
//! A kernel that may find one is started with a flag of its own in host memory. The first GPU thread that finds an
//! error raises the flag and stores the bad value. The next wait checks the flags of the kernels that were started
//! before it and makes the error. The flags need no copy, and errors of kernels that are started meanwhile stay for the
//! next wait.

use std::ptr::NonNull;
use std::sync::Arc;

use cudarc::driver::result;
use nomina_core::{Error, Result};

use super::board::{FLAGS, Flag, FlagUse, MakeError, PendingFlags};
use super::context::Cuda;
use super::failure::{failed, out_of_memory};

/// The arguments with which a kernel raises a flag: the address of the flags and the number of its own. Keep it until
/// the kernel is started: when it is dropped, later waits check the flag.
#[must_use]
pub(crate) struct Raise {
    pub(crate) flag: *mut u8,
    pub(crate) record: u32,
    cuda: &'static Cuda,
    error: Option<MakeError>,
}

impl Drop for Raise {
    fn drop(&mut self) {
        if let Some(error) = self.error.take() {
            let flag = self.record;
            let mut used = Some(FlagUse { flag, error });
            // A captured kernel may raise its flag at each replay.
            self.cuda.in_region(|region| region.may_raise(used.take()));
            if let Some(used) = used {
                self.cuda.board.started(used);
            }
        }
    }
}

impl Cuda {
    /// Reserves a flag for a kernel of `op` that may find an error; `error` makes the error from the value that the
    /// kernel found.
    pub(crate) fn may_raise(
        &'static self,
        op: &'static str,
        error: impl Fn(i64) -> Error + Send + Sync + 'static,
    ) -> Result<Raise> {
        loop {
            if let Some((flags, record)) = self.board.take(|| self.allocate_flags(op))? {
                return Ok(Raise {
                    flag: flags.as_ptr().cast(),
                    record,
                    cuda: self,
                    error: Some(Arc::new(error)),
                });
            }
            self.synchronize(op)?;
        }
    }

    fn allocate_flags(&self, op: &'static str) -> Result<NonNull<Flag>> {
        let _bound = self.bind(op)?;
        let bytes = FLAGS as usize * size_of::<Flag>();
        // SAFETY: only allocates; the memory is written before it is read.
        let flags = unsafe { result::malloc_host(bytes, 0) }
            .map_err(|error| failed(op, "asking for pinned host memory", error))?;
        let flags = NonNull::new(flags.cast::<Flag>());
        let flags = flags.ok_or_else(|| out_of_memory(op, bytes))?;
        // SAFETY: just allocated, for this number of flags; all zeros are a valid flag.
        unsafe { flags.write_bytes(0, FLAGS as usize) };
        Ok(flags)
    }

    /// Takes the flags of all kernels that were started before now. Call it before a wait.
    pub(super) fn pending(&self) -> PendingFlags<'_> {
        self.board.pending()
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    /// Returns the first error that a kernel found since the last wait.
    pub(crate) fn synchronize(&self, op: &'static str) -> Result<()> {
        let pending = self.pending();
        let _bound = self.bind(op)?;
        self.wait(op)?;
        pending.check()
    }
}
