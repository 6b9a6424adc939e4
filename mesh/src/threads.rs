//! The thread mesh: runs a program on one thread for each rank of a mesh. Ranks share tensors without copying them.
//!
//! It takes the same steps as an engine of processes; a tensor that a rank takes from another counts as sent by that
//! rank.

use std::any::Any;
use std::collections::HashMap;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nomina::{DynTensor, Error, ErrorKind, Names, Result};
use nomina_core::mesh::{Combine, Placement};
use nomina_runtime::Raw;

use crate::mesh::Mesh;
use crate::partition::part;
use crate::ranks::{Job, Ranks, Ticket, timeout};

/// The meeting point of the ranks of one axis.
#[derive(Debug)]
struct Hub {
    size: usize,
    rounds: Mutex<Rounds>,
    changed: Condvar,
    /// The bytes that others took from each rank.
    sent: Vec<AtomicU64>,
}

#[derive(Debug, Default)]
struct Rounds {
    open: HashMap<u64, Round>,
    /// The reason why no further round will complete.
    ended: Option<Error>,
    /// The ranks whose program has returned.
    returned: Vec<usize>,
}

#[derive(Debug)]
struct Round {
    kinds: Vec<&'static str>,
    given: Vec<Option<Arc<Vec<Raw>>>>,
    taken: usize,
}

