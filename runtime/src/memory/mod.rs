//! The memory of tensors on the CPU.
//!
//! A dropped tensor's memory is cached for the next tensor of about its size, because fresh pages cost more than most
//! operations. Small blocks are cached by the thread that freed them, without a lock; other blocks, up to [`cap`], are
//! cached by all threads together. Blocks of 8 MiB and more use huge pages if the system has them.
//!
//! [`trim`] releases the cache, [`set_cap`] limits it, and [`stats`] returns its size. The environment variable
//! `NOMINA_CACHE`, a number of bytes, is the initial cap. With 0 every tensor has a separate allocation, exactly as
//! long as its elements, so that AddressSanitizer and similar tools detect every access out of bounds or after a free.

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

pub(crate) use scratch::{NoMemory, Scratch};
#[doc(hidden)]
pub use scratch::{list, try_list};

/// The alignment of allocated blocks: a cache line, and an AVX-512 register.
pub const ALIGNMENT: usize = 64;

#[cold]
pub(crate) fn refused(op: &'static str, len: usize) -> Error {
    Error::new(
        ErrorKind::Memory,
        op,
        format!("cannot allocate {len} bytes of memory"),
    )
    .hint("use smaller sizes, or free other tensors first")
}

/// The memory of tensors, in bytes. Blocks count with their own sizes, which are up to an eighth larger than requested
/// (at least 64 bytes). A `Vec` that became a tensor does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Memory in use by tensors.
    pub in_use: usize,
    /// Memory cached for later tensors.
    pub held: usize,
    /// The maximum of their sum so far.
    pub peak: usize,
}

/// The initial cap, on machines with at least eight times that much memory.
const DEFAULT_CAP: usize = 1 << 30;

/// The address space of a process on today's 64-bit machines (47 bits). Larger sizes are refused before they reach the
/// allocator: that of AddressSanitizer aborts the process for such a size.
const ADDRESSABLE: usize = (isize::MAX as usize) >> if usize::BITS > 32 { 16 } else { 0 };

const _: () = assert!(class::for_bytes(ADDRESSABLE) < class::COUNT);

/// The cap has not been initialised yet.
const UNSET: usize = usize::MAX;

static CAP: AtomicUsize = AtomicUsize::new(UNSET);

/// Returns the maximal number of cached bytes. Each thread may cache 512 KiB of small blocks beyond it, unless it is 0.
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
    // The first thread wins, including one that calls `set_cap`.
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

/// Sets the maximal number of cached bytes, and releases blocks beyond it immediately. With 0 nothing is cached.
pub fn set_cap(bytes: usize) {
    let before = CAP.swap(bytes.min(UNSET - 1), Ordering::Relaxed);
    if bytes == 0 || before == 0 {
        // Threads check the cap when they see this.
        trim();
    }
    if bytes > 0 {
        shared::shrink(bytes);
    }
}

/// Releases the cache to the system. Small blocks cached by other threads follow when those threads next create or drop
/// a tensor.
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

/// Returns the current and the peak memory of tensors. The numbers are consistent if no other thread creates or drops
/// tensors meanwhile.
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

/// An aligned piece of memory with a single owner.
#[derive(Debug)]
pub(crate) struct Block {
    ptr: NonNull<u8>,
    origin: Origin,
}

/// The origin of a block, in one word: first 0 for no bytes, then the classes, then allocations by their number of
/// bytes, made while caching was disabled.
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

// SAFETY: a block owns its bytes, like a `Vec<u8>`.
unsafe impl Send for Block {}
// SAFETY: `&self` gives no write access; uses of the address are up to the owner.
unsafe impl Sync for Block {}

impl Block {
    /// Allocates at least `bytes` bytes, zeroed or indeterminate; returns `None` if there is no memory.
    #[inline]
    pub(crate) fn new(bytes: usize, zeroed: bool) -> Option<Self> {
        if bytes == 0 {
            let ptr = Layout::from_size_align(0, ALIGNMENT).ok()?.dangling_ptr();
            let origin = Origin::NOTHING;
            return Some(Self { ptr, origin });
        }
        let class = class::for_bytes(bytes);
        let Some(ptr) = local::pop(class) else {
            return Self::other(bytes, class, zeroed);
        };
        if zeroed {
            // SAFETY: a block of this class is at least that long, and not shared.
            unsafe { ptr.write_bytes(0, bytes) };
        }
        let origin = Origin::class(class);
        Some(Self { ptr, origin })
    }

    /// Like [`new`](Self::new), if this thread has no cached block: the slow path.
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
                // SAFETY: a block of this class is at least that long, and not shared.
                unsafe { ptr.write_bytes(0, bytes) };
            }
            return Some(Self { ptr, origin });
        }
        let ptr = system::take(class, zeroed).or_else(|| {
            // Releasing cached blocks of other sizes may make room.
            trim();
            system::take(class, zeroed)
        })?;
        Some(Self { ptr, origin })
    }

    /// Makes a separate allocation of exactly `bytes` bytes.
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
        // SAFETY: an unused block of this class, if threads cache the class; other origins are not such a class.
        if unsafe { !local::push(self.ptr, class) } {
            self.leave();
        }
    }
}

impl Block {
    /// Frees a block that no thread caches.
    #[inline(never)]
    fn leave(&mut self) {
        let Some(class) = self.origin.0.checked_sub(1) else {
            return;
        };
        let Some(bytes) = class.checked_sub(class::COUNT) else {
            // SAFETY: an unused block of this class.
            return unsafe { shared::push(self.ptr, class) };
        };
        system::gave(bytes);
        if let Ok(layout) = Layout::from_size_align(bytes, ALIGNMENT) {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.ptr.as_ptr(), layout) };
        }
    }
}
