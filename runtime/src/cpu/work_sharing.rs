//! Work sharing between the calling thread and the thread pool.
//!
//! The caller starts immediately and asks pool threads to help. Once every item is taken it waits only for
//! helpers that have started; threads that are asleep or busy would find nothing left to do. A second
//! thread therefore never costs its wake-up time, and a thread that the system interrupts leaves its
//! remaining items to the others.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::SmallVec;

/// One call's work: `each(i)` for every item `i`.
struct Work<'a> {
    each: &'a (dyn Fn(usize) + Sync),
    /// One share per member.
    shares: SmallVec<[Share; 4]>,
}

/// A contiguous range of items. Its owner takes items from the front; members that finish early take the
/// rest. Each share has two cache lines of its own, because processors fetch lines in pairs: members that write to
/// the same pair would delay each other at every item.
#[repr(align(128))]
struct Share {
    next: AtomicUsize,
    end: usize,
}

impl Work<'_> {
    fn new(n: usize, members: usize, each: &(dyn Fn(usize) + Sync)) -> Work<'_> {
        let at = |share: usize| share * (n / members) + share.min(n % members);
        let share = |share: usize| Share {
            next: AtomicUsize::new(at(share)),
            end: at(share + 1),
        };
        Work {
            each,
            shares: (0..members).map(share).collect(),
        }
    }

    /// Takes items until none are left, beginning with the member's own share.
    fn join(&self, member: usize) {
        let members = self.shares.len();
        for share in (member..members).chain(0..member) {
            let share = &self.shares[share];
            loop {
                let number = share.next.fetch_add(1, Ordering::Relaxed);
                if number >= share.end {
                    break;
                }
                (self.each)(number);
            }
        }
    }
}

/// Flag: no further member may enter.
const CLOSED: usize = 1 << (usize::BITS - 1);
/// Flag: the caller sleeps until the last member has left.
const ASLEEP: usize = CLOSED >> 1;
/// Spin iterations before the caller sleeps; one takes tens of nanoseconds.
const SPIN_LIMIT: usize = 2000;

/// A gate that admits pool threads to a call. Reference-counted, because a thread may arrive after the call
/// has returned.
struct Door {
    /// The number of members inside, plus the flags above.
    inside: AtomicUsize,
    /// The number of members that ever entered; each takes it as its index.
    came: AtomicUsize,
    /// The work; valid until the door is closed and the last member has left.
    work: *const Work<'static>,
    asleep: Mutex<()>,
    empty: Condvar,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `work` is only dereferenced by members inside, while the caller keeps it alive; it may be shared.
unsafe impl Send for Door {}
// SAFETY: as above.
unsafe impl Sync for Door {}

impl Door {
    /// Helps with the work unless the door is closed.
    fn enter(&self) {
        if self.inside.fetch_add(1, Ordering::Acquire) & CLOSED == 0 {
            let member = 1 + self.came.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the caller does not return before this thread has left.
            let work = unsafe { &*self.work };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work.join(member))) {
                let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
                match &*first {
                    None => *first = Some(panic),
                    // Leaked: dropping it may panic, and the caller would then wait for this thread
                    // forever.
                    Some(_) => std::mem::forget(panic),
                }
            }
        }
        if self.inside.fetch_sub(1, Ordering::Release) == 1 | CLOSED | ASLEEP {
            let _held = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
            self.empty.notify_one();
        }
    }

    /// Closes the door and waits until all members have left.
    fn close(&self) {
        let inside = |flags: usize| flags & !(CLOSED | ASLEEP);
        let mut now = self.inside.fetch_or(CLOSED, Ordering::Acquire);
        for _ in 0..SPIN_LIMIT {
            if inside(now) == 0 {
                return;
            }
            std::hint::spin_loop();
            now = self.inside.load(Ordering::Acquire);
        }
        let mut held = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        now = self.inside.fetch_or(ASLEEP, Ordering::Acquire);
        while inside(now) != 0 {
            let woken = self.empty.wait(held);
            held = woken.unwrap_or_else(PoisonError::into_inner);
            now = self.inside.load(Ordering::Acquire);
        }
    }
}

