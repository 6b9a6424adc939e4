//! The cache of blocks that all threads share.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{cap, class, system};

/// The header of a cached block.
struct Free {
    next: Option<NonNull<u8>>,
}

/// Cached blocks of one class, the latest one on top.
#[derive(Clone, Copy)]
pub(super) struct Stack {
    top: Option<NonNull<u8>>,
}

// SAFETY: the blocks belong to the stack, and so to its owner.
unsafe impl Send for Stack {}

impl Stack {
    pub(super) const EMPTY: Self = Self { top: None };

    /// Pushes a block.
    ///
    /// # Safety
    /// An unused block of at least 64 bytes.
    #[inline]
    pub(super) unsafe fn push(&mut self, ptr: NonNull<u8>) {
        // SAFETY: blocks are sufficiently aligned; the rest is guaranteed by the caller.
        unsafe { ptr.cast().write(Free { next: self.top }) };
        self.top = Some(ptr);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<NonNull<u8>> {
        let ptr = self.top?;
        // SAFETY: written by `push`, and unused since.
        self.top = unsafe { ptr.cast::<Free>().read() }.next;
        Some(ptr)
    }
}

struct SharedLists {
    stacks: [Stack; class::COUNT],
    /// The time when each class last gained or lost a block.
    touched: [u64; class::COUNT],
    clock: u64,
    held: usize,
    /// The byte count of each living thread's cache, written by that thread only.
    threads: Vec<Arc<AtomicUsize>>,
}

static SHARED: Mutex<SharedLists> = Mutex::new(SharedLists {
    stacks: [Stack::EMPTY; class::COUNT],
    touched: [0; class::COUNT],
    clock: 0,
    held: 0,
    threads: Vec::new(),
});

fn lock() -> MutexGuard<'static, SharedLists> {
    // The state is consistent even after a panic: nothing here panics halfway.
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedLists {
    fn touch(&mut self, class: usize) {
        self.clock += 1;
        self.touched[class] = self.clock;
    }

    fn take(&mut self, class: usize) -> Option<NonNull<u8>> {
        let ptr = self.stacks[class].pop()?;
        self.held -= class::size(class);
        Some(ptr)
    }

    /// Removes blocks, first of the class that was unused longest, until at most `bytes` remain.
    /// They are returned to the system after the lock is released.
    fn beyond(&mut self, bytes: usize) -> Released {
        let mut going = Released([Stack::EMPTY; class::COUNT]);
        while self.held > bytes {
            let kept = (0..class::COUNT).filter(|&class| self.stacks[class].top.is_some());
            let Some(class) = kept.min_by_key(|&class| self.touched[class]) else {
                break;
            };
            while self.held > bytes
                && let Some(ptr) = self.take(class)
            {
                // SAFETY: a cached block is unused.
                unsafe { going.0[class].push(ptr) };
            }
        }
        going
    }
}

/// Blocks to be returned to the system.
struct Released([Stack; class::COUNT]);

impl Drop for Released {
    fn drop(&mut self) {
        for (class, stack) in self.0.iter_mut().enumerate() {
            while let Some(ptr) = stack.pop() {
                // SAFETY: a cached block of this class, which is unused.
                unsafe { system::give(ptr, class) };
            }
        }
    }
}

/// Returns a cached block of a class, if there is one.
pub(super) fn pop(class: usize) -> Option<NonNull<u8>> {
    let mut shared = lock();
    let ptr = shared.take(class)?;
    shared.touch(class);
    Some(ptr)
}

/// Caches a block, or returns it to the system if it is larger than the cap.
///
/// # Safety
/// An unused block of this class.
pub(super) unsafe fn push(ptr: NonNull<u8>, class: usize) {
    let (size, cap) = (class::size(class), cap());
    if size > cap {
        // SAFETY: guaranteed by the caller.
        return unsafe { system::give(ptr, class) };
    }
    let mut shared = lock();
    // SAFETY: guaranteed by the caller.
    unsafe { shared.stacks[class].push(ptr) };
    shared.held += size;
    shared.touch(class);
    if shared.held > cap {
        let going = shared.beyond(cap);
        drop(shared);
        drop(going);
    }
}

/// Takes over a thread's cache: its stacks by class, and its byte count, which becomes 0. A thread
/// that ends is removed.
pub(super) fn absorb(stacks: &mut [Stack], count: &Arc<AtomicUsize>, ends: bool) {
    let cap = cap();
    let mut shared = lock();
    for (class, stack) in stacks.iter_mut().enumerate() {
        if stack.top.is_some() {
            shared.touch(class);
        }
        while let Some(ptr) = stack.pop() {
            // SAFETY: a cached block is unused.
            unsafe { shared.stacks[class].push(ptr) };
            shared.held += class::size(class);
        }
    }
    count.store(0, Ordering::Relaxed);
    if ends {
        shared.threads.retain(|other| !Arc::ptr_eq(other, count));
    }
    if shared.held > cap {
        let going = shared.beyond(cap);
        drop(shared);
        drop(going);
    }
}

/// Registers a new thread; returns its byte count.
pub(super) fn join() -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    lock().threads.push(Arc::clone(&count));
    count
}

/// Releases cached blocks beyond `bytes` bytes.
pub(super) fn shrink(bytes: usize) {
    let going = lock().beyond(bytes);
    drop(going);
}

/// Returns the number of cached bytes, shared and per thread together.
pub(super) fn held() -> usize {
    let shared = lock();
    let each = shared
        .threads
        .iter()
        .map(|count| count.load(Ordering::Relaxed));
    shared.held + each.sum::<usize>()
}
