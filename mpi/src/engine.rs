//! Jobs of all axes, side by side: each axis has a queue, and whoever has the turn drives them all.
//!
//! A thread of the engine's own drives them while their users compute. Who waits for a job drives them
//! himself when the turn is free, so that a job that is waited for at once costs no change of thread.

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

use crate::agree::Word;
use crate::record::{Records, State};
use crate::request::DONE;
use crate::turn::{self, Turn};

/// How long a small job is driven by who starts it, before he goes on and others drive it.
const PATIENCE: Duration = Duration::from_micros(200);

/// How long a thread that waits asks without a pause; then how long it lets others run in between.
const SPINS: Duration = Duration::from_micros(20);
const YIELDS: Duration = Duration::from_millis(20);
/// Then it sleeps so long in between: nothing happened for a while, and others may compute.
const SLEEP: Duration = Duration::from_micros(50);

/// How many rounds of all axes pass between two looks at the time.
const LOOKS: u32 = 4096;

/// How long the engine's thread looks for jobs after the last one, and how often.
const AWAKE: Duration = Duration::from_millis(10);
const NAP: Duration = Duration::from_micros(100);

type Work = Pin<Box<dyn Future<Output = Result<Vec<Raw>>> + Send>>;

/// Where a job's result is put.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    done: AtomicBool,
    result: Mutex<Option<Result<Vec<Raw>>>>,
    changed: Condvar,
}

struct Task {
    work: Work,
    slot: Arc<Slot>,
    record: u64,
    /// Since when it runs.
    started: Option<Instant>,
}

/// The queues of all axes, of which each runs its first task.
type Queues = Vec<VecDeque<Task>>;

#[derive(Default)]
struct Inbox {
    tasks: Vec<(usize, Task)>,
    stops: bool,
    /// The engine's thread sleeps until it is told.
    sleeps: bool,
}

pub(crate) struct Engine {
    inbox: Mutex<Inbox>,
    /// Told when there is something to drive, or the engine stops.
    wake: Condvar,
    /// Tasks in the inbox, and those that are not done.
    new: AtomicUsize,
    open: AtomicUsize,
    queues: Mutex<Queues>,
    records: Mutex<Records>,
}

/// The engine of this process.
static ENGINE: OnceLock<Engine> = OnceLock::new();

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// The engine of this process, made by the first call.
    pub(crate) fn start() -> &'static Self {
        ENGINE.get_or_init(|| Self {
            inbox: Mutex::default(),
            wake: Condvar::new(),
            new: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            queues: Mutex::default(),
            records: Mutex::default(),
        })
    }

    /// A queue for one axis more.
    pub(crate) fn add_axis(&self) -> usize {
        let mut queues = lock(&self.queues);
        queues.push(VecDeque::new());
        queues.len() - 1
    }

    /// Starts a job of an axis. One that is `small` is done at once where nobody drives and all ranks are there.
    pub(crate) fn submit(
        &self,
        axis: usize,
        word: Word,
        small: bool,
        work: impl Future<Output = Result<Vec<Raw>>> + Send + 'static,
    ) -> Arc<Slot> {
        let slot = Arc::new(Slot::default());
        let record = lock(&self.records).add(axis, word);
        let task = Task {
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
            self.drive(&turn, Some(PATIENCE), || slot.done.load(SeqCst));
        }
        self.hand_over();
        slot
    }

    /// Wakes the engine's thread where something is left to drive, unless it looks by itself before long.
    fn hand_over(&self) {
        if self.open.load(SeqCst) > 0 && std::mem::take(&mut lock(&self.inbox).sleeps) {
            self.wake.notify_one();
        }
    }

    /// Waits for a job and gives its result.
    pub(crate) fn wait(&self, slot: &Slot) -> Result<Vec<Raw>> {
        let done = || slot.done.load(SeqCst);
        while !done() {
            if let Some(turn) = Turn::try_take() {
                self.drive(&turn, None, done);
                drop(turn);
                self.hand_over();
                break;
            }
            // Another thread drives, and may stop to.
            let result = lock(&slot.result);
            if result.is_none() {
                let waited = slot.changed.wait_timeout(result, Duration::from_millis(1));
                drop(waited);
            }
        }
        lock(&slot.result).take().unwrap_or_else(|| Ok(Vec::new()))
    }

    /// What the engine's thread does: it drives what nobody waits for. Who waits drives himself and is let alone, since
    /// a change of threads would cost more than a small job.
    pub(crate) fn run(&self) {
        let mut since = Instant::now();
        loop {
            if self.open.load(SeqCst) > 0 {
                if let Some(turn) = Turn::try_take() {
                    self.drive(&turn, None, || self.open.load(SeqCst) == 0);
                }
                since = Instant::now();
            }
            if since.elapsed() < AWAKE {
                std::thread::sleep(NAP);
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

    /// Lets the engine's thread end when all jobs are done.
    pub(crate) fn stop(&self) {
        lock(&self.inbox).stops = true;
        self.wake.notify_all();
    }

    /// Drives all jobs to their end.
    pub(crate) fn drain(&self, turn: &Turn) {
        self.drive(turn, None, || self.open.load(SeqCst) == 0);
    }

    /// Drives all axes until something holds, or nothing happened for so long.
    fn drive(&self, _: &Turn, patience: Option<Duration>, until: impl Fn() -> bool) {
        let mut queues = lock(&self.queues);
        let (mut rounds, mut polls) = (0_u32, 0_u32);
        let mut since = None;
        loop {
            turn::look();
            rounds = rounds.wrapping_add(1);
            if rounds.is_multiple_of(LOOKS) {
                // Also where other axes go on.
                self.check_time(&queues);
            }
            let before = DONE.load(SeqCst);
            self.step(&mut queues);
            if until() {
                return;
            }
            if DONE.load(SeqCst) != before {
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

    /// Goes on with each axis as far as messages have come.
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
                    lock(&self.records).change(task.record, State::Runs);
                }
                let Poll::Ready(result) = task.work.as_mut().poll(&mut context) else {
                    break;
                };
                let state = if result.is_ok() {
                    State::Done
                } else {
                    State::Failed
                };
                lock(&self.records).change(task.record, state);
                DONE.fetch_add(1, SeqCst);
                let slot = task.slot.clone();
                // What the job held goes before others know that it is done.
                queue.pop_front();
                *lock(&slot.result) = Some(result);
                slot.done.store(true, SeqCst);
                self.open.fetch_sub(1, SeqCst);
                slot.changed.notify_all();
            }
        }
    }

    /// Ends the program where a job runs for too long.
    fn check_time(&self, queues: &Queues) {
        let limit = Duration::from_secs(timeout());
        let late = |task: &Task| {
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
            "job {} did not end within {} s (NOMINA_MESH_TIMEOUT): another rank is late, gone, or does something \
             else; the last jobs of this rank:\n{records}",
            task.record,
            limit.as_secs()
        );
        turn::fail(&what);
    }
}