/// Calls `each` on every number below `n`, on up to `members` threads including the caller.
pub(super) fn work(n: usize, members: usize, each: &(dyn Fn(usize) + Sync)) {
    /// A guard that closes the door, even if the caller's own share panics.
    struct Closing<'a>(&'a Door);

    impl Drop for Closing<'_> {
        fn drop(&mut self) {
            self.0.close();
        }
    }

    let work = Work::new(n, members.min(n), each);
    let door = Arc::new(Door {
        inside: AtomicUsize::new(0),
        came: AtomicUsize::new(0),
        work: (&raw const work).cast(),
        asleep: Mutex::new(()),
        empty: Condvar::new(),
        panic: Mutex::new(None),
    });
    {
        let _closing = Closing(&door);
        for _ in 1..work.shares.len() {
            let door = Arc::clone(&door);
            rayon::spawn(move || door.enter());
        }
        work.join(0);
    }
    let panic = door
        .panic
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    fn pool(threads: usize) -> rayon::ThreadPool {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        builder.build().unwrap()
    }

    #[test]
    fn every_number_once() {
        let (outer, inner) = if cfg!(miri) { (2, 20) } else { (40, 500) };
        for threads in [1, 2, 4] {
            pool(threads).install(|| {
                for n in [1, 2, 3, 17, inner] {
                    for members in 1..6 {
                        let seen: Vec<_> = (0..n).map(|_| AtomicUsize::new(0)).collect();
                        work(n, members, &|i| {
                            seen[i].fetch_add(1, Ordering::Relaxed);
                        });
                        assert!(seen.iter().all(|seen| seen.load(Ordering::Relaxed) == 1));
                    }
                }
                // Nested work.
                let sum = AtomicUsize::new(0);
                work(outer, 4, &|_| {
                    work(inner, 3, &|i| {
                        sum.fetch_add(i, Ordering::Relaxed);
                    });
                });
                assert_eq!(sum.into_inner(), outer * inner * (inner - 1) / 2);
            });
        }
    }

    #[test]
    fn nobody_is_inside_after_the_call() {
        // Slow members: the caller falls asleep and is woken.
        let pool = pool(3);
        for _ in 0..3 {
            let busy = AtomicUsize::new(0);
            pool.install(|| {
                work(6, 3, &|_| {
                    busy.fetch_add(1, Ordering::SeqCst);
                    sleep(Duration::from_millis(if cfg!(miri) { 1 } else { 20 }));
                    busy.fetch_sub(1, Ordering::SeqCst);
                });
            });
            assert_eq!(busy.into_inner(), 0);
        }
    }

    #[test]
    fn a_busy_pool_is_not_waited_for() {
        let pool = pool(2);
        let (free, done) = (AtomicBool::new(false), AtomicUsize::new(0));
        pool.scope(|scope| {
            let started = Arc::new(AtomicBool::new(false));
            let begun = Arc::clone(&started);
            let free = &free;
            // Occupies one of two threads until the call below has returned on the other.
            scope.spawn(move |_| {
                begun.store(true, Ordering::Release);
                while !free.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
            });
            while !started.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            work(5, 2, &|_| {
                done.fetch_add(1, Ordering::Relaxed);
            });
            free.store(true, Ordering::Release);
        });
        assert_eq!(done.into_inner(), 5);
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let pool = pool(2);
        for bad in 0..4 {
            let panic = catch_unwind(AssertUnwindSafe(|| {
                pool.install(|| {
                    work(4, 2, &|i| {
                        sleep(Duration::from_millis(1));
                        assert!(i != bad, "number {i}");
                    });
                });
            }));
            let text = *panic.unwrap_err().downcast::<String>().unwrap();
            assert!(text.contains(&format!("number {bad}")), "{text}");
        }
    }
}