impl Hub {
    fn new(size: usize) -> Self {
        Self {
            size,
            rounds: Mutex::default(),
            changed: Condvar::new(),
            sent: (0..size).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Rounds> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, error: &Error) {
        self.lock().ended.get_or_insert_with(|| error.clone());
        self.changed.notify_all();
    }

    /// Marks a rank's program as returned: ranks that wait for it get an error.
    fn leave(&self, rank: usize) {
        self.lock().returned.push(rank);
        self.changed.notify_all();
    }

    fn give(&self, rank: usize, round: u64, kind: &'static str, pieces: Vec<Raw>) {
        let mut rounds = self.lock();
        let round = rounds.open.entry(round).or_insert_with(|| Round {
            kinds: vec![""; self.size],
            given: vec![None; self.size],
            taken: 0,
        });
        round.kinds[rank] = kind;
        round.given[rank] = Some(Arc::new(pieces));
        self.changed.notify_all();
    }

    /// Waits for a round, and returns all ranks' pieces.
    fn take(&self, number: u64) -> Result<Vec<Arc<Vec<Raw>>>> {
        let mut rounds = self.lock();
        let limit = Duration::from_secs(timeout());
        loop {
            if let Some(round) = rounds.open.get_mut(&number)
                && round.given.iter().all(Option::is_some)
            {
                let (kinds, given) = (round.kinds.clone(), round.given.iter().flatten().cloned());
                let given = given.collect();
                round.taken += 1;
                if round.taken == self.size {
                    rounds.open.remove(&number);
                }
                if let Some(other) = kinds.iter().position(|kind| *kind != kinds[0]) {
                    let what = format!("rank 0 does {}, rank {other} {}", kinds[0], kinds[other]);
                    return Err(Error::new(ErrorKind::Mesh, "mesh", what));
                }
                return Ok(given);
            }
            if let Some(error) = &rounds.ended {
                return Err(error.clone());
            }
            let missing = |rank: &&usize| {
                let round = rounds.open.get(&number);
                round.is_some_and(|round| round.given[**rank].is_none())
            };
            if let Some(rank) = rounds.returned.iter().find(missing) {
                let what =
                    format!("the program of rank {rank} has ended, and the others wait for it");
                return Err(Error::new(ErrorKind::Mesh, "mesh", what)
                    .hint("all ranks must make the same calls, whatever their data"));
            }
            let waited = self.changed.wait_timeout(rounds, limit);
            let (again, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            rounds = again;
            if waited.timed_out() && rounds.ended.is_none() {
                let missing = rounds
                    .open
                    .get(&number)
                    .and_then(|round| round.given.iter().position(Option::is_none));
                let what = match missing {
                    Some(rank) => format!("rank {rank} did not arrive in {} s", limit.as_secs()),
                    None => format!("no rank arrived in {} s", limit.as_secs()),
                };
                return Err(Error::new(ErrorKind::Mesh, "mesh", what)
                    .hint("all ranks make the same calls; `NOMINA_MESH_TIMEOUT` sets the limit"));
            }
        }
    }
}

/// A rank of an axis.
#[derive(Debug)]
struct Thread {
    rank: usize,
    hub: Arc<Hub>,
    next: AtomicU64,
}

/// The second half of a job, which runs once all ranks have given their pieces.
struct PendingJob {
    rank: usize,
    hub: Arc<Hub>,
    round: u64,
}

impl PendingJob {
    /// Counts a piece of rank `from` as sent by it, and returns it.
    fn count_sent(&self, from: usize, piece: Raw) -> Raw {
        if from != self.rank {
            let bytes = piece.numel().saturating_mul(piece.dtype().size()) as u64;
            self.hub.sent[from].fetch_add(bytes, Ordering::Relaxed);
        }
        piece
    }

    fn wait_for_round(&self, later: u64) -> Result<Vec<Arc<Vec<Raw>>>> {
        self.hub.take(self.round + later)
    }

    /// Returns one piece of each rank.
    fn each_piece(&self, pick: impl Fn(&[Raw]) -> Option<Raw>) -> Result<Vec<Raw>> {
        let all = self.wait_for_round(0)?;
        let each = all
            .iter()
            .enumerate()
            .map(|(from, pieces)| match pick(pieces) {
                Some(piece) => Ok(self.count_sent(from, piece)),
                None => Err(Error::new(
                    ErrorKind::Mesh,
                    "mesh",
                    format!("rank {from} sent too few pieces"),
                )),
            });
        each.collect()
    }
}

impl Thread {
    /// Reserves the numbers of two rounds.
    fn start_job(&self) -> PendingJob {
        PendingJob {
            rank: self.rank,
            hub: Arc::clone(&self.hub),
            round: self.next.fetch_add(2, Ordering::Relaxed),
        }
    }

    fn give(&self, pending: &PendingJob, kind: &'static str, pieces: Vec<Raw>) {
        self.hub.give(self.rank, pending.round, kind, pieces);
    }
}

/// Flattens a tensor.
pub(crate) fn flatten(raw: &Raw) -> Result<Raw> {
    raw.reshape(&[raw.numel()])
}

pub(crate) fn unnamed(raw: Raw) -> Result<DynTensor> {
    let names = Names::unnamed(raw.rank());
    DynTensor::from_parts(raw.detach(), names)
}

/// Returns the combination of pieces, in their order.
pub(crate) fn combine_pieces(pieces: &[Raw], combine: Combine) -> Result<Raw> {
    let Some((first, others)) = pieces.split_first() else {
        return Err(Error::new(ErrorKind::Mesh, "mesh", "nothing to combine"));
    };
    let mut all = unnamed(first.clone())?;
    for other in others {
        let other = unnamed(other.clone())?;
        all = match combine {
            Combine::Add => all.add(&other)?,
            Combine::Mul => all.mul(&other)?,
            Combine::Max => all.maximum(&other)?,
            Combine::Min => all.minimum(&other)?,
            Combine::Any => all.logical_or(&other)?,
            Combine::All => all.logical_and(&other)?,
        };
    }
    Ok(all.into_parts().0)
}

impl Ranks for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.hub.size
    }

