//! Work sharing among threads, the caller among them.
//!
//! The caller starts at once and asks threads of the pool to join in. At the end it waits for those
//! who came, and for no one who still sleeps or is busy elsewhere: what they would have done is
//! done by then. So a second thread never makes work slower by the time it takes to wake up, and a
//! thread that the system interrupts leaves its share to the others.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::SmallVec;

/// The work of a call, by numbers.
struct Work<'a> {
    each: &'a (dyn Fn(usize) + Sync),
    /// As many shares as members.
    shares: SmallVec<[Share; 4]>,
}

/// Consecutive numbers that one member begins with, and others continue when they have done theirs.
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

    /// Works until every number is taken, from the member's own share on.
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

/// No one may come in any more.
const CLOSED: usize = 1 << (usize::BITS - 1);
/// The caller sleeps until the last one has left.
const ASLEEP: usize = CLOSED >> 1;
/// How often the caller looks before it falls asleep; a look takes some tens of nanoseconds.
const LOOKS: usize = 2000;

/// Where members of the pool come in. It outlives the call, since they may come late.
struct Door {
    /// How many are inside, and the two flags above.
    inside: AtomicUsize,
    /// How many have come.
    came: AtomicUsize,
    /// The work, as long as the door is not closed or someone is inside.
    work: *const Work<'static>,
    asleep: Mutex<()>,
    empty: Condvar,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `work` is only followed by those inside, while the caller keeps it; it may be shared.
unsafe impl Send for Door {}
// SAFETY: as above.
unsafe impl Sync for Door {}

impl Door {
    /// Joins in, unless it is too late.
    fn enter(&self) {
        if self.inside.fetch_add(1, Ordering::Acquire) & CLOSED == 0 {
            let member = 1 + self.came.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the caller does not return before this thread has left.
            let work = unsafe { &*self.work };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work.join(member))) {
                let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
                match &*first {
                    None => *first = Some(panic),
                    // Never dropped: its drop may panic, and the caller would wait for this thread forever.
                    Some(_) => std::mem::forget(panic),
                }
            }
        }
        if self.inside.fetch_sub(1, Ordering::Release) == 1 | CLOSED | ASLEEP {
            let _held = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
            self.empty.notify_one();
        }
    }

    /// Lets no one in and waits until all have left.
    fn close(&self) {
        let inside = |flags: usize| flags & !(CLOSED | ASLEEP);
        let mut now = self.inside.fetch_or(CLOSED, Ordering::Acquire);
        for _ in 0..LOOKS {
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

/// Calls `each` on every number below `n`, on up to `members` threads of which the caller is one.
pub(super) fn work(n: usize, members: usize, each: &(dyn Fn(usize) + Sync)) {
    /// Closes the door also when the caller's own share panics.
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
                // Work within work.
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
        // Members that are slow: the caller falls asleep, and is woken.
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
            // Holds one of two threads until the call below has returned on the other.
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
