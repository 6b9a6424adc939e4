//! The memory that tensors on the CPU lie in.
//!
//! What a tensor leaves behind is kept for the next one of about its size, since pages that are
//! new to a process cost more than most operations do. Small blocks are kept by the thread that
//! freed them, without a lock; the rest, up to [`cap`], by all threads together. Blocks of 8 MiB and
//! more lie on huge pages where the system has them.
//!
//! [`trim`] gives back what is kept, [`set_cap`] says how much that may be, [`stats`] how much it
//! is. The environment variable `NOMINA_CACHE`, a number of bytes, is the cap a program starts
//! with. With 0 every tensor has an allocation of its own, no longer than its elements: so
//! AddressSanitizer and the like see each access that is out of bounds or too late.

mod class;
mod local;
pub(crate) mod scratch;
mod shared;
mod system;

#[cfg(test)]
mod stress_tests;
#[cfg(test)]
mod tests;

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use nomina_core::{Error, ErrorKind};

#[doc(hidden)]
pub use scratch::list;
pub(crate) use scratch::{NoMemory, Scratch};

/// The alignment of allocated blocks: a cache line, and an AVX-512 register.
pub const ALIGNMENT: usize = 64;

#[cold]
pub(crate) fn refused(op: &'static str, len: usize) -> Error {
    Error::new(
        ErrorKind::Memory,
        op,
        format!("{len} bytes of memory could not be had"),
    )
    .hint("use smaller sizes, or free other tensors first")
}

/// How much memory tensors take, in bytes. Blocks count with their own sizes, which are up to an
/// eighth more than was asked for (64 bytes at least). A `Vec` that became a tensor does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// What tensors lie in.
    pub in_use: usize,
    /// What is kept for tensors to come.
    pub held: usize,
    /// The most that both were together at any time.
    pub peak: usize,
}

/// What the cap is before anybody says, on machines that have eight times as much.
const DEFAULT_CAP: usize = 1 << 30;

/// What a process can address on today's 64-bit machines (47 bits). More is refused before the
/// allocator is asked: AddressSanitizer's ends the process over such a size.
const ADDRESSABLE: usize = (isize::MAX as usize) >> if usize::BITS > 32 { 16 } else { 0 };

const _: () = assert!(class::of(ADDRESSABLE) < class::COUNT);

/// No cap was asked for yet.
const UNSET: usize = usize::MAX;

static CAP: AtomicUsize = AtomicUsize::new(UNSET);

/// How many bytes may be kept for tensors to come. Each thread may keep 512 KiB of small blocks
/// beyond it, unless it is 0.
#[must_use]
#[inline]
pub fn cap() -> usize {
    match CAP.load(Ordering::Relaxed) {
        UNSET => first_cap(),
        cap => cap,
    }
}

#[cold]
fn first_cap() -> usize {
    let asked = std::env::var("NOMINA_CACHE").ok();
    let asked = asked.and_then(|bytes| bytes.trim().parse::<usize>().ok());
    let cap = asked.unwrap_or_else(|| DEFAULT_CAP.min(system::installed() / 8));
    // Whoever was faster wins, `set_cap` too.
    match CAP.compare_exchange(
        UNSET,
        cap.min(UNSET - 1),
        Ordering::Relaxed,
        Ordering::Relaxed,
    ) {
        Ok(_) => cap.min(UNSET - 1),
        Err(other) => other,
    }
}

/// Says how many bytes may be kept for tensors to come; what is beyond goes back at once. With 0
/// nothing is kept.
pub fn set_cap(bytes: usize) {
    let before = CAP.swap(bytes.min(UNSET - 1), Ordering::Relaxed);
    if bytes == 0 || before == 0 {
        // Threads look at the cap when they see this.
        trim();
    }
    if bytes > 0 {
        shared::shrink(bytes);
    }
}

/// Gives what is kept for tensors to come back to the system. Small blocks that other threads keep
/// follow when those threads next make or drop a tensor.
///
/// ```
/// use nomina_runtime::memory;
/// memory::trim();
/// assert!(memory::stats().held < 1 << 20);
/// ```
pub fn trim() {
    local::trim();
    shared::shrink(0);
}