    fn start(&self, job: Job) -> Result<Ticket> {
        let (rank, size, kind) = (self.rank, self.hub.size, job.name());
        let pending = self.start_job();
        Ok(match job {
            Job::AllReduce { piece, combine } => {
                let (shape, count) = (piece.shape().to_vec(), piece.numel());
                self.give(&pending, kind, vec![flatten(&piece)?]);
                Ticket::new(move || {
                    // Each rank combines one part of the elements; the combined parts are all-gathered.
                    let (start, len) = part(count, size, rank);
                    let parts = pending.each_piece(|all| all[0].narrow(0, start, len).ok())?;
                    let own = combine_pieces(&parts, combine)?;
                    pending.hub.give(rank, pending.round + 1, kind, vec![own]);
                    let all = pending.wait_for_round(1)?;
                    let each = all.iter().enumerate();
                    let each = each.map(|(from, own)| pending.count_sent(from, own[0].clone()));
                    let each: Vec<DynTensor> = each.map(unnamed).collect::<Result<_>>()?;
                    let whole = DynTensor::cat(&each.iter().collect::<Vec<_>>(), 0)?;
                    Ok(vec![whole.into_parts().0.reshape(&shape)?])
                })
            }
            Job::ReduceScatter { pieces, combine } => {
                self.give(&pending, kind, pieces);
                Ticket::new(move || {
                    let parts = pending.each_piece(|all| all.get(rank).cloned())?;
                    Ok(vec![combine_pieces(&parts, combine)?])
                })
            }
            Job::AllGather { piece, .. } => {
                self.give(&pending, kind, vec![piece]);
                Ticket::new(move || pending.each_piece(|all| all.first().cloned()))
            }
            Job::AllToAll { pieces, .. } => {
                self.give(&pending, kind, pieces);
                Ticket::new(move || pending.each_piece(|all| all.get(rank).cloned()))
            }
            Job::Shift { piece, by, .. } => {
                self.give(&pending, kind, vec![piece]);
                Ticket::new(move || {
                    let from = (rank as isize - by).rem_euclid(size as isize) as usize;
                    let all = pending.wait_for_round(0)?;
                    Ok(vec![pending.count_sent(from, all[from][0].clone())])
                })
            }
            Job::Broadcast { piece, root } => {
                self.give(&pending, kind, vec![piece]);
                Ticket::new(move || {
                    let all = pending.wait_for_round(0)?;
                    Ok(vec![pending.count_sent(root, all[root][0].clone())])
                })
            }
            Job::Scan { piece, combine } => {
                self.give(&pending, kind, vec![piece]);
                Ticket::new(move || {
                    let all = pending.wait_for_round(0)?;
                    let before: Vec<Raw> = (0..rank)
                        .map(|from| pending.count_sent(from, all[from][0].clone()))
                        .collect();
                    if before.is_empty() {
                        return Ok(Vec::new());
                    }
                    Ok(vec![combine_pieces(&before, combine)?])
                })
            }
            Job::Barrier => {
                self.give(&pending, kind, Vec::new());
                Ticket::new(move || pending.wait_for_round(0).map(|_| Vec::new()))
            }
        })
    }

    fn sent(&self) -> u64 {
        self.hub.sent[self.rank].load(Ordering::Relaxed)
    }

    fn abort(&self, code: i32) -> ! {
        std::process::exit(code)
    }
}

/// Creates the ranks of a mesh of threads: for each rank its handle along every axis.
fn create_ranks(sizes: &[usize]) -> (Vec<Vec<Arc<Thread>>>, Vec<Arc<Hub>>) {
    let count: usize = sizes.iter().product();
    let place = |rank: usize, axis: usize| {
        let inner: usize = sizes[axis + 1..].iter().product();
        rank / inner % sizes[axis]
    };
    // Ranks that differ only along one axis share a hub.
    let mut hubs: HashMap<(usize, Vec<usize>), Arc<Hub>> = HashMap::new();
    let all = (0..count).map(|rank| {
        let axes = (0..sizes.len()).map(|axis| {
            let mut others: Vec<usize> = (0..sizes.len()).map(|axis| place(rank, axis)).collect();
            others[axis] = 0;
            let hub = hubs.entry((axis, others));
            let hub = hub.or_insert_with(|| Arc::new(Hub::new(sizes[axis])));
            let thread = Thread {
                rank: place(rank, axis),
                hub: Arc::clone(hub),
                next: AtomicU64::new(0),
            };
            Arc::new(thread)
        });
        axes.collect()
    });
    let all = all.collect();
    (all, hubs.into_values().collect())
}

