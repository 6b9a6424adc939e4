//! The small blocks that each thread caches, without a lock.

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::shared::{self, Stack};
use super::{cap, class, system};

/// The longest blocks that a thread caches: for longer ones the cost of a lock is negligible.
const LONGEST: usize = 32 << 10;

const COUNT: usize = class::of_size(LONGEST) + 1;

/// The limit of a thread's cache. Beyond it, all of its blocks move to the shared cache, so that a thread that only
/// frees feeds threads that only allocate.
pub(super) const MOST: usize = 512 << 10;

/// Incremented by every `trim`; a thread that sees a change releases its blocks.
static TRIMS: AtomicUsize = AtomicUsize::new(0);

/// Not a number of trims: the value of `seen` in a thread that caches nothing. A single comparison per call then tells
/// whether a thread has started, whether it may cache blocks, and whether it has to release them.
const NEVER: usize = usize::MAX;

/// The byte count of threads that cache nothing, which stays zero.
static NOTHING: AtomicUsize = AtomicUsize::new(0);

struct Local {
    stacks: [Stack; COUNT],
    /// The value of `TRIMS` at the last check.
    seen: usize,
    /// The number of bytes in the stacks, which other threads may read: that of [`Member`], while blocks are cached.
    held: NonNull<AtomicUsize>,
    /// Whether the thread is terminating.
    ended: bool,
}

/// Hands over a thread's cached blocks when it ends.
struct Member(Arc<AtomicUsize>);

thread_local! {
    // Without a destructor and a lazy initialiser, so that access is free.
    static LOCAL: UnsafeCell<Local> = const { UnsafeCell::new(Local {
        stacks: [Stack::EMPTY; COUNT],
        seen: NEVER,
        held: NonNull::from_ref(&NOTHING),
        ended: false,
    }) };
    static MEMBER: Member = Member(shared::join());
}

/// Calls `f` with this thread's cache; returns `None` if the thread cannot have one.
#[inline(always)]
fn with<V>(f: impl FnOnce(&mut Local) -> V) -> Option<V> {
    // SAFETY: only this thread reaches it, and no `f` here calls anything that reenters: they only use stacks, counts,
    // and the system's allocator.
    LOCAL.try_with(|local| f(unsafe { &mut *local.get() })).ok()
}

impl Local {
    /// Returns the count, which only this thread writes.
    #[inline]
    fn held(&self) -> &AtomicUsize {
        // SAFETY: a static, or owned by the `Member`, which resets this pointer before it is dropped.
        unsafe { self.held.as_ref() }
    }

    #[inline]
    fn count(&self) -> usize {
        self.held().load(Ordering::Relaxed)
    }

    #[inline]
    fn set_count(&self, bytes: usize) {
        self.held().store(bytes, Ordering::Relaxed);
    }

    /// Returns whether blocks may be cached, and none has to be released.
    #[inline(always)]
    fn is_current(&self) -> bool {
        self.seen == TRIMS.load(Ordering::Relaxed)
    }

    fn give_back(&mut self) {
        for (class, stack) in self.stacks.iter_mut().enumerate() {
            while let Some(ptr) = stack.pop() {
                // SAFETY: a cached block of this class, which is unused.
                unsafe { system::give(ptr, class) };
            }
        }
        if self.count() != 0 {
            self.set_count(0);
        }
    }
}

/// Releases blocks if required, and starts caching if allowed; returns whether it is.
#[cold]
#[inline(never)]
fn refresh() -> bool {
    // Read before the cap: a thread that changes the cap increments the number of trims afterwards.
    let trims = TRIMS.load(Ordering::Acquire);
    with(|local| {
        local.seen = NEVER;
        local.give_back();
    });
    if cap() == 0 {
        return false;
    }
    // Outside of `with`, because the first access in a thread calls the system's allocator.
    let Ok(held) = MEMBER.try_with(|member| NonNull::from_ref(&*member.0)) else {
        return false;
    };
    let begun = with(|local| {
        if !local.ended {
            (local.held, local.seen) = (held, trims);
        }
        !local.ended
    });
    begun == Some(true)
}

/// Refreshes the cache if it is not current. [`pop`] and [`push`] check that themselves.
pub(super) fn settle() {
    if with(|local| local.is_current()) != Some(true) {
        refresh();
    }
}

/// Moves this thread's cached blocks to the shared cache.
#[cold]
#[inline(never)]
fn share() {
    let _ = MEMBER.try_with(|member| {
        with(|local| shared::absorb(&mut local.stacks, &member.0, false));
    });
}

impl Drop for Member {
    fn drop(&mut self) {
        with(|local| {
            // Blocks freed after this go to the shared cache.
            (local.seen, local.ended) = (NEVER, true);
            shared::absorb(&mut local.stacks, &self.0, true);
            local.held = NonNull::from_ref(&NOTHING);
        });
    }
}

/// Returns a cached block of a class, if this thread has one.
#[inline]
pub(super) fn pop(class: usize) -> Option<NonNull<u8>> {
    if class >= COUNT {
        return None;
    }
    let found = with(|local| {
        if !local.is_current() {
            return None;
        }
        let ptr = local.stacks[class].pop()?;
        local.set_count(local.count() - class::size(class));
        Some(ptr)
    });
    found.flatten()
}

/// Caches a block; returns false if threads do not cache it.
///
/// # Safety
/// An unused block of this class.
#[inline]
pub(super) unsafe fn push(ptr: NonNull<u8>, class: usize) -> bool {
    if class >= COUNT {
        return false;
    }
    // SAFETY: guaranteed by the caller; if the first attempt returns false, nothing was cached.
    unsafe { keep(ptr, class) || (refresh() && keep(ptr, class)) }
}

/// Caches a block, unless the cache must be refreshed first.
///
/// # Safety
/// The requirements of [`push`].
#[inline(always)]
unsafe fn keep(ptr: NonNull<u8>, class: usize) -> bool {
    let kept = with(|local| {
        if !local.is_current() {
            return None;
        }
        // SAFETY: guaranteed by the caller.
        unsafe { local.stacks[class].push(ptr) };
        let count = local.count() + class::size(class);
        local.set_count(count);
        Some(count)
    });
    match kept.flatten() {
        None => false,
        Some(count) => {
            if count > MOST {
                share();
            }
            true
        }
    }
}

/// Releases this thread's cached blocks, and tells the other threads to do so.
pub(super) fn trim() {
    TRIMS.fetch_add(1, Ordering::Release);
    refresh();
}
