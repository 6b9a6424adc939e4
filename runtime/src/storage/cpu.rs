//! Buffers in host memory.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use nomina_core::{Element, Error, ErrorKind, Result};

use super::ALIGNMENT;

/// What a process can address on today's 64-bit machines (47 bits). More is refused before the
/// allocator is asked: AddressSanitizer's ends the process over such a size.
const ADDRESSABLE: usize = (isize::MAX as usize) >> if usize::BITS > 32 { 16 } else { 0 };

/// From this size on, a zeroed block is worth looking for pages that are zero already.
const LARGE: usize = 1 << 17;

/// An alignment that allocators give without being asked for one.
const USUAL: usize = 16;

/// A block of its own, or a vector's allocation.
#[derive(Debug)]
pub(super) struct CpuBuffer {
    ptr: NonNull<u8>,
    len: usize,
    /// What the allocator gave, and what it was asked for; of size 0 when nothing was.
    origin: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the buffer owns its bytes, as a `Vec<u8>` does. All writes need `&mut self`.
unsafe impl Send for CpuBuffer {}
// SAFETY: as above; through `&self` bytes can only be read.
unsafe impl Sync for CpuBuffer {}

impl CpuBuffer {
    /// A new aligned block, zeroed or with indeterminate content.
    pub(super) fn allocate(op: &'static str, len: usize, zeroed: bool) -> Result<Self> {
        if len > ADDRESSABLE {
            return Err(refused(op, len));
        }
        if len > ADDRESSABLE {
            return Err(refused(op, len));
        }
        if zeroed && len >= LARGE {
            return Self::fresh(op, len);
        }
        let layout = Layout::from_size_align(len, ALIGNMENT).map_err(|_| refused(op, len))?;
        let ptr = if len == 0 {
            layout.dangling_ptr()
        } else {
            // SAFETY: the size is not zero.
            let ptr = unsafe {
                if zeroed {
                    alloc_zeroed(layout)
                } else {
                    alloc(layout)
                }
            };
            NonNull::new(ptr).ok_or_else(|| refused(op, len))?
        };
        Ok(Self {
            ptr,
            len,
            origin: ptr,
            layout,
        })
    }

    /// A large zeroed block. The allocator knows which pages are zero already, but only looks when
    /// it is asked for no more than its usual alignment: ours is cut from a longer block.
    fn fresh(op: &'static str, len: usize) -> Result<Self> {
        let padded = len.checked_add(ALIGNMENT).ok_or_else(|| refused(op, len))?;
        let layout = Layout::from_size_align(padded, USUAL).map_err(|_| refused(op, len))?;
        // SAFETY: the size is not zero.
        let origin = NonNull::new(unsafe { alloc_zeroed(layout) });
        let origin = origin.ok_or_else(|| refused(op, len))?;
        // SAFETY: the next multiple of the alignment is at most one alignment away.
        let ptr = unsafe { origin.add(origin.align_offset(ALIGNMENT).min(ALIGNMENT)) };
        Ok(Self {
            ptr,
            len,
            origin,
            layout,
        })
    }

    /// Takes over the allocation of a vector.
    pub(super) fn adopt<T: Element>(data: Vec<T>) -> Self {
        let mut data = ManuallyDrop::new(data);
        let capacity = data.capacity() * size_of::<T>();
        let layout = Layout::from_size_align(capacity, align_of::<T>());
        // A vector's pointer is never null, also without an allocation.
        let ptr = NonNull::new(data.as_mut_ptr())
            .unwrap_or(NonNull::dangling())
            .cast();
        Self {
            ptr,
            origin: ptr,
            len: data.len() * size_of::<T>(),
            layout: layout.unwrap_or(Layout::new::<T>()),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn as_ptr(&self) -> *const u8 {
        self.ptr.as_ptr()
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// Back to a vector, when the allocation is one that a vector of `T` could have made.
    pub(super) fn into_vec<T: Element>(self) -> Result<Vec<T>, Self> {
        let (size, align) = (size_of::<T>(), align_of::<T>());
        if self.layout.align() != align
            || self.ptr != self.origin
            || !self.layout.size().is_multiple_of(size)
            || !self.len.is_multiple_of(size)
        {
            return Err(self);
        }
        let this = ManuallyDrop::new(self);
        let (len, capacity) = (this.len / size, this.layout.size() / size);
        // SAFETY: the pointer came from the global allocator with this size and alignment (or
        // dangles for capacity 0); every element is initialised, since only kernels that write
        // whole tensors and adopted vectors make buffers; the caller checked the dtype.
        Ok(unsafe { Vec::from_raw_parts(this.ptr.as_ptr().cast(), len, capacity) })
    }
}

impl Drop for CpuBuffer {
    fn drop(&mut self) {
        if self.layout.size() != 0 {
            // SAFETY: allocated with this layout, by us or by the vector that was adopted.
            unsafe { dealloc(self.origin.as_ptr(), self.layout) };
        }
    }
}

#[cold]
fn refused(op: &'static str, len: usize) -> Error {
    Error::new(
        ErrorKind::Memory,
        op,
        format!("{len} bytes of memory could not be had"),
    )
    .hint("use smaller sizes, or free other tensors first")
}
