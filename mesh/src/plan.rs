//! Plans: a step's collectives on a simulated mesh, listed without sending anything, and the time that they would take.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use nomina::{Device, Error, ErrorKind, Result};
use nomina_runtime::Raw;

use crate::origin::CallSite;
use crate::ranks::{Job, Ranks, Ticket};

/// The collectives of one place in a program, over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// The conversion.
    pub op: &'static str,
    /// The mesh axis.
    pub axis: &'static str,
    /// The number of ranks of the axis.
    pub ranks: usize,
    /// The call.
    pub at: &'static Location<'static>,
    /// The number of calls.
    pub count: u64,
    /// The bytes of elements that one rank sends in all calls.
    pub bytes: u64,
    /// The seconds of all calls: latency and transfer, without overlap with other work.
    pub seconds: f64,
}

/// The messages of a step, by place in the program. It displays as a table.
///
/// ```
/// use nomina_mesh::prelude::*;
/// mesh! { Grid: Data, Model }
/// dims! { N }
///
/// // 512 by 8 ranks; 2 µs latency and 25 GB/s between two of them.
/// let mesh = Grid::simulate([512, 8], 2e-6, 25e9)?;
/// let plan = mesh.plan(|| {
///     let x: Sharded<(N,), Grid<Pending, Whole>> = mesh.zeros([1 << 28])?;
///     x.try_all_reduce(Data).map(drop)
/// })?;
/// assert_eq!(plan.collectives().len(), 1);
/// assert!((0.085..0.087).contains(&plan.seconds()));
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    collectives: Vec<Collective>,
}

impl Plan {
    /// Returns the collectives, in order of their first call.
    #[must_use]
    pub fn collectives(&self) -> &[Collective] {
        &self.collectives
    }

    /// Returns the bytes of elements that one rank sends.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.collectives.iter().map(|one| one.bytes).sum()
    }

    /// Returns the seconds of all collectives, one after the other.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.collectives.iter().map(|one| one.seconds).sum()
    }

    /// Returns warnings about collectives that do not scale because their time is mostly latency: all-to-alls over more
    /// than 64 ranks. A shorter axis or fewer calls would help.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.collectives.iter().filter_map(|one| {
            let by_rank = one.op == "all_to_all";
            (by_rank && one.ranks > 64).then(|| {
                format!(
                    "{} over {} ranks of `{}` pays a latency a rank: put it on an axis of 8 to 64 ranks ({})",
                    one.op, one.ranks, one.axis, one.at
                )
            })
        })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| collective | axis | ranks | times | bytes a rank | ms | at |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        for one in &self.collectives {
            let Collective {
                op,
                axis,
                ranks,
                at,
                count,
                bytes,
                seconds,
            } = one;
            writeln!(
                f,
                "| {op} | {axis} | {ranks} | {count} | {bytes} | {:.3} | {at} |",
                seconds * 1e3
            )?;
        }
        writeln!(
            f,
            "| all | | | | {} | {:.3} | |",
            self.bytes(),
            self.seconds() * 1e3
        )
    }
}

/// The state of a simulated mesh.
#[derive(Debug)]
pub(crate) struct Simulated {
    latency: f64,
    bytes_per_second: f64,
    collectives: Mutex<Vec<Collective>>,
}

impl Simulated {
    pub(crate) fn new(latency: f64, bytes_per_second: f64) -> Self {
        Self {
            latency,
            bytes_per_second,
            collectives: Mutex::default(),
        }
    }

    /// Returns the first rank of each axis.
    pub(crate) fn axes(&self, sizes: &[usize]) -> Result<Vec<Arc<dyn Ranks>>> {
        let all = sizes
            .iter()
            .try_fold(1_usize, |all, &size| all.checked_mul(size));
        if all.is_none_or(|all| all == 0) {
            let what = format!("a mesh of sizes {sizes:?}");
            return Err(
                Error::new(ErrorKind::Mesh, "simulate", what).hint("every axis needs a rank")
            );
        }
        Ok(sizes
            .iter()
            .map(|&size| Arc::new(SimulatedRanks { size }) as Arc<dyn Ranks>)
            .collect())
    }

