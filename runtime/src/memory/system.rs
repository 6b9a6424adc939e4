//! Allocation from the system.
//!
//! Large blocks are mapped, so that their pages are zero without a write, and return to the system
//! when they are freed; other blocks come from the global allocator.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{ALIGNMENT, class};

/// The smallest size that is mapped. Every size from here on is a multiple of 128 KiB, and so of a
/// page.
const MAPPED: usize = 1 << 20;

/// The smallest size for which huge pages are worth the time to clear one.
#[cfg(all(unix, not(miri)))]
const LARGE: usize = 8 << 20;

/// Bytes allocated from the system and not returned.
static RESERVED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

pub(super) fn took(bytes: usize) {
    let now = RESERVED.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

pub(super) fn gave(bytes: usize) {
    RESERVED.fetch_sub(bytes, Ordering::Relaxed);
}

/// Returns the allocated bytes, and their maximum so far.
pub(super) fn reserved() -> (usize, usize) {
    (
        RESERVED.load(Ordering::Relaxed),
        PEAK.load(Ordering::Relaxed),
    )
}

/// Allocates a new block of a class; returns `None` if there is no memory.
#[cold]
pub(super) fn take(class: usize, zeroed: bool) -> Option<NonNull<u8>> {
    let size = class::size(class);
    let ptr = if is_mapped(size) {
        map::new(size)?
    } else {
        let layout = Layout::from_size_align(size, ALIGNMENT).ok()?;
        // SAFETY: no class has size zero.
        NonNull::new(unsafe {
            if zeroed {
                alloc_zeroed(layout)
            } else {
                alloc(layout)
            }
        })?
    };
    took(size);
    Some(ptr)
}

/// Returns a block to the system.
///
/// # Safety
/// It came from [`take`] with this class, and is unused.
#[cold]
pub(super) unsafe fn give(ptr: NonNull<u8>, class: usize) {
    let size = class::size(class);
    gave(size);
    if is_mapped(size) {
        // SAFETY: mapped with this size.
        unsafe { map::free(ptr, size) };
    } else if let Ok(layout) = Layout::from_size_align(size, ALIGNMENT) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(ptr.as_ptr(), layout) };
    }
}

fn is_mapped(size: usize) -> bool {
    cfg!(all(unix, not(miri))) && size >= MAPPED
}

/// Returns the machine's memory in bytes; `usize::MAX` if unknown.
pub(super) fn installed() -> usize {
    #[cfg(all(any(target_os = "linux", target_os = "macos"), not(miri)))]
    {
        // SAFETY: these calls only query.
        let [pages, page] =
            unsafe { [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| libc::sysconf(name)) };
        if pages > 0 && page > 0 {
            return (pages as usize).saturating_mul(page as usize);
        }
    }
    usize::MAX
}

#[cfg(all(unix, not(miri)))]
mod map {
    use std::ptr::{NonNull, null_mut};

    use super::LARGE;

    /// The alignment of huge pages; if they are larger, the system chooses the address anyway.
    const HUGE: usize = 2 << 20;

    /// Maps new pages, all zero.
    pub(super) fn new(size: usize) -> Option<NonNull<u8>> {
        if size < LARGE {
            return pages(size);
        }
        let whole = size.checked_add(HUGE)?;
        let start = pages(whole)?;
        let before = start.as_ptr().align_offset(HUGE).min(HUGE);
        // SAFETY: within the new mapping; the unmapped parts are unused.
        unsafe {
            let ptr = start.add(before);
            if before > 0 {
                free(start, before);
            }
            if before < HUGE {
                free(ptr.add(size), HUGE - before);
            }
            // A hint: if it is missing or refused, pages are small.
            #[cfg(any(target_os = "linux", target_os = "android"))]
            libc::madvise(ptr.as_ptr().cast(), size, libc::MADV_HUGEPAGE);
            Some(ptr)
        }
    }

    fn pages(size: usize) -> Option<NonNull<u8>> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANON;
        // SAFETY: a new mapping at an address that the system chooses does not affect others.
        let ptr = unsafe { libc::mmap(null_mut(), size, access, kind, -1, 0) };
        (ptr != libc::MAP_FAILED)
            .then(|| NonNull::new(ptr.cast()))
            .flatten()
    }

    /// Unmaps pages.
    ///
    /// # Safety
    /// They were mapped here, and are unused.
    pub(super) unsafe fn free(ptr: NonNull<u8>, size: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if libc::munmap(ptr.as_ptr().cast(), size) != 0 {
                // The process has too many mappings to split one: the memory is released, and only
                // the addresses are lost.
                libc::madvise(ptr.as_ptr().cast(), size, libc::MADV_DONTNEED);
            }
        }
    }
}

#[cfg(not(all(unix, not(miri))))]
mod map {
    use std::ptr::NonNull;

    pub(super) fn new(_size: usize) -> Option<NonNull<u8>> {
        None
    }

    pub(super) unsafe fn free(_ptr: NonNull<u8>, _size: usize) {}
}
