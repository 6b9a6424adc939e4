//! Elements between the host and a device.
//!
//! The device copies at full speed, and beside other work, only from and to pinned host memory.
//! So elements go through two pinned halves: while one is copied by the device, the other is filled
//! or emptied by the host.

use std::ptr::NonNull;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUevent_flags as Flags};
use nomina_core::Result;

use super::context::{Cuda, lock};
use super::failure::failed;

/// Bytes of one half. Longer copies take turns.
const HALF: usize = 4 << 20;

/// Pinned host memory of two halves.
#[derive(Debug)]
pub(super) struct Staging {
    halves: [Half; 2],
}

#[derive(Debug)]
struct Half {
    memory: NonNull<u8>,
    /// Happens when the device is done with it.
    done: sys::CUevent,
}

// SAFETY: the memory is this one's alone, and events may be used by any thread.
unsafe impl Send for Staging {}

impl Staging {
    /// Made at the first copy and kept.
    fn new(op: &'static str) -> Result<Self> {
        let half = || {
            let said = |error| failed(op, "asking for pinned host memory", error);
            // SAFETY: asks for memory; nothing is read before it is written.
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
    fn wait(&self, op: &'static str) -> Result<()> {
        // SAFETY: the event is never destroyed. One that was never recorded has happened.
        unsafe { result::event::synchronize(self.done) }
            .map_err(|error| failed(op, "waiting for a copy", error))
    }

    fn started(&self, op: &'static str, cuda: &Cuda) -> Result<()> {
        // SAFETY: event and stream are never destroyed.
        unsafe { result::event::record(self.done, cuda.stream) }
            .map_err(|error| failed(op, "following a copy", error))
    }
}

impl Cuda {
    /// Copies from the host to the device. The host's bytes have been read when this returns.
    ///
    /// # Safety
    /// `bytes` bytes are readable at `from` and are a tensor's or a scratch's at `to`.
    pub(crate) unsafe fn write(
        &self,
        op: &'static str,
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.outside(op, "copies from the host")?;
        let _bound = self.bind(op)?;
        let mut staging = lock(&self.staging);
        let staging = match &mut *staging {
            Some(staging) => staging,
            none => none.insert(Staging::new(op)?),
        };
        for (turn, start) in (0..bytes).step_by(HALF).enumerate() {
            let half = &staging.halves[turn % 2];
            let len = HALF.min(bytes - start);
            half.wait(op)?;
            // SAFETY: the half is that long and the device is done with it; the caller promises the
            // rest. The half is not written again before the copy is done.
            unsafe {
                half.memory
                    .as_ptr()
                    .copy_from_nonoverlapping(from.add(start), len);
                let chunk = std::slice::from_raw_parts(half.memory.as_ptr(), len);
                result::memcpy_htod_async((to as usize + start) as u64, chunk, self.stream)
            }
            .map_err(|error| failed(op, "copying to the device", error))?;
            half.started(op, self)?;
        }
        Ok(())
    }

    /// Copies from the device to the host, after all work that was started before; waits for it.
    ///
    /// # Safety
    /// `bytes` bytes are a tensor's or a scratch's at `from`, and writable at `to`.
    ///
    /// # Errors
    /// Also what went wrong on the device since it was last waited for.
    pub(crate) unsafe fn read(
        &self,
        op: &'static str,
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        self.outside(op, "reads elements on the host")?;
        let pending = self.pending();
        let _bound = self.bind(op)?;
        let mut staging = lock(&self.staging);
        let staging = match &mut *staging {
            Some(staging) => staging,
            none => none.insert(Staging::new(op)?),
        };
        // The halves may still be the source of copies to the device.
        let turns = bytes.div_ceil(HALF);
        for turn in 0..=turns {
            if turn < turns {
                let half = &staging.halves[turn % 2];
                half.wait(op)?;
                let (start, len) = span(turn, bytes);
                // SAFETY: the half is that long, and the device and the host are done with it.
                unsafe {
                    let chunk = std::slice::from_raw_parts_mut(half.memory.as_ptr(), len);
                    result::memcpy_dtoh_async(chunk, (from as usize + start) as u64, self.stream)
                }
                .map_err(|error| failed(op, "copying from the device", error))?;
                half.started(op, self)?;
            }
            if let Some(before) = turn.checked_sub(1) {
                let half = &staging.halves[before % 2];
                half.wait(op)?;
                let (start, len) = span(before, bytes);
                // SAFETY: the copy is done, and the caller promises room.
                unsafe {
                    to.add(start)
                        .copy_from_nonoverlapping(half.memory.as_ptr(), len)
                };
            }
        }
        if bytes == 0 {
            self.wait(op)?;
        }
        pending.told()
    }

    /// Copies from another device, after all work that was started on both before, and without a wait.
    /// The driver knows the way: past the host where the devices reach each other.
    ///
    /// # Safety
    /// `bytes` bytes are a tensor's of this device at the first address, and of the other at the second.
    pub(crate) unsafe fn take_from(
        &self,
        op: &'static str,
        other: &Self,
        [to, from]: [*mut u8; 2],
        bytes: usize,
    ) -> Result<()> {
        let said = |error| failed(op, "copying between devices", error);
        self.outside(op, "copies between devices")?;
        other.outside(op, "copies between devices")?;
        other.before(op, self)?;
        let _bound = self.bind(op)?;
        // SAFETY: contexts and streams are never destroyed; the rest is the caller's promise.
        unsafe {
            let (to, from, stream) = (to as u64, from as u64, self.stream);
            sys::cuMemcpyPeerAsync(to, self.context, from, other.context, bytes, stream).result()
        }
        .map_err(said)?;
        // What is copied is not freed before.
        self.before(op, other)
    }

    /// Lets another device's later work wait for what was started here.
    fn before(&self, op: &'static str, other: &Self) -> Result<()> {
        let said = |error| failed(op, "following another device", error);
        let _bound = self.bind(op)?;
        let event = result::event::create(Flags::CU_EVENT_DISABLE_TIMING).map_err(said)?;
        // SAFETY: an event of this device, whose end the driver puts off until it has happened.
        let waits = unsafe {
            result::event::record(event, self.stream).and_then(|()| {
                let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
                result::stream::wait_event(other.stream, event, flags)
            })
        };
        // SAFETY: as above; nobody else has the event.
        let ended = unsafe { result::event::destroy(event) };
        waits.and(ended).map_err(said)
    }

    /// Copies on the device.
    ///
    /// # Safety
    /// `bytes` bytes are a tensor's or a scratch's at both places, which do not overlap.
    pub(crate) unsafe fn copy(
        &self,
        op: &'static str,
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let _bound = self.bind(op)?;
        // SAFETY: the caller's promise.
        unsafe { result::memcpy_dtod_async(to as u64, from as u64, bytes, self.stream) }
            .map_err(|error| failed(op, "copying on the device", error))
    }
}

/// Where a turn begins, and how long it is.
fn span(turn: usize, bytes: usize) -> (usize, usize) {
    let start = turn * HALF;
    (start, HALF.min(bytes - start))
}
