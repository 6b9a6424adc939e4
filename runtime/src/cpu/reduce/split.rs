//! Scratch memory, and tasks on threads.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::cpu::nontemporal::NonTemporal;
pub(crate) use crate::cpu::parallel::Shared;
use crate::cpu::parallel::{GRAIN, Missing, each, threads};
use crate::memory::{self, NoMemory};
use crate::shape::product;

/// Calls `f` for `0..n`, on several threads if `n` times `work` is worth it. Consecutive numbers are
/// grouped into tasks of a reasonable size.
pub(crate) fn for_each(n: usize, work: usize, f: &(dyn Fn(usize) + Sync)) {
    for_each_past(n, work, None, f);
}

/// Like [`for_each`], for an `f` that writes by non-temporal stores. They are settled once per task,
/// because settling waits for memory.
fn for_each_past(n: usize, work: usize, past: Option<NonTemporal>, f: &(dyn Fn(usize) + Sync)) {
    let all = |numbers: Range<usize>| {
        numbers.for_each(f);
        if let Some(past) = past {
            past.settle();
        }
    };
    let total = n.saturating_mul(work.max(1));
    if n <= 1 || total < 2 * GRAIN || threads() == 1 {
        all(0..n);
        return;
    }
    let pieces = (total / GRAIN).min(threads() * 8);
    let together = n.div_ceil(pieces);
    each(n.div_ceil(together), &|task| {
        all(task * together..n.min((task + 1) * together));
    });
}

/// Like [`for_each`], for work that allocates memory.
pub(crate) fn try_for_each(
    n: usize,
    work: usize,
    f: &(dyn Fn(usize) -> Result<(), NoMemory> + Sync),
) -> Result<(), NoMemory> {
    try_for_each_past(n, work, None, f)
}

/// Like [`try_for_each`], for an `f` that writes by non-temporal stores.
pub(crate) fn try_for_each_past(
    n: usize,
    work: usize,
    past: Option<NonTemporal>,
    f: &(dyn Fn(usize) -> Result<(), NoMemory> + Sync),
) -> Result<(), NoMemory> {
    let missing = Missing::new();
    for_each_past(n, work, past, &|index| missing.attempt(|| f(index)));
    missing.result()
}

/// Bytes for intermediate values, aligned to 16; small buffers are on the stack.
pub(crate) struct SmallScratch {
    heap: Option<memory::Scratch<MaybeUninit<u128>>>,
    stack: [MaybeUninit<u128>; Self::INLINE],
}

impl SmallScratch {
    const INLINE: usize = 16;

    /// Allocates an uninitialised buffer; its size in bytes is the product of `factors`.
    #[inline]
    pub fn bytes<const N: usize>(factors: [usize; N]) -> Result<Self, NoMemory> {
        let words = product(factors).div_ceil(16);
        let heap = match words {
            0..=Self::INLINE => None,
            _ => Some(memory::Scratch::uninit([words])?),
        };
        Ok(Self {
            heap,
            stack: [MaybeUninit::uninit(); Self::INLINE],
        })
    }

    /// Returns the start of the buffer.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        match &mut self.heap {
            None => self.stack.as_mut_ptr().cast(),
            Some(heap) => heap.as_mut_ptr().cast(),
        }
    }
}
