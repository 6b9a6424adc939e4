//! The jobs of all axes, driven concurrently: each axis has a queue, and the thread that holds the turn drives all of
//! them.
//!
//! The driver's thread drives jobs while their users compute. A thread that waits for a job drives it itself if the
//! turn is free, so that waiting immediately costs no context switch.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use nomina::Result;
use nomina_mesh::timeout;
use nomina_runtime::Raw;

use crate::agree::JobDescription;
use crate::record::{JobState, Records};
use crate::request::COMPLETED;
use crate::turn::{self, Turn};

/// The time that a thread drives a small job that it starts, before it leaves the job to others.
const SUBMIT_PATIENCE: Duration = Duration::from_micros(200);

/// The time that a waiting thread polls without a pause; then the time that it yields between polls.
const SPINS: Duration = Duration::from_micros(20);
const YIELDS: Duration = Duration::from_millis(20);
/// The pause between polls after that: nothing has happened for a while, so other threads may compute.
const SLEEP: Duration = Duration::from_micros(50);

/// The number of rounds over all axes between checks of the time limit.
const ROUNDS_PER_TIME_CHECK: u32 = 4096;

/// The time that the driver's thread looks for jobs after the last one, and the pause between looks.
const IDLE_POLL_TIME: Duration = Duration::from_millis(10);
const IDLE_POLL_PAUSE: Duration = Duration::from_micros(100);

type JobFuture = Pin<Box<dyn Future<Output = Result<Vec<Raw>>> + Send>>;

/// The destination of a job's result.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    done: AtomicBool,
    result: Mutex<Option<Result<Vec<Raw>>>>,
    changed: Condvar,
}

struct QueuedJob {
    work: JobFuture,
    slot: Arc<Slot>,
    record: u64,
    /// The time at which the job started.
    started: Option<Instant>,
}

/// The queues of all axes. Each runs its first task.
type Queues = Vec<VecDeque<QueuedJob>>;

#[derive(Default)]
struct Inbox {
    tasks: Vec<(usize, QueuedJob)>,
    stops: bool,
    /// Whether the driver's thread sleeps until it is woken.
    sleeps: bool,
}

pub(crate) struct Driver {
    inbox: Mutex<Inbox>,
    /// Notified when there is a job to drive, or the driver stops.
    wake: Condvar,
    /// The number of tasks in the inbox, and of those that are not done.
    new: AtomicUsize,
    open: AtomicUsize,
    queues: Mutex<Queues>,
    records: Mutex<Records>,
}