/// Drops a panic's payload. If the drop panics too, the second payload is leaked, since dropping it might panic again.
fn discard(panic: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        mem::forget(another);
    }
}

/// Ends all rounds of a mesh on drop unless its rank has returned a value, so that the others learn of any failure.
struct EndGuard<'a> {
    rank: usize,
    hubs: &'a [Arc<Hub>],
    has_ended: bool,
}

impl EndGuard<'_> {
    fn end(&mut self, why: &str) {
        self.has_ended = true;
        let what = format!("rank {} is gone: {why}", self.rank);
        let gone = Error::new(ErrorKind::Mesh, "mesh", what).settled();
        self.hubs.iter().for_each(|hub| hub.end(&gone));
    }
}

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.end("its thread was unwound");
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic")
}

/// Runs a program on one thread for each rank of a mesh of these sizes. `Grid::threads` calls it.
///
/// # Errors
/// Returns the error or panic of the rank that failed first; the other ranks then stop waiting.
pub fn threads<M: Placement<Mesh = M>, V: Send>(
    sizes: &[usize],
    program: impl Fn(Mesh<M>) -> Result<V> + Sync,
) -> Result<Vec<V>> {
    let count = sizes
        .iter()
        .try_fold(1_usize, |all, &size| all.checked_mul(size));
    if !count.is_some_and(|count| (1..=1024).contains(&count)) {
        let what = format!("a mesh of {sizes:?} threads");
        return Err(Error::new(ErrorKind::Mesh, "mesh", what)
            .hint("a mesh of threads has 1 to 1024 of them"));
    }
    let (axes, hubs) = create_ranks(sizes);
    let first: Mutex<Option<Error>> = Mutex::new(None);
    let run = |rank: usize, threads: Vec<Arc<Thread>>| {
        let mut guard = EndGuard {
            rank,
            hubs: &hubs,
            has_ended: false,
        };
        let axes = threads.iter().map(|thread| Arc::clone(thread) as _);
        let called = catch_unwind(AssertUnwindSafe(|| program(Mesh::new(axes.collect())?)));
        let mut carried = None;
        let failed = match called {
            Ok(Ok(value)) => {
                guard.has_ended = true;
                threads
                    .iter()
                    .for_each(|thread| thread.hub.leave(thread.rank));
                return Some(value);
            }
            Ok(Err(error)) => error,
            Err(panic) => {
                let what = format!("rank {rank} panicked: {}", panic_text(&*panic));
                carried = Some(panic);
                Error::new(ErrorKind::Mesh, "mesh", what).settled()
            }
        };
        first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| failed.clone());
        guard.end(&failed.to_string());
        // The other ranks have stopped waiting, so this drop may take long, or panic.
        if let Some(panic) = carried {
            discard(panic);
        }
        None
    };
    let values: Vec<Option<V>> = std::thread::scope(|scope| {
        let spawned: Vec<_> = axes
            .into_iter()
            .enumerate()
            .map(|(rank, axes)| scope.spawn(move || run(rank, axes)))
            .collect();
        spawned
            .into_iter()
            .map(|thread| match thread.join() {
                Ok(value) => value,
                Err(panic) => {
                    discard(panic);
                    None
                }
            })
            .collect()
    });
    let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    match (first, values.into_iter().collect::<Option<Vec<V>>>()) {
        (None, Some(values)) => Ok(values),
        (Some(error), _) => Err(error),
        (None, None) => Err(Error::new(
            ErrorKind::Mesh,
            "mesh",
            "a thread ended without a result",
        )),
    }
}
