//! An allocator that refuses on request.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Smaller allocations always succeed: names, shapes, messages, the state of waiting threads.
const SHORT: usize = 4 << 10;

/// The alignment of tensor blocks of any size, which no other allocation has.
const BLOCKS: usize = 64;

static ARMED: AtomicBool = AtomicBool::new(false);
static ALLOWED: AtomicUsize = AtomicUsize::new(0);
static SEEN: AtomicUsize = AtomicUsize::new(0);

pub struct Refusing;

fn refused(layout: Layout) -> bool {
    ARMED.load(Ordering::SeqCst)
        && (layout.size() >= SHORT || layout.align() == BLOCKS)
        && SEEN.fetch_add(1, Ordering::SeqCst) >= ALLOWED.load(Ordering::SeqCst)
}

// SAFETY: every call is forwarded unchanged to the system allocator, or refused with null.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refused(layout) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if refused(layout) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees that the new size is valid with this alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if size > layout.size() && refused(new) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller upholds the same contract.
        unsafe { System.realloc(ptr, layout, size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the same contract.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// Calls `f` while only `allowed` large allocations are granted. Returns the result, and whether an
/// allocation was refused.
pub fn with_only<R>(allowed: usize, f: impl FnOnce() -> R) -> (R, bool) {
    ALLOWED.store(allowed, Ordering::SeqCst);
    SEEN.store(0, Ordering::SeqCst);
    ARMED.store(true, Ordering::SeqCst);
    let result = f();
    ARMED.store(false, Ordering::SeqCst);
    (result, SEEN.load(Ordering::SeqCst) > allowed)
}
