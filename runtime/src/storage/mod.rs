//! Buffers that tensors share.
//!
//! A [`Storage`] is a counted reference to one buffer on one device. Views share it; whoever
//! wants to write must be its only owner ([`Storage::is_unique`]), so nobody ever sees an operand
//! change under them.

mod cpu;
#[cfg(feature = "cuda")]
mod device;
#[cfg(test)]
mod tests;

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
#[cfg(feature = "mmap")]
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
/// As an `Arc` is, but for one thing: the count and the elements of a small tensor are one block,
/// and that block comes from [`crate::memory`].
#[derive(Debug)]
pub struct Storage(NonNull<Shared>);

/// What all references to a buffer share. Padded, so that elements may follow it.
#[derive(Debug)]
#[repr(align(64))]
struct Shared {
    count: AtomicUsize,
    buffer: Buffer,
    /// The block that this lies in, and that the elements may lie in.
    home: Block,
}

/// Where a buffer lies.
#[derive(Debug)]
enum Buffer {
    Cpu(CpuBuffer),
    #[cfg(feature = "cuda")]
    Device(DeviceBuffer),
}

// SAFETY: the count is atomic, the buffer may be sent and shared, and it is dropped by one.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

/// How far behind its start a block's elements lie when it begins with their count.
const HEAD: usize = size_of::<Shared>();

/// Up to this size elements lie beside their count. Those of large tensors begin where pages do.
const SMALL: usize = (32 << 10) - HEAD;

impl Storage {
    /// A CPU block of `bytes` bytes. Its content is indeterminate: whoever calls this writes every
    /// element before anyone can read it.
    #[inline]
    pub(crate) fn cpu(op: &'static str, bytes: usize) -> Result<Self> {
        Self::allocate(op, bytes, false)
    }

    /// A CPU block of `bytes` bytes, all zero.
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

    /// A block with the elements beside their count, and where they begin.
    #[inline]
    fn beside(bytes: usize, zeroed: bool) -> Option<(Self, *mut u8)> {
        let home = Block::new(HEAD + bytes, zeroed)?;
        // SAFETY: the block is longer than its head.
        let first = unsafe { home.as_ptr().add(HEAD) };
        // SAFETY: what follows the head is nobody else's, and lives as long as it.
        let buffer = Buffer::Cpu(unsafe { CpuBuffer::within(first, bytes) });
        Some((Self::at_home(home, buffer), first.as_ptr()))
    }

    /// A small CPU block as of [`Storage::cpu`], and where its elements begin; `None` where so many
    /// bytes are too many for one, or there is no memory.
    #[inline]
    pub(crate) fn small(bytes: usize) -> Option<(Self, *mut u8)> {
        if bytes > SMALL {
            return None;
        }
        Self::beside(bytes, false)
    }

    /// A buffer whose elements lie elsewhere.
    fn new(op: &'static str, buffer: Buffer) -> Result<Self> {
        let home = Block::new(HEAD, false).ok_or_else(|| refused(op, HEAD))?;
        Ok(Self::at_home(home, buffer))
    }

    /// A part of a file that is in memory.
    ///
    /// # Safety
    /// `len` bytes from `ptr` on lie in `map`, and are this storage's alone for as long as it lives.
    #[cfg(feature = "mmap")]
    pub(crate) unsafe fn mapped(
        op: &'static str,
        ptr: NonNull<u8>,
        len: usize,
        map: Arc<MmapRaw>,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        let buffer = unsafe { CpuBuffer::mapped(ptr, len, map) };
        Self::new(op, Buffer::Cpu(buffer))
    }

    /// A buffer on a device.
    #[cfg(feature = "cuda")]
    pub(crate) fn on_device(op: &'static str, buffer: DeviceBuffer) -> Result<Self> {
        Self::new(op, Buffer::Device(buffer))
    }

    #[inline]
    fn at_home(home: Block, buffer: Buffer) -> Self {
        let shared = home.as_ptr().cast::<Shared>();
        let count = AtomicUsize::new(1);
        // SAFETY: blocks are aligned to a cache line, this one has room, and nobody else has it.
        unsafe {
            shared.write(Shared {
                count,
                buffer,
                home,
            })
        };
        Self(shared)
    }

