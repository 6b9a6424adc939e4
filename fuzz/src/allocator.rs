//! An allocator that refuses large tensors, so that no input takes long, and calls run out of memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

/// The maximum bytes of a tensor; more than is allocated to read a result, which must not fail.
const LARGEST: usize = 256 << 10;

/// The alignment of tensor blocks of any size, which no other allocation has.
const BLOCKS: usize = 64;

struct Refusing;

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

fn refused(layout: Layout) -> bool {
    layout.align() == BLOCKS && layout.size() > LARGEST
}

// SAFETY: every call is forwarded unchanged to the system allocator, or refused with null.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refused(layout) {
            return ptr::null_mut();
        }
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if refused(layout) {
            return ptr::null_mut();
        }
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller upholds the same contract.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the same contract.
        unsafe { System.dealloc(block, layout) }
    }
}
