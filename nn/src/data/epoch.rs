//! The batches of an epoch, and the threads that load them.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::FusedIterator;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use nomina::{Error, Result};

use super::source::{Order, Source};

/// The batches of an epoch: their items, in order.
pub(super) struct Plan<B> {
    pub(super) source: Arc<dyn Source<B>>,
    pub(super) order: Vec<usize>,
    pub(super) batch_size: usize,
    pub(super) batches: usize,
    pub(super) epoch: u64,
    pub(super) seed: u64,
}

impl<B> Plan<B> {
    /// Loads a batch; `None` if it was cancelled.
    fn load(&self, batch: usize, is_cancelled: &dyn Fn() -> bool) -> Option<Result<B>> {
        let start = batch * self.batch_size;
        let end = self.order.len().min(start + self.batch_size);
        let order = Order {
            epoch: self.epoch,
            batch,
            indices: &self.order[start..end],
            seed: self.seed,
            is_cancelled,
        };
        // Functions that read are guarded one by one; here, their items may still panic when dropped.
        order
            .guarded(None, || Ok(self.source.load(&order)))
            .unwrap_or_else(|error| Some(Err(error)))
    }
}

/// A position in training: the next batch to load. Save it in a checkpoint to resume with
/// [`resume`](super::Loader::resume).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The epoch.
    pub epoch: u64,
    /// The number of the batch in the epoch.
    pub batch: usize,
}

/// An iterator of the batches of an epoch, from [`Loader::epoch`](super::Loader::epoch).
pub struct Epoch<B> {
    plan: Arc<Plan<B>>,
    /// The error of the sampler.
    error: Option<Error>,
    next: usize,
    workers: Option<Workers<B>>,
}

impl<B> fmt::Debug for Epoch<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Epoch")
            .field("position", &self.position())
            .field("batches", &self.plan.batches)
            .finish_non_exhaustive()
    }
}

impl<B> Epoch<B> {
    /// Returns the position of the next batch; after the last one, that is the number of batches.
    #[must_use]
    pub fn position(&self) -> Position {
        Position {
            epoch: self.plan.epoch,
            batch: self.next,
        }
    }
}

impl<B: Send + 'static> Epoch<B> {
    pub(super) fn start(
        plan: Plan<B>,
        next: usize,
        error: Option<Error>,
        workers: usize,
        prefetch: usize,
    ) -> Self {
        let plan = Arc::new(plan);
        let next = next.min(plan.batches);
        let workers = workers.min(plan.batches - next);
        let workers = Workers::start(&plan, next, workers, prefetch);
        Self {
            plan,
            error,
            next,
            workers,
        }
    }
}

impl<B> Iterator for Epoch<B> {
    type Item = Result<B>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.error.take() {
            return Some(Err(error));
        }
        if self.next == self.plan.batches {
            self.workers = None;
            return None;
        }
        let batch = self.next;
        self.next += 1;
        match &self.workers {
            Some(workers) => Some(workers.shared.take(batch)),
            None => self.plan.load(batch, &|| false),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.plan.batches - self.next + usize::from(self.error.is_some());
        (left, Some(left))
    }
}

impl<B> ExactSizeIterator for Epoch<B> {}
impl<B> FusedIterator for Epoch<B> {}

/// Threads that load batches ahead.
struct Workers<B> {
    shared: Arc<Shared<B>>,
    threads: Vec<JoinHandle<()>>,
}

/// The state that the threads and the iterator share.
struct Shared<B> {
    queue: Mutex<Queue<B>>,
    /// Signals that a batch is loaded.
    loaded: Condvar,
    /// Signals that a batch was taken, or that the threads are to stop.
    taken: Condvar,
    stopped: AtomicBool,
}

struct Queue<B> {
    /// The next batch that no thread has started.
    unstarted: usize,
    /// Threads start batches below this number only.
    limit: usize,
    done: BTreeMap<usize, Result<B>>,
}

impl<B> Shared<B> {
    // No code of the user runs under the lock, so a poisoned queue is consistent.
    fn lock(&self) -> MutexGuard<'_, Queue<B>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Waits for a batch, and lets the threads start another one.
    fn take(&self, batch: usize) -> Result<B> {
        let mut queue = self.lock();
        loop {
            if let Some(found) = queue.done.remove(&batch) {
                queue.limit += 1;
                self.taken.notify_one();
                return found;
            }
            let waited = self.loaded.wait(queue);
            queue = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until a batch may be started; `None` if there are no more.
    fn next_batch(&self, batches: usize) -> Option<usize> {
        let mut queue = self.lock();
        loop {
            if self.is_stopped() || queue.unstarted == batches {
                return None;
            }
            if queue.unstarted < queue.limit {
                queue.unstarted += 1;
                return Some(queue.unstarted - 1);
            }
            let waited = self.taken.wait(queue);
            queue = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Loads batches until there are no more.
    fn run(&self, plan: &Plan<B>) {
        while let Some(batch) = self.next_batch(plan.batches) {
            let Some(found) = plan.load(batch, &|| self.is_stopped()) else {
                return;
            };
            self.lock().done.insert(batch, found);
            self.loaded.notify_all();
        }
        // Threads that wait for room for the last batches.
        self.taken.notify_all();
    }
}

impl<B: Send + 'static> Workers<B> {
    /// Starts threads; `None` if none is wanted or can be started, so that the calling thread loads.
    fn start(plan: &Arc<Plan<B>>, from: usize, workers: usize, prefetch: usize) -> Option<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue {
                unstarted: from,
                limit: from.saturating_add(prefetch.max(1)),
                done: BTreeMap::new(),
            }),
            loaded: Condvar::new(),
            taken: Condvar::new(),
            stopped: AtomicBool::new(false),
        });
        let mut threads = Vec::with_capacity(workers);
        for number in 0..workers {
            let (plan, shared) = (Arc::clone(plan), Arc::clone(&shared));
            let thread = Builder::new().name(format!("loader {number}"));
            match thread.spawn(move || shared.run(&plan)) {
                Ok(thread) => threads.push(thread),
                // Fewer threads give the same batches.
                Err(_) => break,
            }
        }
        (!threads.is_empty()).then_some(Self { shared, threads })
    }
}

impl<B> Drop for Workers<B> {
    fn drop(&mut self) {
        {
            // Under the lock: a thread that is about to wait has seen the flag or will be woken.
            let _queue = self.shared.lock();
            self.shared.stopped.store(true, Ordering::Relaxed);
        }
        self.shared.taken.notify_all();
        for thread in self.threads.drain(..) {
            // The functions of the user are guarded, so no thread panics.
            let _ = thread.join();
        }
    }
}
