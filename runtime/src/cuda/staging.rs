//! Pinned host memory for copies between the host and a device.

use std::ptr::NonNull;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUevent_flags as Flags};
use nomina_core::Result;

use super::failure::failed;

/// Bytes of one half. Longer copies alternate between the halves.
pub(super) const HALF: usize = 4 << 20;

/// Two buffers of pinned host memory: the device copies one while the host fills or empties the other.
#[derive(Debug)]
pub(super) struct Staging {
    pub(super) halves: [Half; 2],
}

/// One of the buffers.
#[derive(Debug)]
pub(super) struct Half {
    pub(super) memory: NonNull<u8>,
    /// Completes when the device has copied the buffer.
    done: sys::CUevent,
}

// SAFETY: the memory belongs to this struct alone, and any thread may use an event.
unsafe impl Send for Staging {}

impl Staging {
    /// Allocates both halves. Call it with the device's context bound.
    pub(super) fn new(op: &'static str) -> Result<Self> {
        let half = || {
            let said = |error| failed(op, "asking for pinned host memory", error);
            // SAFETY: only allocates; the memory is written before it is read.
            let memory = unsafe { result::malloc_host(HALF, 0) }.map_err(said)?;
            let none = DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY);
            let memory = NonNull::new(memory.cast()).ok_or_else(|| said(none))?;
            let done = result::event::create(Flags::CU_EVENT_DISABLE_TIMING).map_err(said)?;
            Ok(Half { memory, done })
        };
        Ok(Self {
            halves: [half()?, half()?],
        })
    }
}

impl Half {
    /// Waits for the last copy from or to this half.
    pub(super) fn wait(&self, op: &'static str) -> Result<()> {
        // SAFETY: the event is never destroyed. One that was never recorded is complete.
        unsafe { result::event::synchronize(self.done) }
            .map_err(|error| failed(op, "waiting for a copy", error))
    }

    /// Marks a copy that was just started on the device's stream, for [`Self::wait`].
    pub(super) fn started(&self, op: &'static str, stream: sys::CUstream) -> Result<()> {
        // SAFETY: event and stream are never destroyed.
        unsafe { result::event::record(self.done, stream) }
            .map_err(|error| failed(op, "following a copy", error))
    }
}
