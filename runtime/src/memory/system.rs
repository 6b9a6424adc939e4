//! Blocks from the system and back.
//!
//! Large ones are mapped, so that their pages are zero without being written to and go back when
//! they are freed; the rest comes from the global allocator.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{ALIGNMENT, class};

/// From this size on, blocks are mapped. Every size from here on is a multiple of 128 KiB, and so
/// of a page.
const MAPPED: usize = 1 << 20;

/// From this size on, huge pages are worth the time that clearing one takes.
#[cfg(all(unix, not(miri)))]
const LARGE: usize = 8 << 20;

/// Bytes that came from the system and did not go back.
static RESERVED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

pub(super) fn took(bytes: usize) {
    let now = RESERVED.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

pub(super) fn gave(bytes: usize) {
    RESERVED.fetch_sub(bytes, Ordering::Relaxed);
}

/// What was taken and not given back, and the most that this was.
pub(super) fn reserved() -> (usize, usize) {
    (
        RESERVED.load(Ordering::Relaxed),
        PEAK.load(Ordering::Relaxed),
    )
}

/// A new block of a class; `None` when the system has none.
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

/// Gives a block back.
///
/// # Safety
/// It came from [`take`] with this class, and nobody uses it any more.
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

/// How much memory the machine has; what the address space allows where nobody says.
pub(super) fn installed() -> usize {
    #[cfg(all(any(target_os = "linux", target_os = "macos"), not(miri)))]
    {
        // SAFETY: these only ask.
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

    /// What huge pages are aligned to; where they are greater, the system looks for places itself.
    const HUGE: usize = 2 << 20;

    /// New pages, all zero.
    pub(super) fn new(size: usize) -> Option<NonNull<u8>> {
        if size < LARGE {
            return pages(size);
        }
        let whole = size.checked_add(HUGE)?;
        let start = pages(whole)?;
        let before = start.as_ptr().align_offset(HUGE).min(HUGE);
        // SAFETY: within the mapping, of which these parts are nobody's.
        unsafe {
            let ptr = start.add(before);
            if before > 0 {
                free(start, before);
            }
            if before < HUGE {
                free(ptr.add(size), HUGE - before);
            }
            // A wish: without it, or refused, pages are small ones.
            #[cfg(any(target_os = "linux", target_os = "android"))]
            libc::madvise(ptr.as_ptr().cast(), size, libc::MADV_HUGEPAGE);
            Some(ptr)
        }
    }

    fn pages(size: usize) -> Option<NonNull<u8>> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANON;
        // SAFETY: a new mapping at a place that the system chooses touches no other.
        let ptr = unsafe { libc::mmap(null_mut(), size, access, kind, -1, 0) };
        (ptr != libc::MAP_FAILED)
            .then(|| NonNull::new(ptr.cast()))
            .flatten()
    }

    /// Gives pages back.
    ///
    /// # Safety
    /// They were mapped here, and nobody uses them any more.
    pub(super) unsafe fn free(ptr: NonNull<u8>, size: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if libc::munmap(ptr.as_ptr().cast(), size) != 0 {
                // The process has too many mappings to cut one in two: the memory goes back, only
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
