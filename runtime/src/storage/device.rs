//! Blocks of a device's memory.

use std::fmt;
use std::panic::RefUnwindSafe;

use crate::Device;

/// The memory that blocks of a device come from.
pub(crate) trait Release: fmt::Debug + Sync + RefUnwindSafe {
    /// Frees the block at an address, after the work that was started before.
    fn release(&self, address: usize);

    /// Whether the block at an address is written by somebody who does not own it, so that its owner shares it.
    fn is_lent(&self, address: usize) -> bool;
}

/// A block of a device's memory, freed when dropped.
#[derive(Debug)]
pub(crate) struct DeviceBuffer {
    device: Device,
    memory: &'static dyn Release,
    address: usize,
    len: usize,
}

impl DeviceBuffer {
    /// The block at an address, which is this one's to free where it has a length.
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

    /// Its length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The address of its first byte on the device.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.address as *mut u8
    }

    /// Whether somebody writes it who does not own it.
    pub(crate) fn is_lent(&self) -> bool {
        self.memory.is_lent(self.address)
    }

    /// The device.
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