    /// A CPU buffer that takes over a vector's allocation.
    ///
    /// # Errors
    /// When there is no memory for the count; the vector then is gone.
    pub(crate) fn adopt<T: Element>(op: &'static str, data: Vec<T>) -> Result<Self> {
        Self::new(op, Buffer::Cpu(CpuBuffer::adopt(data)))
    }

    #[inline]
    fn shared(&self) -> &Shared {
        // SAFETY: it lives as long as there are references to it.
        unsafe { self.0.as_ref() }
    }

    /// The device it lies on.
    #[must_use]
    #[inline]
    pub fn device(&self) -> Device {
        match &self.shared().buffer {
            Buffer::Cpu(_) => Device::Cpu,
            #[cfg(feature = "cuda")]
            Buffer::Device(buffer) => buffer.device(),
        }
    }

    /// Its length in bytes.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        match &self.shared().buffer {
            Buffer::Cpu(buffer) => buffer.len(),
            #[cfg(feature = "cuda")]
            Buffer::Device(buffer) => buffer.len(),
        }
    }

    /// Whether it holds no byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether no other tensor shares it.
    #[must_use]
    #[inline]
    pub fn is_unique(&self) -> bool {
        // Whoever dropped the reference before read and wrote before this returns.
        let one = self.shared().count.load(Ordering::Acquire) == 1;
        #[cfg(feature = "cuda")]
        if let Buffer::Device(buffer) = &self.shared().buffer {
            return one && !buffer.is_lent();
        }
        one
    }

    /// Whether both are the same buffer.
    #[must_use]
    pub fn shares(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    /// The address of its first byte, for reading.
    #[inline]
    pub(crate) fn as_ptr(&self) -> *const u8 {
        match &self.shared().buffer {
            Buffer::Cpu(buffer) => buffer.as_ptr(),
            #[cfg(feature = "cuda")]
            Buffer::Device(buffer) => buffer.as_ptr(),
        }
    }

    /// The same where it lies on the host.
    #[inline]
    pub(crate) fn on_host(&self) -> Option<*const u8> {
        match &self.shared().buffer {
            Buffer::Cpu(buffer) => Some(buffer.as_ptr()),
            #[cfg(feature = "cuda")]
            Buffer::Device(_) => None,
        }
    }

    /// The address of its first byte, for writing; `None` while it is shared.
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

    /// The same where it lies on the host.
    #[inline]
    pub(crate) fn unique_on_host(&mut self) -> Option<*mut u8> {
        self.on_host()?;
        self.unique_ptr()
    }

    /// The vector it was adopted from, without a copy.
    ///
    /// # Errors
    /// Itself, when it is shared or is no adopted vector of `T`.
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
        let Shared { buffer, home, .. } = unsafe { this.0.read() };
        drop(home);
        match buffer {
            // SAFETY: checked above.
            Buffer::Cpu(buffer) => Ok(unsafe { buffer.into_vec() }),
            #[cfg(feature = "cuda")]
            Buffer::Device(_) => Ok(Vec::new()),
        }
    }

    /// Drops what all references shared.
    ///
    /// # Safety
    /// This was the last reference.
    #[inline]
    unsafe fn finish(&mut self) {
        let shared = self.0.as_ptr();
        // SAFETY: nobody else reaches it any more. `home` is dropped last, after all that lies in it,
        // and after it was moved out of it.
        unsafe {
            std::ptr::drop_in_place(&raw mut (*shared).buffer);
            drop(std::ptr::read(&raw const (*shared).home));
        }
    }
}

impl Clone for Storage {
    #[inline]
    fn clone(&self) -> Self {
        // As for an `Arc`: a reference is there already, so nothing has to be seen in order.
        let before = self.shared().count.fetch_add(1, Ordering::Relaxed);
        if before > isize::MAX as usize {
            // So many references were forgotten that the count would come round to zero.
            std::process::abort();
        }
        Self(self.0)
    }
}

impl Drop for Storage {
    #[inline]
    fn drop(&mut self) {
        let shared = self.shared();
        // The last one needs no exchange: nobody is left who could make it two.
        if shared.count.load(Ordering::Acquire) != 1 {
            if shared.count.fetch_sub(1, Ordering::Release) != 1 {
                return;
            }
            // All that others did with the buffer was before their `Release`.
            // A load and not a fence, which ThreadSanitizer does not see.
            shared.count.load(Ordering::Acquire);
        }
        // SAFETY: the count was one, and this was it.
        unsafe { self.finish() };
    }
}
