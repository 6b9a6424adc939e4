//! Copies between the host and a device, and between devices.
//!
//! A device copies at full speed, and concurrently with kernels, only from and to pinned host memory. Copies therefore
//! go through two pinned halves: while the device copies one, the host fills or empties the other.

use cudarc::driver::result;
use cudarc::driver::sys::{self, CUevent_flags as Flags};
use nomina_core::Result;

use super::context::Cuda;
use super::failure::failed;
use super::per_device::lock;
use super::staging::{HALF, Staging};

impl Cuda {
    /// Copies from the host to the device. The source may be reused on return.
    ///
    /// # Safety
    /// `bytes` bytes are readable at `from`, and belong to a tensor or a workspace at `to`.
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
            // SAFETY: the half has this length and the device has copied it; the caller promises the rest. The half is
            // not written again before the copy is done.
            unsafe {
                half.memory
                    .as_ptr()
                    .copy_from_nonoverlapping(from.add(start), len);
                let chunk = std::slice::from_raw_parts(half.memory.as_ptr(), len);
                result::memcpy_htod_async((to as usize + start) as u64, chunk, self.stream)
            }
            .map_err(|error| failed(op, "copying to the device", error))?;
            half.started(op, self.stream)?;
        }
        Ok(())
    }

    /// Copies from the device to the host after all work that was started before, and waits for the copy.
    ///
    /// # Safety
    /// `bytes` bytes belong to a tensor or a workspace at `from`, and are writable at `to`.
    ///
    /// # Errors
    /// Returns also the first error that a kernel found since the last wait.
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
        // Each turn waits for its half, which may still be the source of a copy to the device.
        let turns = bytes.div_ceil(HALF);
        for turn in 0..=turns {
            if turn < turns {
                let half = &staging.halves[turn % 2];
                half.wait(op)?;
                let (start, len) = span(turn, bytes);
                // SAFETY: the half has this length, and neither the device nor the host uses it.
                unsafe {
                    let chunk = std::slice::from_raw_parts_mut(half.memory.as_ptr(), len);
                    result::memcpy_dtoh_async(chunk, (from as usize + start) as u64, self.stream)
                }
                .map_err(|error| failed(op, "copying from the device", error))?;
                half.started(op, self.stream)?;
            }
            if let Some(before) = turn.checked_sub(1) {
                let half = &staging.halves[before % 2];
                half.wait(op)?;
                let (start, len) = span(before, bytes);
                // SAFETY: the copy is done, and the caller promises that the target is long enough.
                unsafe {
                    to.add(start)
                        .copy_from_nonoverlapping(half.memory.as_ptr(), len)
                };
            }
        }
        if bytes == 0 {
            self.wait(op)?;
        }
        pending.check()
    }

    /// Copies from another device after all work that was started on both before, without waiting. The driver copies
    /// directly if the devices can reach each other, and through the host otherwise.
    ///
    /// # Safety
    /// `bytes` bytes belong to a tensor of this device at the first address, and of the other device at the second.
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
        // SAFETY: contexts and streams are never destroyed; the caller promises the rest.
        unsafe {
            let (to, from, stream) = (to as u64, from as u64, self.stream);
            sys::cuMemcpyPeerAsync(to, self.context, from, other.context, bytes, stream).result()
        }
        .map_err(said)?;
        // The other device must not free the source before the copy is done.
        self.before(op, other)
    }

    /// Makes later work of another device wait for the work that was started here.
    fn before(&self, op: &'static str, other: &Self) -> Result<()> {
        let said = |error| failed(op, "following another device", error);
        let _bound = self.bind(op)?;
        let event = result::event::create(Flags::CU_EVENT_DISABLE_TIMING).map_err(said)?;
        // SAFETY: an event of this device; the driver destroys it only once it has completed.
        let waits = unsafe {
            result::event::record(event, self.stream).and_then(|()| {
                let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
                result::stream::wait_event(other.stream, event, flags)
            })
        };
        // SAFETY: as above; the event is not used again.
        let ended = unsafe { result::event::destroy(event) };
        waits.and(ended).map_err(said)
    }

    /// Copies on the device.
    ///
    /// # Safety
    /// `bytes` bytes belong to a tensor or a workspace at both addresses, and do not overlap.
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

/// Returns the first byte of a turn and its length.
fn span(turn: usize, bytes: usize) -> (usize, usize) {
    let start = turn * HALF;
    (start, HALF.min(bytes - start))
}
