//! Dividing work among threads.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use crate::config::note_unoptimized;
use crate::memory::NoMemory;

/// The number of elements below which a second thread costs more than it saves.
pub(crate) const GRAIN: usize = 1 << 15;

/// The work in nanoseconds for which an additional thread pays.
const WORTH: u64 = 6_000;

/// Like [`WORTH`], but for a thread that is asleep: waking it takes the caller up to 15,000 ns.
const WAKING: u64 = 45_000;

/// The time in nanoseconds after which an idle thread goes to sleep.
const AWAKE: u64 = 30_000;

/// The time at which work on several threads, or work that would have been worth it, last ended.
static LAST: AtomicU64 = AtomicU64::new(0);

/// Returns the nanoseconds since the first call.
fn now() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The number of elements that are timed.
const TIMED: usize = 512;

/// Fewer elements are always computed by one thread.
pub(crate) const UNTIMED: usize = 8 * TIMED;

/// The most pieces of work per thread.
const PIECES: usize = 4;

/// A multiple of this many elements fills whole cache lines, whatever their size.
const LINE: usize = 64;

/// Pieces of at least this many elements may be made slightly unequal in order to align them.
const LONG: usize = 64 * LINE;

/// Calls `f` on consecutive ranges that cover `0..n`, each about `grain` long or longer unless there is
/// only one. Ranges may run at the same time, and their number depends on the number of threads, so what
/// `f` computes for an index must not depend on where its range starts.
pub(crate) fn split(n: usize, grain: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    let most = n / grain.max(1);
    if most > 1 {
        note_unoptimized();
    }
    if most <= 1 || threads() == 1 {
        f(0..n);
        return;
    }
    // More pieces than threads, so that a thread that starts late or is interrupted leaves some to the
    // others.
    pieces(n, most.min(PIECES * threads()), threads(), f);
}

/// Calls `f` on `pieces` ranges that cover `0..n`, on `threads` threads.
fn pieces(n: usize, pieces: usize, threads: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    // Equal within one element, without overflow; long pieces begin at cache-line boundaries.
    let aligned = if n / pieces >= LONG { LINE - 1 } else { 0 };
    let at = |piece: usize| match piece * (n / pieces) + piece.min(n % pieces) {
        end if end == n => n,
        start => start & !aligned,
    };
    share(pieces, threads, &|piece| f(at(piece)..at(piece + 1)));
}

/// Like [`split`], for `width` elements per index whose cost is unknown, from a tenth of a nanosecond to
/// microseconds. The first elements are timed, and other threads join if the rest is worth it.
pub(crate) fn split_by_time(n: usize, width: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    let width = width.max(1);
    let grain = (GRAIN / width).max(1);
    if n.saturating_mul(width) < UNTIMED || n / grain >= PIECES * threads() || threads() == 1 {
        // Few elements, or enough pieces whatever their cost.
        return split(n, grain, f);
    }
    let first = n.min(TIMED.div_ceil(width));
    let start = now();
    f(0..first);
    let time = (now() - start).saturating_mul(((n - first) / first) as u64);
    // In a run of such calls threads are awake, or worth waking once.
    let awake = start.saturating_sub(LAST.load(Ordering::Relaxed)) < AWAKE;
    let members = time / if awake { WORTH } else { WAKING };
    let members = members.min(threads() as u64) as usize;
    // If the timing was interrupted, it suggests short pieces; they must not become tiny.
    let least = (UNTIMED / 4 / width).max(1);
    let count = ((n - first) / least).min(PIECES * members);
    if members > 1 && count > 1 {
        note_unoptimized();
        return pieces(n - first, count, members, &|range| {
            f(first + range.start..first + range.end);
        });
    }
    f(first..n);
    if time >= 2 * WORTH {
        LAST.store(now(), Ordering::Relaxed);
    }
}

/// Like [`split`], for work that allocates memory.
///
/// # Errors
/// If an allocation fails; the error is that of one of the failed tasks.
pub(crate) fn try_split(
    n: usize,
    grain: usize,
    f: &(dyn Fn(Range<usize>) -> Result<(), NoMemory> + Sync),
) -> Result<(), NoMemory> {
    let missing = Missing::new();
    split(n, grain, &|range| missing.attempt(|| f(range)));
    missing.result()
}

/// Divides `out`, which has rows of `row` elements, into parts and calls `f` with the index of each part's
/// first row and the part.
pub(crate) fn rows<T: Send + Sync>(
    out: &mut [T],
    row: usize,
    f: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    costly_rows(out, row, row, f);
}

