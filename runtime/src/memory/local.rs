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

/// What no number of trims is: seen by a thread that keeps nothing. So one comparison says, in every
/// call, whether a thread has begun, whether it may keep blocks, and whether it has to give them back.
const NEVER: usize = usize::MAX;

/// The count of threads that keep nothing, which stays zero.
static NOTHING: AtomicUsize = AtomicUsize::new(0);

struct Local {
    stacks: [Stack; COUNT],
    /// What `TRIMS` was when this was last looked at.
    seen: usize,
    /// How many bytes the stacks hold, for whoever asks: [`Member`]'s, while blocks are kept.
    held: NonNull<AtomicUsize>,
    /// Whether the thread is on its way out.
    ended: bool,
}

/// What a thread that keeps blocks leaves behind when it ends.
struct Member(Arc<AtomicUsize>);

thread_local! {
    // Without a destructor and without anything to compute at first: to reach it costs nothing.
    static LOCAL: UnsafeCell<Local> = const { UnsafeCell::new(Local {
        stacks: [Stack::EMPTY; COUNT],
        seen: NEVER,
        held: NonNull::from_ref(&NOTHING),
        ended: false,
    }) };
    static MEMBER: Member = Member(shared::join());
}

/// Calls `f` with what this thread keeps; `None` where nothing can be kept.
#[inline(always)]
fn with<V>(f: impl FnOnce(&mut Local) -> V) -> Option<V> {
    // SAFETY: only this thread reaches it, and no `f` here calls anything that comes back to it:
    // what they call are stacks, counts, and the system's allocator.
    LOCAL.try_with(|local| f(unsafe { &mut *local.get() })).ok()
}

impl Local {
    /// The count that this thread writes, and nobody else.
    #[inline]
    fn held(&self) -> &AtomicUsize {
        // SAFETY: a static, or of the `Member`, which takes it back before it goes.
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

    /// Whether blocks may be kept, and none has to be given back.
    #[inline(always)]
    fn is_current(&self) -> bool {
        self.seen == TRIMS.load(Ordering::Relaxed)
    }

    fn give_back(&mut self) {
        for (class, stack) in self.stacks.iter_mut().enumerate() {
            while let Some(ptr) = stack.pop() {
                // SAFETY: a kept block of this class, which nobody uses.
                unsafe { system::give(ptr, class) };
            }
        }
        if self.count() != 0 {
            self.set_count(0);
        }
    }
}

/// Gives back what has to be, and begins to keep blocks where that is allowed; false where not.
#[cold]
#[inline(never)]
fn refresh() -> bool {
    // Before the cap: who changes that says so by the number of trims afterwards.
    let trims = TRIMS.load(Ordering::Acquire);
    with(|local| {
        local.seen = NEVER;
        local.give_back();
    });
    if cap() == 0 {
        return false;
    }
    // Outside of `with`, since it asks the system's allocator for a thread's first time.
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

/// What [`pop`] and [`push`] do for themselves where they can.
pub(super) fn settle() {
    if with(|local| local.is_current()) != Some(true) {
        refresh();
    }
}

/// Makes all that this thread keeps everybody's.
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
            // What is dropped after this is kept by all threads together.
            (local.seen, local.ended) = (NEVER, true);
            shared::absorb(&mut local.stacks, &self.0, true);
            local.held = NonNull::from_ref(&NOTHING);
        });
    }
}

/// A block of a class, if this thread keeps one.
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

/// Keeps a block; false where it is not one that threads keep.
///
/// # Safety
/// A block of this class that nobody uses any more.
#[inline]
pub(super) unsafe fn push(ptr: NonNull<u8>, class: usize) -> bool {
    if class >= COUNT {
        return false;
    }
    // SAFETY: the caller's promise, twice: where the first gives false, nothing was kept.
    unsafe { keep(ptr, class) || (refresh() && keep(ptr, class)) }
}

/// Keeps a block, unless something has to be done first.
///
/// # Safety
/// As [`push`].
#[inline(always)]
unsafe fn keep(ptr: NonNull<u8>, class: usize) -> bool {
    let kept = with(|local| {
        if !local.is_current() {
            return None;
        }
        // SAFETY: the caller's promise.
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

/// Gives back what this thread keeps, and tells the others.
pub(super) fn trim() {
    TRIMS.fetch_add(1, Ordering::Release);
    refresh();
}
