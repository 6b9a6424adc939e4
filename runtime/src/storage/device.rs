//! Blocks of device memory.

use std::fmt;
use std::panic::RefUnwindSafe;

use crate::Device;

/// The allocator that a device's blocks come from.
pub(crate) trait Release: fmt::Debug + Sync + RefUnwindSafe {
    /// Frees the block at an address, after the work that was started before.
    fn release(&self, address: usize);

    /// Returns whether a non-owner may write to the block at an address, so that its owner must treat it as shared.
    fn is_lent(&self, address: usize) -> bool;
}

/// A block of device memory, freed when dropped.
#[derive(Debug)]
pub(crate) struct DeviceBuffer {
    device: Device,
    memory: &'static dyn Release,
    address: usize,
    len: usize,
}

impl DeviceBuffer {
    /// Creates a buffer from the block at an address. If it has a length, it owns the block.
    pub(crate) fn new(
        device: Device,
        memory: &'static dyn Release,
        address: usize,
        len: usize,
    ) -> Self {
        Self {
            device,
            memory,
            address,
            len,
        }
    }

    /// Returns its length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the address of its first byte on the device.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.address as *mut u8
    }

    /// Returns whether a non-owner may write to it.
    pub(crate) fn is_lent(&self) -> bool {
        self.memory.is_lent(self.address)
    }

    /// Returns the device.
    pub(crate) fn device(&self) -> Device {
        self.device
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        if self.len != 0 {
            self.memory.release(self.address);
        }
    }
}
