//! Buffers that tensors share.
//!
//! A [`Storage`] is a counted reference to one buffer on one device. Views share it; whoever
//! wants to write must be its only owner ([`Storage::is_unique`]), so nobody ever sees an operand
//! change under them.

mod cpu;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use nomina_core::{Device, Element, Result};

use cpu::CpuBuffer;

/// The alignment of allocated CPU blocks: a cache line, and an AVX-512 register.
pub const ALIGNMENT: usize = 64;

/// A buffer on a device, shared by the tensors that view it.
#[derive(Clone, Debug)]
pub struct Storage(Arc<Buffer>);

/// Where a buffer lies.
#[derive(Debug)]
enum Buffer {
    Cpu(CpuBuffer),
}

impl Storage {
    /// A CPU block of `bytes` bytes. Its content is indeterminate: whoever calls this writes every
    /// element before anyone can read it.
    pub(crate) fn cpu(op: &'static str, bytes: usize) -> Result<Self> {
        Ok(Self(Arc::new(Buffer::Cpu(CpuBuffer::allocate(
            op, bytes, false,
        )?))))
    }

    /// A CPU block of `bytes` bytes, all zero.
    pub(crate) fn cpu_zeroed(op: &'static str, bytes: usize) -> Result<Self> {
        Ok(Self(Arc::new(Buffer::Cpu(CpuBuffer::allocate(
            op, bytes, true,
        )?))))
    }

    /// A CPU buffer that takes over a vector's allocation.
    pub(crate) fn adopt<T: Element>(data: Vec<T>) -> Self {
        Self(Arc::new(Buffer::Cpu(CpuBuffer::adopt(data))))
    }

    /// The device it lies on.
    #[must_use]
    pub fn device(&self) -> Device {
        match &*self.0 {
            Buffer::Cpu(_) => Device::Cpu,
        }
    }

    /// Its length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match &*self.0 {
            Buffer::Cpu(buffer) => buffer.len(),
        }
    }

    /// Whether it holds no byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether no other tensor shares it.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Whether both are the same buffer.
    #[must_use]
    pub fn shares(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The address of its first byte, for reading.
    pub(crate) fn as_ptr(&self) -> *const u8 {
        match &*self.0 {
            Buffer::Cpu(buffer) => buffer.as_ptr(),
        }
    }

    /// The address of its first byte, for writing; `None` while it is shared.
    pub(crate) fn unique_ptr(&mut self) -> Option<*mut u8> {
        match Arc::get_mut(&mut self.0)? {
            Buffer::Cpu(buffer) => Some(buffer.as_mut_ptr()),
        }
    }

    /// The vector it was adopted from, without a copy.
    ///
    /// # Errors
    /// Itself, when it is shared or is no adopted vector of `T`.
    pub(crate) fn into_vec<T: Element>(self) -> Result<Vec<T>, Self> {
        match Arc::try_unwrap(self.0) {
            Ok(Buffer::Cpu(buffer)) => buffer
                .into_vec()
                .map_err(|buffer| Self(Arc::new(Buffer::Cpu(buffer)))),
            Err(shared) => Err(Self(shared)),
        }
    }
}
