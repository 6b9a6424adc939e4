//! Buffers that tensors share.
//!
//! A [`Storage`] is a counted reference to one buffer on one device. Views share it. Writing requires the only
//! reference ([`Storage::is_unique`]), so an operand never changes while another tensor uses it.

mod cpu;
#[cfg(feature = "cuda")]
mod device;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(feature = "mmap")]
use memmap2::MmapRaw;
use nomina_core::{Element, Result};

use crate::Device;

use crate::memory::{Block, refused};
use cpu::CpuBuffer;
#[cfg(feature = "cuda")]
pub(crate) use device::{DeviceBuffer, Release};

pub use crate::memory::ALIGNMENT;

/// A buffer on a device, shared by the tensors that view it.
///
/// Like an `Arc`, except that the count and the elements of a small tensor are in one block, which comes from
/// [`crate::memory`].
#[derive(Debug)]
pub struct Storage(NonNull<BufferState>);

/// The state that all references to a buffer share. Padded, so that elements may follow it.
#[derive(Debug)]
#[repr(align(64))]
struct BufferState {
    count: AtomicUsize,
    buffer: Buffer,
    /// The block that contains this, and possibly the elements.
    home: Block,
}

/// A buffer in host or device memory.
#[derive(Debug)]
enum Buffer {
    Cpu(CpuBuffer),
    #[cfg(feature = "cuda")]
    Device(DeviceBuffer),
}

// SAFETY: the count is atomic, the buffer may be sent and shared, and only the last owner drops it.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

/// The offset of the elements in a block that begins with their count.
const HEAD: usize = size_of::<BufferState>();

/// The largest size whose elements are in the block of their count. Those of larger tensors are page-aligned.
const SMALL: usize = (32 << 10) - HEAD;

impl Storage {
    /// Allocates a CPU block of `bytes` bytes. Its content is indeterminate: the caller writes every element before it
    /// can be read.
    #[inline]
    pub(crate) fn cpu(op: &'static str, bytes: usize) -> Result<Self> {
        Self::allocate(op, bytes, false)
    }

    /// Allocates a zeroed CPU block of `bytes` bytes.
    pub(crate) fn cpu_zeroed(op: &'static str, bytes: usize) -> Result<Self> {
        Self::allocate(op, bytes, true)
    }

    #[inline]
    fn allocate(op: &'static str, bytes: usize, zeroed: bool) -> Result<Self> {
        if bytes > SMALL {
            let buffer = Buffer::Cpu(CpuBuffer::allocate(op, bytes, zeroed)?);
            return Self::new(op, buffer);
        }
        match Self::beside(bytes, zeroed) {
            Some((storage, _)) => Ok(storage),
            None => Err(refused(op, HEAD + bytes)),
        }
    }

    /// Allocates a block for the count and the elements; also returns the address of the elements.
    #[inline]
    fn beside(bytes: usize, zeroed: bool) -> Option<(Self, *mut u8)> {
        let home = Block::new(HEAD + bytes, zeroed)?;
        // SAFETY: the block is longer than its head.
        let first = unsafe { home.as_ptr().add(HEAD) };
        // SAFETY: the bytes after the head belong to this storage, and live as long as it.
        let buffer = Buffer::Cpu(unsafe { CpuBuffer::within(first, bytes) });
        Some((Self::at_home(home, buffer), first.as_ptr()))
    }

    /// Allocates a small CPU block like [`Storage::cpu`], and returns the address of its elements; `None` if `bytes` is
    /// too large for one, or there is no memory.
    #[inline]
    pub(crate) fn small(bytes: usize) -> Option<(Self, *mut u8)> {
        if bytes > SMALL {
            return None;
        }
        Self::beside(bytes, false)
    }

    /// Creates a storage whose elements are in another block.
    fn new(op: &'static str, buffer: Buffer) -> Result<Self> {
        let home = Block::new(HEAD, false).ok_or_else(|| refused(op, HEAD))?;
        Ok(Self::at_home(home, buffer))
    }

