//! The small blocks that a thread keeps for itself, without a lock.

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::shared::{self, Stack};
use super::{cap, class, system};

/// The longest blocks that a thread keeps: for longer ones a lock costs nothing beside their use.
const LONGEST: usize = 32 << 10;

const COUNT: usize = class::of_size(LONGEST) + 1;

/// How much a thread keeps. When it is more, all of it becomes everybody's: a thread that only
/// frees feeds those that only allocate.
pub(super) const MOST: usize = 512 << 10;

/// Grows with every `trim`; a thread that sees another number than it did gives its blocks back.
static TRIMS: AtomicUsize = AtomicUsize::new(0);

struct Local {
    stacks: [Stack; COUNT],
    trims: usize,
    held: Arc<AtomicUsize>,
}

thread_local! {
    static LOCAL: UnsafeCell<Local> = UnsafeCell::new(Local {
        stacks: [Stack::EMPTY; COUNT],
        trims: TRIMS.load(Ordering::Relaxed),
        held: shared::join(),
    });
}

/// Calls `f` with what this thread keeps; `None` while the thread ends.
#[inline]
fn with<V>(f: impl FnOnce(&mut Local) -> V) -> Option<V> {
    // SAFETY: only this thread reaches it, and no `f` here calls anything that comes back to it:
    // what they call are stacks, counts, and the system's allocator.
    LOCAL.try_with(|local| f(unsafe { &mut *local.get() })).ok()
}

impl Local {
    #[inline]
    fn count(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Only this thread writes its count.
    #[inline]
    fn set_count(&self, bytes: usize) {
        self.held.store(bytes, Ordering::Relaxed);
    }

    #[inline]
    fn is_stale(&self) -> bool {
        self.trims != TRIMS.load(Ordering::Relaxed)
    }

    #[cold]
    fn give_back(&mut self) {
        self.trims = TRIMS.load(Ordering::Relaxed);
        for (class, stack) in self.stacks.iter_mut().enumerate() {
            while let Some(ptr) = stack.pop() {
                // SAFETY: a kept block of this class, which nobody uses.
                unsafe { system::give(ptr, class) };
            }
        }
        self.set_count(0);
    }

    #[cold]
    fn share(&mut self) {
        shared::absorb(&mut self.stacks, &self.held, false);
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        shared::absorb(&mut self.stacks, &self.held, true);
    }
}

/// A block of a class, if this thread keeps one.
#[inline]
pub(super) fn pop(class: usize) -> Option<NonNull<u8>> {
    if class >= COUNT {
        return None;
    }
    with(|local| {
        if local.is_stale() {
            local.give_back();
        }
        let ptr = local.stacks[class].pop()?;
        local.set_count(local.count() - class::size(class));
        Some(ptr)
    })
    .flatten()
}

/// Keeps a block; false where it is not one that threads keep.
///
/// # Safety
/// A block of this class that nobody uses any more.
#[inline]
pub(super) unsafe fn push(ptr: NonNull<u8>, class: usize) -> bool {
    if class >= COUNT || cap() == 0 {
        return false;
    }
    with(|local| {
        if local.is_stale() {
            local.give_back();
        }
        // SAFETY: the caller's promise.
        unsafe { local.stacks[class].push(ptr) };
        local.set_count(local.count() + class::size(class));
        if local.count() > MOST {
            local.share();
        }
    })
    .is_some()
}

/// Gives back what this thread keeps, and tells the others.
pub(super) fn trim() {
    TRIMS.fetch_add(1, Ordering::Relaxed);
    with(Local::give_back);
}
