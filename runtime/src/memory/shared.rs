//! The blocks that all threads keep together.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{cap, class, system};

/// What stands at the start of a block that is kept.
struct Free {
    next: Option<NonNull<u8>>,
}

/// Kept blocks of one class, the last one on top.
#[derive(Clone, Copy)]
pub(super) struct Stack {
    top: Option<NonNull<u8>>,
}

// SAFETY: the blocks belong to the stack, and so to whoever owns it.
unsafe impl Send for Stack {}

impl Stack {
    pub(super) const EMPTY: Self = Self { top: None };

    /// # Safety
    /// A block that nobody uses any more, of at least 64 bytes.
    #[inline]
    pub(super) unsafe fn push(&mut self, ptr: NonNull<u8>) {
        // SAFETY: blocks are aligned to more than this, and the caller's promise.
        unsafe { ptr.cast().write(Free { next: self.top }) };
        self.top = Some(ptr);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<NonNull<u8>> {
        let ptr = self.top?;
        // SAFETY: written by `push`, and nobody else's since.
        self.top = unsafe { ptr.cast::<Free>().read() }.next;
        Some(ptr)
    }
}

struct Shared {
    stacks: [Stack; class::COUNT],
    /// When each class last gave or took a block.
    touched: [u64; class::COUNT],
    clock: u64,
    held: usize,
    /// What each living thread keeps, written by that thread only.
    threads: Vec<Arc<AtomicUsize>>,
}

static SHARED: Mutex<Shared> = Mutex::new(Shared {
    stacks: [Stack::EMPTY; class::COUNT],
    touched: [0; class::COUNT],
    clock: 0,
    held: 0,
    threads: Vec::new(),
});

fn lock() -> MutexGuard<'static, Shared> {
    // Nothing here panics halfway.
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn touch(&mut self, class: usize) {
        self.clock += 1;
        self.touched[class] = self.clock;
    }

    fn take(&mut self, class: usize) -> Option<NonNull<u8>> {
        let ptr = self.stacks[class].pop()?;
        self.held -= class::size(class);
        Some(ptr)
    }

    /// Takes out blocks, of the class that was unused for longest first, until at most `bytes`
    /// remain. They are given back when nobody waits for the lock.
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
                // SAFETY: a kept block is nobody's.
                unsafe { going.0[class].push(ptr) };
            }
        }
        going
    }
}

/// Blocks on their way back to the system.
struct Released([Stack; class::COUNT]);

impl Drop for Released {
    fn drop(&mut self) {
        for (class, stack) in self.0.iter_mut().enumerate() {
            while let Some(ptr) = stack.pop() {
                // SAFETY: a kept block of this class, which nobody uses.
                unsafe { system::give(ptr, class) };
            }
        }
    }
}

/// A block of a class, if one is kept.
pub(super) fn pop(class: usize) -> Option<NonNull<u8>> {
    let mut shared = lock();
    let ptr = shared.take(class)?;
    shared.touch(class);
    Some(ptr)
}

/// Keeps a block, or gives it back where it is longer than all that may be kept.
///
/// # Safety
/// A block of this class that nobody uses any more.
pub(super) unsafe fn push(ptr: NonNull<u8>, class: usize) {
    let (size, cap) = (class::size(class), cap());
    if size > cap {
        // SAFETY: the caller's promise.
        return unsafe { system::give(ptr, class) };
    }
    let mut shared = lock();
    // SAFETY: the caller's promise.
    unsafe { shared.stacks[class].push(ptr) };
    shared.held += size;
    shared.touch(class);
    if shared.held > cap {
        let going = shared.beyond(cap);
        drop(shared);
        drop(going);
    }
}

/// Takes over what a thread keeps: its stacks by class, and its count of bytes, which becomes 0.
/// A thread that ends is forgotten.
pub(super) fn absorb(stacks: &mut [Stack], count: &Arc<AtomicUsize>, ends: bool) {
    let cap = cap();
    let mut shared = lock();
    for (class, stack) in stacks.iter_mut().enumerate() {
        if stack.top.is_some() {
            shared.touch(class);
        }
        while let Some(ptr) = stack.pop() {
            // SAFETY: a kept block is nobody's.
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

/// A count for a new thread.
pub(super) fn join() -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    lock().threads.push(Arc::clone(&count));
    count
}

/// Gives back what is kept beyond `bytes` bytes.
pub(super) fn shrink(bytes: usize) {
    let going = lock().beyond(bytes);
    drop(going);
}

/// How many bytes are kept, by all threads and by each.
pub(super) fn held() -> usize {
    let shared = lock();
    let each = shared
        .threads
        .iter()
        .map(|count| count.load(Ordering::Relaxed));
    shared.held + each.sum::<usize>()
}
