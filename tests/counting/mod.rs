//! An allocator that counts the allocations of the calling thread.
// Each test uses only one of the two kinds of measurement.
#![allow(dead_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

struct Counting;

/// The live and peak bytes of all threads together.
static ALL_LIVE: AtomicIsize = AtomicIsize::new(0);
static ALL_PEAK: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
    /// The bytes that the thread allocated and has not freed; negative if it frees blocks of other threads.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: usize) {
    CALLS.set(CALLS.get() + 1);
    BYTES.set(BYTES.get() + bytes);
    LIVE.set(LIVE.get() + bytes as isize);
    PEAK.set(PEAK.get().max(LIVE.get()));
    let all = ALL_LIVE.fetch_add(bytes as isize, Ordering::Relaxed) + bytes as isize;
    ALL_PEAK.fetch_max(all, Ordering::Relaxed);
}

fn freed(bytes: usize) {
    LIVE.set(LIVE.get() - bytes as isize);
    ALL_LIVE.fetch_sub(bytes as isize, Ordering::Relaxed);
}

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // If the block moves, the old and the new one are live at the same time.
        count(size);
        freed(layout.size());
        // SAFETY: the caller upholds the same contract.
        unsafe { System.realloc(ptr, layout, size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: the caller upholds the same contract.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the number of this thread's allocations in `f`, their bytes, and the result of `f`.
pub fn counted<R>(f: impl FnOnce() -> R) -> (usize, usize, R) {
    let (calls, bytes) = (CALLS.get(), BYTES.get());
    let result = f();
    (CALLS.get() - calls, BYTES.get() - bytes, result)
}

/// Returns this thread's peak memory during `f`, relative to the start, and the result of `f`.
pub fn peak<R>(f: impl FnOnce() -> R) -> (usize, R) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = f();
    ((PEAK.get() - before) as usize, result)
}

/// Like [`peak`], but for all threads together; nothing else in the process may run meanwhile.
pub fn peak_of_all<R>(f: impl FnOnce() -> R) -> (usize, R) {
    let before = ALL_LIVE.load(Ordering::Relaxed);
    ALL_PEAK.store(before, Ordering::Relaxed);
    let result = f();
    ((ALL_PEAK.load(Ordering::Relaxed) - before) as usize, result)
}