/// The driver of this process.
static DRIVER: OnceLock<Driver> = OnceLock::new();

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Driver {
    /// Returns the driver of this process; the first call creates it.
    pub(crate) fn start() -> &'static Self {
        DRIVER.get_or_init(|| Self {
            inbox: Mutex::default(),
            wake: Condvar::new(),
            new: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            queues: Mutex::default(),
            records: Mutex::default(),
        })
    }

    /// Adds a queue for an axis, and returns its index.
    pub(crate) fn add_axis(&self) -> usize {
        let mut queues = lock(&self.queues);
        queues.push(VecDeque::new());
        queues.len() - 1
    }

    /// Starts a job of an axis. A `small` job is done immediately if no thread is driving and all ranks are ready.
    pub(crate) fn submit(
        &self,
        axis: usize,
        description: JobDescription,
        small: bool,
        work: impl Future<Output = Result<Vec<Raw>>> + Send + 'static,
    ) -> Arc<Slot> {
        let slot = Arc::new(Slot::default());
        let record = lock(&self.records).add(axis, description);
        let task = QueuedJob {
            work: Box::pin(work),
            slot: slot.clone(),
            record,
            started: None,
        };
        {
            let mut inbox = lock(&self.inbox);
            inbox.tasks.push((axis, task));
            self.open.fetch_add(1, SeqCst);
            self.new.fetch_add(1, SeqCst);
        }
        if small && let Some(turn) = Turn::try_take() {
            self.drive(&turn, Some(SUBMIT_PATIENCE), || slot.done.load(SeqCst));
        }
        self.hand_over();
        slot
    }

    /// Wakes the driver's thread if jobs are left, unless it is awake.
    fn hand_over(&self) {
        if self.open.load(SeqCst) > 0 && std::mem::take(&mut lock(&self.inbox).sleeps) {
            self.wake.notify_one();
        }
    }

    /// Waits for a job, and returns its result.
    pub(crate) fn wait(&self, slot: &Slot) -> Result<Vec<Raw>> {
        let done = || slot.done.load(SeqCst);
        while !done() {
            if let Some(turn) = Turn::try_take() {
                self.drive(&turn, None, done);
                drop(turn);
                self.hand_over();
                break;
            }
            // Another thread is driving, and may stop.
            let result = lock(&slot.result);
            if result.is_none() {
                let waited = slot.changed.wait_timeout(result, Duration::from_millis(1));
                drop(waited);
            }
        }
        lock(&slot.result).take().unwrap_or_else(|| Ok(Vec::new()))
    }

    /// Runs the driver's thread, which drives jobs that no thread waits for. Waiting threads drive jobs themselves,
    /// since a context switch would cost more than a small job.
    pub(crate) fn run(&self) {
        let mut since = Instant::now();
        loop {
            if self.open.load(SeqCst) > 0 {
                if let Some(turn) = Turn::try_take() {
                    self.drive(&turn, None, || self.open.load(SeqCst) == 0);
                }
                since = Instant::now();
            }
            if since.elapsed() < IDLE_POLL_TIME {
                std::thread::sleep(IDLE_POLL_PAUSE);
                continue;
            }
            let mut inbox = lock(&self.inbox);
            inbox.sleeps = true;
            while inbox.sleeps && self.open.load(SeqCst) == 0 {
                if inbox.stops {
                    return;
                }
                inbox = self
                    .wake
                    .wait(inbox)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            inbox.sleeps = false;
            since = Instant::now();
        }
    }

    /// Lets the driver's thread end after all jobs are done.
    pub(crate) fn stop(&self) {
        lock(&self.inbox).stops = true;
        self.wake.notify_all();
    }

    /// Drives all jobs to their end.
    pub(crate) fn drain(&self, turn: &Turn) {
        self.drive(turn, None, || self.open.load(SeqCst) == 0);
    }

    /// Drives all axes until `until` holds, or nothing has happened for `patience`.
    fn drive(&self, _: &Turn, patience: Option<Duration>, until: impl Fn() -> bool) {
        let mut queues = lock(&self.queues);
        let (mut rounds, mut polls) = (0_u32, 0_u32);
        let mut since = None;
        loop {
            turn::end_if_requested();
            rounds = rounds.wrapping_add(1);
            if rounds.is_multiple_of(ROUNDS_PER_TIME_CHECK) {
                // Needed here, too, because other axes may keep this thread busy.
                self.check_time(&queues);
            }
            let before = COMPLETED.load(SeqCst);
            self.step(&mut queues);
            if until() {
                return;
            }
            if COMPLETED.load(SeqCst) != before {
                (polls, since) = (0, None);
                continue;
            }
            polls += 1;
            if !polls.is_multiple_of(16) {
                std::hint::spin_loop();
                continue;
            }
            let idle = since.get_or_insert_with(Instant::now).elapsed();
            if patience.is_some_and(|patience| idle > patience) {
                return;
            }
            if idle > YIELDS {
                std::thread::sleep(SLEEP);
                self.check_time(&queues);
            } else if idle > SPINS {
                std::thread::yield_now();
            }
        }
    }

    /// Advances each axis as far as its messages have arrived.
    fn step(&self, queues: &mut Queues) {
        if self.new.load(SeqCst) > 0 {
            let mut inbox = lock(&self.inbox);
            self.new.store(0, SeqCst);
            for (axis, task) in inbox.tasks.drain(..) {
                queues[axis].push_back(task);
            }
        }
        let mut context = Context::from_waker(Waker::noop());
        for queue in queues {
            while let Some(task) = queue.front_mut() {
                if task.started.is_none() {
                    task.started = Some(Instant::now());
                    lock(&self.records).change(task.record, JobState::Runs);
                }
                let Poll::Ready(result) = task.work.as_mut().poll(&mut context) else {
                    break;
                };
                let state = if result.is_ok() {
                    JobState::Done
                } else {
                    JobState::Failed
                };
                lock(&self.records).change(task.record, state);
                COMPLETED.fetch_add(1, SeqCst);
                let slot = task.slot.clone();
                // The job's resources are released before others see that it is done.
                queue.pop_front();
                *lock(&slot.result) = Some(result);
                slot.done.store(true, SeqCst);
                self.open.fetch_sub(1, SeqCst);
                slot.changed.notify_all();
            }
        }
    }

    /// Ends the program if a job runs for too long.
    fn check_time(&self, queues: &Queues) {
        let limit = Duration::from_secs(timeout());
        let late = |task: &QueuedJob| {
            task.started
                .is_some_and(|started| started.elapsed() > limit)
        };
        let Some(task) = queues
            .iter()
            .filter_map(VecDeque::front)
            .find(|task| late(task))
        else {
            return;
        };
        let records = lock(&self.records);
        let what = format!(
            "job {} did not end within {} s (NOMINA_MESH_TIMEOUT): another rank is late, gone, or makes other calls; \
             the last jobs of this rank:\n{records}",
            task.record,
            limit.as_secs()
        );
        turn::fail(&what);
    }
}
