//! Scratch memory, and tasks on threads.

/// Below so many elements, threads cost more than they save.
const SERIAL: usize = 1 << 15;

/// Calls `f` for `0..n`, on several threads when `n` times `work` is worth it. Neighbours go
/// together until they make up a sensible task.
pub(crate) fn for_each(n: usize, work: usize, f: impl Fn(usize) + Sync) {
    #[cfg(feature = "rayon")]
    if n > 1 && n.saturating_mul(work) >= 2 * SERIAL && rayon::current_num_threads() > 1 {
        use rayon::prelude::*;
        let together = SERIAL.div_ceil(work.max(1)).max(n / (rayon::current_num_threads() * 16)).max(1);
        (0..n.div_ceil(together)).into_par_iter().for_each(|task| {
            for i in task * together..n.min((task + 1) * together) {
                f(i);
            }
        });
        return;
    }
    let _ = work;
    (0..n).for_each(f);
}

/// Bytes for intermediate values, aligned to 16; small ones on the stack.
pub(crate) struct Scratch {
    heap: Vec<u128>,
    stack: [std::mem::MaybeUninit<u128>; Self::INLINE],
    inline: bool,
}

impl Scratch {
    const INLINE: usize = 32;

    /// Room for so many bytes, of indeterminate content.
    #[inline]
    pub fn new(bytes: usize) -> Self {
        let words = bytes.div_ceil(16);
        let inline = words <= Self::INLINE;
        let heap = Vec::with_capacity(if inline { 0 } else { words });
        Self { heap, stack: [std::mem::MaybeUninit::uninit(); Self::INLINE], inline }
    }

    /// Where it starts.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        if self.inline { self.stack.as_mut_ptr().cast() } else { self.heap.as_mut_ptr().cast() }
    }
}

/// A pointer that tasks share, each for places of its own.
#[derive(Clone, Copy)]
pub(crate) struct Shared<T>(pub *mut T);

// SAFETY: whoever dereferences it says why no two tasks meet.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The pointer; a method, so that closures capture the whole.
    #[inline]
    pub fn get(self) -> *mut T {
        self.0
    }
}