/// Like [`rows`], for rows that cost as much as the given number of elements.
pub(crate) fn costly_rows<T: Send + Sync>(
    out: &mut [T],
    row: usize,
    cost: usize,
    f: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    if row == 0 {
        return;
    }
    let ptr = Shared(out.as_mut_ptr().cast());
    split(out.len() / row, (GRAIN / cost.max(1)).max(1), &|range| {
        // SAFETY: ranges are within `out` and do not overlap.
        let part = unsafe {
            let first = ptr.get().cast::<T>().add(range.start * row);
            std::slice::from_raw_parts_mut(first, range.len() * row)
        };
        f(range.start, part);
    });
}

/// The size of an allocation that failed in some task; 0 if none did.
pub(crate) struct Missing(AtomicUsize);

impl Missing {
    pub(crate) const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Does some work unless an allocation has failed before.
    pub(crate) fn attempt(&self, f: impl FnOnce() -> Result<(), NoMemory>) {
        if self.0.load(Ordering::Relaxed) == 0
            && let Err(NoMemory(bytes)) = f()
        {
            self.0.store(bytes.max(1), Ordering::Relaxed);
        }
    }

    pub(crate) fn result(self) -> Result<(), NoMemory> {
        match self.0.into_inner() {
            0 => Ok(()),
            bytes => Err(NoMemory(bytes)),
        }
    }
}

/// Calls `f` on every number below `n`, on several threads if possible.
pub(crate) fn each(n: usize, f: &(dyn Fn(usize) + Sync)) {
    share(n, threads(), f);
}

/// Like [`each`], on `threads` threads.
fn share(n: usize, threads: usize, f: &(dyn Fn(usize) + Sync)) {
    #[cfg(feature = "rayon")]
    if n > 1 && threads > 1 {
        super::work_sharing::work(n, threads, f);
        LAST.store(now(), Ordering::Relaxed);
        return;
    }
    #[cfg(not(feature = "rayon"))]
    let _ = threads;
    (0..n).for_each(f);
}

/// Like [`each`], for work that allocates memory.
///
/// # Errors
/// If an allocation fails; the error is that of one of the failed tasks.
pub(crate) fn try_each(
    n: usize,
    f: &(dyn Fn(usize) -> Result<(), NoMemory> + Sync),
) -> Result<(), NoMemory> {
    if n == 1 {
        return f(0);
    }
    let missing = Missing::new();
    each(n, &|at| missing.attempt(|| f(at)));
    missing.result()
}

/// Returns the number of threads that run at the same time.
pub(crate) fn threads() -> usize {
    #[cfg(feature = "rayon")]
    let threads = rayon::current_num_threads();
    #[cfg(not(feature = "rayon"))]
    let threads = 1;
    threads
}

/// A pointer that tasks on several threads write through, each to different elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared(pub(crate) *mut u8);

// SAFETY: it is only an address; code that writes through it ensures that nobody else does so there.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Returns the address. A method, so that closures capture the wrapper and not the bare pointer.
    pub(crate) fn get(self) -> *mut u8 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn ranges_cover_everything_once() {
        for (n, grain) in [(0, 1), (1, 1), (10, 3), (100, 1), (7, 100), (70_003, 1)] {
            let seen = Mutex::new(vec![0; n]);
            split(n, grain, &|range| {
                range.for_each(|i| seen.lock().unwrap()[i] += 1)
            });
            assert_eq!(*seen.lock().unwrap(), vec![1; n]);
        }
    }

    #[test]
    fn what_is_timed_is_done_once() {
        let slow = |_: &usize| std::hint::black_box(f64::sin(0.5)) > 2.0;
        for (n, width) in [
            (0, 1),
            (1, 1),
            (1, 100_000),
            (3, 2000),
            (700, 7),
            (UNTIMED, 1),
            (40_003, 1),
            (600_000, 1),
        ] {
            let seen = Mutex::new(vec![0; n]);
            split_by_time(n, width, &|range| {
                // Some microseconds of work, so that it is divided into pieces.
                let none = (0..range.len() * width).filter(slow).count();
                range.for_each(|i| seen.lock().unwrap()[i] += 1 + none);
            });
            assert_eq!(*seen.lock().unwrap(), vec![1; n], "{n} of {width}");
        }
    }
}
