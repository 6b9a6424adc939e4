//! Buffers in host memory.

use std::alloc::{Layout, dealloc};
use std::any::Any;
use std::mem::ManuallyDrop;
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

#[cfg(feature = "mmap")]
use memmap2::MmapRaw;
use nomina_core::{Element, Result};

use crate::memory::{Block, refused};

/// A separate block, a vector's allocation, a part of a file, or memory of another library.
#[derive(Debug)]
pub(super) struct CpuBuffer {
    ptr: NonNull<u8>,
    len: usize,
    owner: Owner,
}

#[derive(Debug)]
enum Owner {
    Block {
        _block: Block,
    },
    Vector(Layout),
    /// The owner of the block that also holds the count.
    Storage,
    /// Another library, or a part of it, which may have lent the bytes to others too.
    Foreign {
        /// Boxed, so that the head of small tensors does not grow. It is only dropped, so a panic leaves nothing half-done.
        _owner: AssertUnwindSafe<Box<Arc<dyn Any + Send + Sync>>>,
    },
    #[cfg(feature = "mmap")]
    Map {
        _map: Arc<MmapRaw>,
    },
}

// SAFETY: the buffer owns its bytes, like a `Vec<u8>`. All writes need `&mut self`.
unsafe impl Send for CpuBuffer {}
// SAFETY: as above; `&self` only allows reading the bytes.
unsafe impl Sync for CpuBuffer {}

impl CpuBuffer {
    /// Allocates an aligned block, zeroed or with indeterminate content.
    #[inline]
    pub(super) fn allocate(op: &'static str, len: usize, zeroed: bool) -> Result<Self> {
        let block = Block::new(len, zeroed).ok_or_else(|| refused(op, len))?;
        let ptr = block.as_ptr();
        let owner = Owner::Block { _block: block };
        Ok(Self { ptr, len, owner })
    }

    /// Creates a buffer inside of a block with another owner.
    ///
    /// # Safety
    /// The `len` bytes belong to this buffer alone as long as it lives.
    #[inline]
    pub(super) unsafe fn within(ptr: NonNull<u8>, len: usize) -> Self {
        let owner = Owner::Storage;
        Self { ptr, len, owner }
    }

    /// Creates a buffer inside of a mapped file. It may be written to, because the mapping is
    /// private.
    ///
    /// # Safety
    /// The `len` bytes are in `map`, and belong to this buffer alone as long as it lives.
    #[cfg(feature = "mmap")]
    pub(super) unsafe fn mapped(ptr: NonNull<u8>, len: usize, map: Arc<MmapRaw>) -> Self {
        let owner = Owner::Map { _map: map };
        Self { ptr, len, owner }
    }

    /// Creates a buffer of bytes that `owner` keeps alive.
    ///
    /// # Safety
    /// The `len` bytes are initialised, and no one writes to them, as long as `owner` lives.
    pub(super) unsafe fn borrowed(
        ptr: NonNull<u8>,
        len: usize,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        let owner = Owner::Foreign {
            _owner: AssertUnwindSafe(Box::new(owner)),
        };
        Self { ptr, len, owner }
    }

    /// Returns whether others may read the bytes too.
    #[inline]
    pub(super) fn is_borrowed(&self) -> bool {
        matches!(self.owner, Owner::Foreign { .. })
    }

    /// Takes over the allocation of a vector.
    pub(super) fn adopt<T: Element>(data: Vec<T>) -> Self {
        let mut data = ManuallyDrop::new(data);
        let capacity = data.capacity() * size_of::<T>();
        let layout = Layout::from_size_align(capacity, align_of::<T>());
        // A vector's pointer is never null, even without an allocation.
        let ptr = NonNull::new(data.as_mut_ptr())
            .unwrap_or(NonNull::dangling())
            .cast();
        Self {
            ptr,
            len: data.len() * size_of::<T>(),
            owner: Owner::Vector(layout.unwrap_or(Layout::new::<T>())),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn as_ptr(&self) -> *const u8 {
        self.ptr.as_ptr()
    }

    #[inline]
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// Returns whether a vector of `T` could have made this allocation.
    pub(super) fn is_vec<T: Element>(&self) -> bool {
        let size = size_of::<T>();
        matches!(self.owner, Owner::Vector(layout) if layout.align() == align_of::<T>()
            && layout.size().is_multiple_of(size))
            && self.len.is_multiple_of(size)
    }

    /// Converts back to a vector.
    ///
    /// # Safety
    /// [`is_vec`](Self::is_vec) holds, and the elements are valid for `T`.
    pub(super) unsafe fn into_vec<T: Element>(self) -> Vec<T> {
        let capacity = match self.owner {
            Owner::Vector(layout) => layout.size() / size_of::<T>(),
            _ => return Vec::new(),
        };
        let this = ManuallyDrop::new(self);
        let len = this.len / size_of::<T>();
        // SAFETY: the pointer came from the global allocator with this size and alignment (or
        // dangles for capacity 0); every element is initialised, because buffers are created only
        // from adopted vectors and by kernels that write whole tensors; the caller guarantees the
        // dtype.
        unsafe { Vec::from_raw_parts(this.ptr.as_ptr().cast(), len, capacity) }
    }
}

impl Drop for CpuBuffer {
    #[inline]
    fn drop(&mut self) {
        if let Owner::Vector(layout) = self.owner
            && layout.size() != 0
        {
            // SAFETY: the adopted vector allocated it with this layout.
            unsafe { dealloc(self.ptr.as_ptr(), layout) };
        }
    }
}
