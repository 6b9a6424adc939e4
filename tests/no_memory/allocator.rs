//! An allocator that refuses when it is told to.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Shorter pieces are always there: names, shapes, messages, what threads need to wait.
const SHORT: usize = 4 << 10;

/// What blocks of tensors are aligned to, whatever their length, and nothing else is.
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

// SAFETY: every call is passed on to the system's allocator as it came, or refused with null.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refused(layout) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if refused(layout) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise: the new size is valid with this alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if size > layout.size() && refused(new) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise is the same.
        unsafe { System.realloc(ptr, layout, size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// Calls `f` while only so many large allocations are granted; whether one was refused.
pub fn with_only<R>(allowed: usize, f: impl FnOnce() -> R) -> (R, bool) {
    ALLOWED.store(allowed, Ordering::SeqCst);
    SEEN.store(0, Ordering::SeqCst);
    ARMED.store(true, Ordering::SeqCst);
    let result = f();
    ARMED.store(false, Ordering::SeqCst);
    (result, SEEN.load(Ordering::SeqCst) > allowed)
}