/// How much memory tensors take now, and took at most. The numbers fit each other where no other
/// thread makes or drops tensors meanwhile.
#[must_use]
pub fn stats() -> Stats {
    let held = shared::held();
    let (reserved, peak) = system::reserved();
    Stats {
        in_use: reserved.saturating_sub(held),
        held,
        peak,
    }
}

/// An aligned piece of memory that is its owner's alone.
#[derive(Debug)]
pub(crate) struct Block {
    ptr: NonNull<u8>,
    origin: Origin,
}

/// Where a block came from, in a word: one behind the other no byte, the classes, and allocations
/// of so many bytes, made while nothing was to be kept.
#[derive(Clone, Copy, Debug)]
struct Origin(usize);

impl Origin {
    const NOTHING: Self = Self(0);

    fn class(class: usize) -> Self {
        Self(1 + class)
    }

    fn exact(bytes: usize) -> Self {
        Self(1 + class::COUNT + bytes)
    }
}

// SAFETY: a block owns its bytes, as a `Vec<u8>` does.
unsafe impl Send for Block {}
// SAFETY: through `&self` nothing is written; what the address is used for is its owner's matter.
unsafe impl Sync for Block {}

impl Block {
    /// At least `bytes` bytes, zero or indeterminate; `None` when they cannot be had.
    #[inline]
    pub(crate) fn new(bytes: usize, zeroed: bool) -> Option<Self> {
        if bytes == 0 {
            let ptr = Layout::from_size_align(0, ALIGNMENT).ok()?.dangling_ptr();
            let origin = Origin::NOTHING;
            return Some(Self { ptr, origin });
        }
        let class = class::of(bytes);
        let Some(ptr) = local::pop(class) else {
            return Self::other(bytes, class, zeroed);
        };
        if zeroed {
            // SAFETY: a block of this class is at least as long, and ours alone.
            unsafe { ptr.write_bytes(0, bytes) };
        }
        let origin = Origin::class(class);
        Some(Self { ptr, origin })
    }

    /// The same where this thread keeps no such block.
    #[inline(never)]
    fn other(bytes: usize, class: usize, zeroed: bool) -> Option<Self> {
        if bytes > ADDRESSABLE {
            return None;
        }
        local::settle();
        if cap() == 0 {
            return Self::exact(bytes, zeroed);
        }
        let origin = Origin::class(class);
        if let Some(ptr) = shared::pop(class) {
            if zeroed {
                // SAFETY: a block of this class is at least as long, and ours alone.
                unsafe { ptr.write_bytes(0, bytes) };
            }
            return Some(Self { ptr, origin });
        }
        let ptr = system::take(class, zeroed).or_else(|| {
            // What is kept in other sizes may be what is missing.
            trim();
            system::take(class, zeroed)
        })?;
        Some(Self { ptr, origin })
    }

    /// An allocation of its own.
    #[cold]
    fn exact(bytes: usize, zeroed: bool) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, ALIGNMENT).ok()?;
        // SAFETY: the size is not zero.
        let ptr = unsafe {
            if zeroed {
                alloc_zeroed(layout)
            } else {
                alloc(layout)
            }
        };
        let ptr = NonNull::new(ptr)?;
        system::took(bytes);
        let origin = Origin::exact(bytes);
        Some(Self { ptr, origin })
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> NonNull<u8> {
        self.ptr
    }
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        let class = self.origin.0.wrapping_sub(1);
        // SAFETY: a block of this class, which nobody uses any more, where a thread keeps such; no
        // other origin is a class of that kind.
        if unsafe { !local::push(self.ptr, class) } {
            self.leave();
        }
    }
}

impl Block {
    /// What becomes of a block that no thread keeps.
    #[inline(never)]
    fn leave(&mut self) {
        let Some(class) = self.origin.0.checked_sub(1) else {
            return;
        };
        let Some(bytes) = class.checked_sub(class::COUNT) else {
            // SAFETY: a block of this class, which nobody uses any more.
            return unsafe { shared::push(self.ptr, class) };
        };
        system::gave(bytes);
        if let Ok(layout) = Layout::from_size_align(bytes, ALIGNMENT) {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.ptr.as_ptr(), layout) };
        }
    }
}
