//! An allocator that refuses large tensors, so that no input takes long, and calls meet too little memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

/// Bytes of a tensor; more than reading a result asks for, which may not fail.
const LARGEST: usize = 256 << 10;

/// What blocks of tensors are aligned to, whatever their length, and nothing else is.
const BLOCKS: usize = 64;

struct Refusing;

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

fn refused(layout: Layout) -> bool {
    layout.align() == BLOCKS && layout.size() > LARGEST
}

// SAFETY: every call is passed on to the system's allocator as it came, or refused with null.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refused(layout) {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if refused(layout) {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(block, layout) }
    }
}