    pub(crate) fn clear(&self) {
        self.collectives
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    pub(crate) fn plan(&self) -> Plan {
        Plan {
            collectives: self
                .collectives
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        }
    }

    pub(crate) fn record(
        &self,
        axis: &'static str,
        (op, at): (&'static str, CallSite),
        job: &Job,
        ranks: usize,
    ) {
        let (bytes, seconds) = (sent(job, ranks, 0), self.seconds(job, ranks));
        let mut collectives = self
            .collectives
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let here = |one: &&mut Collective| one.op == op && one.axis == axis && one.at == at;
        if let Some(one) = collectives.iter_mut().find(here) {
            one.count += 1;
            one.bytes += bytes;
            one.seconds += seconds;
            return;
        }
        collectives.push(Collective {
            op,
            axis,
            ranks,
            at,
            count: 1,
            bytes,
            seconds,
        });
    }

    /// Returns the time of a job with the algorithms that MPI libraries use: recursive doubling for few bytes,
    /// recursive halving for many.
    fn seconds(&self, job: &Job, ranks: usize) -> f64 {
        let (latency, rate) = (self.latency, self.bytes_per_second);
        let steps = (ranks as f64).log2().ceil();
        let transfer_all =
            |raws: &[Raw]| raws.iter().map(|raw| bytes(raw) as f64).sum::<f64>() / rate;
        let transfer = |raw: &Raw| bytes(raw) as f64 / rate;
        let most = ranks.saturating_sub(1) as f64;
        let share = most / ranks as f64;
        match job {
            Job::AllReduce { piece, .. } | Job::Broadcast { piece, .. } => {
                let all = transfer(piece);
                (steps * (latency + all)).min(2.0 * (steps * latency + all * share))
            }
            Job::ReduceScatter { pieces, .. } => steps * latency + transfer_all(pieces) * share,
            Job::AllGather { piece, .. } => steps * latency + transfer(piece) * most,
            // One message to each rank that receives anything.
            Job::AllToAll { pieces, .. } => {
                let others = pieces.get(1..).unwrap_or_default();
                let some = others.iter().filter(|piece| piece.numel() > 0).count();
                some as f64 * latency + transfer_all(others)
            }
            Job::Shift { piece, .. } => latency + transfer(piece),
            Job::Scan { piece, .. } => steps * (latency + transfer(piece)),
            Job::Barrier => steps * latency,
        }
    }
}

fn bytes(raw: &Raw) -> u64 {
    (raw.numel() as u64).saturating_mul(raw.dtype().size() as u64)
}

/// Returns the bytes of elements that rank `rank` sends for a job. All engines count the same.
#[must_use]
pub fn sent(job: &Job, ranks: usize, rank: usize) -> u64 {
    let others = ranks.saturating_sub(1) as u64;
    let bytes_to_others = |pieces: &[Raw]| {
        let pieces = pieces.iter().enumerate().filter(|(to, _)| *to != rank);
        pieces.map(|(_, piece)| bytes(piece)).sum()
    };
    match job {
        // Its part to each rank, then this rank's combined part to each rank.
        Job::AllReduce { piece, .. } => {
            let (_, own) = crate::partition::part(piece.numel(), ranks, rank);
            let own = (own as u64).saturating_mul(piece.dtype().size() as u64);
            (bytes(piece) - own).saturating_add(own.saturating_mul(others))
        }
        Job::ReduceScatter { pieces, .. } | Job::AllToAll { pieces, .. } => bytes_to_others(pieces),
        Job::AllGather { piece, .. } => bytes(piece).saturating_mul(others),
        Job::Shift { piece, by, .. } => {
            let stays = by.rem_euclid(ranks.max(1) as isize) == 0;
            if stays { 0 } else { bytes(piece) }
        }
        Job::Broadcast { piece, root } if *root == rank => bytes(piece).saturating_mul(others),
        Job::Scan { piece, .. } => bytes(piece).saturating_mul((ranks - 1 - rank) as u64),
        Job::Broadcast { .. } | Job::Barrier => 0,
    }
}

/// The first rank of a simulated axis. The other ranks' pieces have the right sizes and are zeros.
#[derive(Debug)]
struct SimulatedRanks {
    size: usize,
}

/// Returns zeros of any sizes, in the memory of one.
fn zeros_of(like: &Raw, shape: &[usize]) -> Result<Raw> {
    Raw::zeros("simulate", &vec![1; shape.len()], like.dtype(), Device::Cpu)?.expand(shape)
}

impl Ranks for SimulatedRanks {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        self.size
    }

    fn start(&self, job: Job) -> Result<Ticket> {
        let each = |own: &Raw, shapes: &[Vec<usize>]| {
            let others = shapes.iter().skip(1).map(|shape| zeros_of(own, shape));
            std::iter::once(Ok(own.clone()))
                .chain(others)
                .collect::<Result<Vec<Raw>>>()
        };
        Ok(Ticket::done(match job {
            Job::AllReduce { piece, .. } | Job::Broadcast { piece, .. } => vec![piece],
            Job::ReduceScatter { pieces, .. } => pieces.into_iter().take(1).collect(),
            Job::AllGather { piece, shapes } => each(&piece, &shapes)?,
            Job::AllToAll { pieces, shapes } => match pieces.first() {
                Some(own) => each(own, &shapes)?,
                None => Vec::new(),
            },
            Job::Shift { piece, shape, .. } => vec![zeros_of(&piece, &shape)?],
            Job::Scan { .. } | Job::Barrier => Vec::new(),
        }))
    }

    fn sent(&self) -> u64 {
        0
    }

    fn abort(&self, code: i32) -> ! {
        std::process::exit(code)
    }
}
