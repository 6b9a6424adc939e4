//! An allocator that counts what the calling thread asks for.
// Each test has its own of the two ways to look at it.
#![allow(dead_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

struct Counting;

/// The same of all threads together.
static ALL_LIVE: AtomicIsize = AtomicIsize::new(0);
static ALL_PEAK: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
    /// What the thread asked for and did not give back; less than nothing where it frees what another one asked for.
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

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new are there at the same time, where the block moves.
        count(size);
        freed(layout.size());
        // SAFETY: the caller's promise is the same.
        unsafe { System.realloc(ptr, layout, size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often `f` asks this thread's allocator, for how many bytes, and what it gives.
pub fn counted<R>(f: impl FnOnce() -> R) -> (usize, usize, R) {
    let (calls, bytes) = (CALLS.get(), BYTES.get());
    let result = f();
    (CALLS.get() - calls, BYTES.get() - bytes, result)
}

/// How many bytes more than before this thread has at one time while `f` runs, and what it gives.
pub fn peak<R>(f: impl FnOnce() -> R) -> (usize, R) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = f();
    ((PEAK.get() - before) as usize, result)
}

/// The same of all threads together: of a program that does nothing else meanwhile.
pub fn peak_of_all<R>(f: impl FnOnce() -> R) -> (usize, R) {
    let before = ALL_LIVE.load(Ordering::Relaxed);
    ALL_PEAK.store(before, Ordering::Relaxed);
    let result = f();
    ((ALL_PEAK.load(Ordering::Relaxed) - before) as usize, result)
}