    /// Creates a storage of a part of a mapped file.
    ///
    /// # Safety
    /// The `len` bytes from `ptr` on are in `map`, and belong to this storage alone as long as it lives.
    #[cfg(feature = "mmap")]
    pub(crate) unsafe fn mapped(
        op: &'static str,
        ptr: NonNull<u8>,
        len: usize,
        map: Arc<MmapRaw>,
    ) -> Result<Self> {
        // SAFETY: guaranteed by the caller.
        let buffer = unsafe { CpuBuffer::mapped(ptr, len, map) };
        Self::new(op, Buffer::Cpu(buffer))
    }

    /// Creates a storage of memory that `owner` keeps alive. Others may read it too, so it never counts as
    /// [unshared](Self::is_unique).
    ///
    /// # Safety
    /// The `len` bytes from `ptr` on are initialised, and no one writes to them, as long as `owner` lives.
    pub(crate) unsafe fn borrowed(
        op: &'static str,
        ptr: NonNull<u8>,
        len: usize,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Result<Self> {
        // SAFETY: guaranteed by the caller.
        let buffer = unsafe { CpuBuffer::borrowed(ptr, len, owner) };
        Self::new(op, Buffer::Cpu(buffer))
    }

    /// Creates a storage of a buffer on a device.
    #[cfg(feature = "cuda")]
    pub(crate) fn on_device(op: &'static str, buffer: DeviceBuffer) -> Result<Self> {
        Self::new(op, Buffer::Device(buffer))
    }

    #[inline]
    fn at_home(home: Block, buffer: Buffer) -> Self {
        let shared = home.as_ptr().cast::<BufferState>();
        let count = AtomicUsize::new(1);
        // SAFETY: blocks are aligned to a cache line, this one is large enough, and it is not shared.
        unsafe {
            shared.write(BufferState {
                count,
                buffer,
                home,
            })
        };
        Self(shared)
    }

    /// Takes over a vector's allocation as a CPU buffer.
    ///
    /// # Errors
    /// If there is no memory for the count; the vector is then dropped.
    pub(crate) fn adopt<T: Element>(op: &'static str, data: Vec<T>) -> Result<Self> {
        Self::new(op, Buffer::Cpu(CpuBuffer::adopt(data)))
    }

    #[inline]
    fn shared(&self) -> &BufferState {
        // SAFETY: it lives as long as there are references to it.
        unsafe { self.0.as_ref() }
    }

    /// Returns the device of the buffer.
    #[must_use]
    #[inline]
    pub fn device(&self) -> Device {
        match &self.shared().buffer {
            Buffer::Cpu(_) => Device::Cpu,
            #[cfg(feature = "cuda")]
            Buffer::Device(buffer) => buffer.device(),
        }
    }

    /// Returns its length in bytes.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        match &self.shared().buffer {
            Buffer::Cpu(buffer) => buffer.len(),
            #[cfg(feature = "cuda")]
            Buffer::Device(buffer) => buffer.len(),
        }
    }

    /// Returns whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether no other tensor shares it.
    #[must_use]
    #[inline]
    pub fn is_unique(&self) -> bool {
        // Acquire: pairs with the release in `drop`, so earlier accesses by other owners happen before this returns.
        let one = self.shared().count.load(Ordering::Acquire) == 1;
        match &self.shared().buffer {
            Buffer::Cpu(buffer) => one && !buffer.is_borrowed(),
            #[cfg(feature = "cuda")]
            Buffer::Device(buffer) => one && !buffer.is_lent(),
        }
    }

    /// Returns whether both are the same buffer.
    #[must_use]
    pub fn shares(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    /// Returns the address of its first byte, for reading.
    #[inline]
    pub(crate) fn as_ptr(&self) -> *const u8 {
        match &self.shared().buffer {
            Buffer::Cpu(buffer) => buffer.as_ptr(),
            #[cfg(feature = "cuda")]
            Buffer::Device(buffer) => buffer.as_ptr(),
        }
    }

    /// Like [`as_ptr`](Self::as_ptr), but `None` if it is not on the host.
    #[inline]
    pub(crate) fn on_host(&self) -> Option<*const u8> {
        match &self.shared().buffer {
            Buffer::Cpu(buffer) => Some(buffer.as_ptr()),
            #[cfg(feature = "cuda")]
            Buffer::Device(_) => None,
        }
    }

    /// Returns the address of its first byte, for writing; `None` while it is shared.
    #[inline]
    pub(crate) fn unique_ptr(&mut self) -> Option<*mut u8> {
        if !self.is_unique() {
            return None;
        }
        // SAFETY: this is the only reference, and it is borrowed exclusively.
        match unsafe { &mut self.0.as_mut().buffer } {
            Buffer::Cpu(buffer) => Some(buffer.as_mut_ptr()),
            #[cfg(feature = "cuda")]
            Buffer::Device(buffer) => Some(buffer.as_ptr()),
        }
    }

    /// Like [`unique_ptr`](Self::unique_ptr), but `None` if it is not on the host.
    #[inline]
    pub(crate) fn unique_on_host(&mut self) -> Option<*mut u8> {
        self.on_host()?;
        self.unique_ptr()
    }

    /// Returns the vector it was adopted from, without a copy.
    ///
    /// # Errors
    /// Returns itself if it is shared or not an adopted vector of `T`.
    pub(crate) fn into_vec<T: Element>(self) -> Result<Vec<T>, Self> {
        let fits = match &self.shared().buffer {
            Buffer::Cpu(buffer) => buffer.is_vec::<T>(),
            #[cfg(feature = "cuda")]
            Buffer::Device(_) => false,
        };
        if !fits || !self.is_unique() {
            return Err(self);
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: the only reference, which is not dropped again.
        let BufferState { buffer, home, .. } = unsafe { this.0.read() };
        drop(home);
        match buffer {
            // SAFETY: checked above.
            Buffer::Cpu(buffer) => Ok(unsafe { buffer.into_vec() }),
            #[cfg(feature = "cuda")]
            Buffer::Device(_) => Ok(Vec::new()),
        }
    }

    /// Drops the shared state.
    ///
    /// # Safety
    /// This was the last reference.
    #[inline]
    unsafe fn finish(&mut self) {
        let shared = self.0.as_ptr();
        // SAFETY: no other reference exists. `home` is dropped last, after everything in its block, and after it was
        // moved out of the block.
        unsafe {
            std::ptr::drop_in_place(&raw mut (*shared).buffer);
            drop(std::ptr::read(&raw const (*shared).home));
        }
    }
}

impl Clone for Storage {
    #[inline]
    fn clone(&self) -> Self {
        // Relaxed, like in `Arc`: this thread already has a reference, so nothing needs to be ordered.
        let before = self.shared().count.fetch_add(1, Ordering::Relaxed);
        if before > isize::MAX as usize {
            // So many references were forgotten that the count would wrap to zero.
            std::process::abort();
        }
        Self(self.0)
    }
}

impl Drop for Storage {
    #[inline]
    fn drop(&mut self) {
        let shared = self.shared();
        // The last owner needs no read-modify-write: no one else could increment the count.
        if shared.count.load(Ordering::Acquire) != 1 {
            if shared.count.fetch_sub(1, Ordering::Release) != 1 {
                return;
            }
            // Acquire: pairs with the other owners' `Release`, so their accesses happen before the drop. A load instead
            // of a fence, which ThreadSanitizer does not support.
            shared.count.load(Ordering::Acquire);
        }
        // SAFETY: the count was one, and this was the last reference.
        unsafe { self.finish() };
    }
}
