//! Buffers shared by the tasks of a product.

use crate::memory::{Block, NoMemory};
use crate::shape::product;

/// Returns the smallest factor by which `tasks` becomes a multiple of the number of threads.
pub(super) fn even(tasks: usize, threads: usize) -> usize {
    let times = (1..threads).find(|times| (times * tasks).is_multiple_of(threads));
    times.unwrap_or(threads)
}

/// Allocates uninitialised memory; its size in bytes is the product of `factors`.
pub(super) fn room<const N: usize>(factors: [usize; N]) -> Result<Block, NoMemory> {
    let bytes = product(factors);
    Block::new(bytes, false).ok_or(NoMemory(bytes))
}

/// A buffer in which each task writes its own panels.
pub(super) struct Writable<U>(pub(super) *mut U);

impl<U> Writable<U> {
    /// Returns the address. A method, so that closures capture the wrapper and not the bare
    /// pointer.
    pub(super) fn get(self) -> *mut U {
        self.0
    }
}

impl<U> Clone for Writable<U> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<U> Copy for Writable<U> {}
// SAFETY: an address; tasks write to different panels.
unsafe impl<U> Send for Writable<U> {}
// SAFETY: as above.
unsafe impl<U> Sync for Writable<U> {}
