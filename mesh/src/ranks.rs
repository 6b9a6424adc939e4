//! What a mesh axis needs of an engine: ranks that exchange tensors.

use std::fmt;
use std::sync::OnceLock;

use nomina::{Error, ErrorKind, Result};
use nomina_core::mesh::Combine;
use nomina_runtime::Raw;

/// What the ranks of an axis do together. Each rank starts the same jobs in the same order.
///
/// Pieces are tensors without names, of any strides. An engine holds them until the job is done: they
/// are shared, and nobody can write to them meanwhile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Job {
    /// Pieces of equal sizes, combined. Gives one tensor of these sizes, equal on all ranks to the bit.
    AllReduce {
        /// This rank's piece.
        piece: Raw,
        /// How they are combined.
        combine: Combine,
    },
    /// As many pieces as there are ranks. Gives one tensor: the combination of all ranks' pieces for this rank.
    ReduceScatter {
        /// The pieces, by the rank that they are for.
        pieces: Vec<Raw>,
        /// How they are combined.
        combine: Combine,
    },
    /// Gives the pieces of all ranks, by rank.
    AllGather {
        /// This rank's piece.
        piece: Raw,
        /// The sizes of each rank's piece.
        shapes: Vec<Vec<usize>>,
    },
    /// A piece from each rank to each. Gives what came, by the rank that it came from.
    AllToAll {
        /// The pieces, by the rank that they are for.
        pieces: Vec<Raw>,
        /// The sizes of what comes, by the rank that it comes from.
        shapes: Vec<Vec<usize>>,
    },
    /// A piece to the rank that stands `by` further along the axis, around its end. Gives what came.
    Shift {
        /// What is sent.
        piece: Raw,
        /// How far; negative numbers go back.
        by: isize,
        /// The sizes of what comes.
        shape: Vec<usize>,
    },
    /// The piece of one rank to all. Gives it.
    Broadcast {
        /// What is sent, on rank `root`; elsewhere a tensor of the same sizes and dtype, which is not read.
        piece: Raw,
        /// Who sends.
        root: usize,
    },
    /// Pieces of equal sizes. Gives the combination of those of the ranks before this one: nothing on the first rank.
    Scan {
        /// This rank's piece.
        piece: Raw,
        /// How they are combined.
        combine: Combine,
    },
    /// Waits for all ranks. Gives nothing.
    Barrier,
}

impl Job {
    /// What it is called, in errors and in plans.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::AllReduce { .. } => "all_reduce",
            Self::ReduceScatter { .. } => "reduce_scatter",
            Self::AllGather { .. } => "all_gather",
            Self::AllToAll { .. } => "all_to_all",
            Self::Shift { .. } => "shift",
            Self::Broadcast { .. } => "broadcast",
            Self::Scan { .. } => "scan",
            Self::Barrier => "barrier",
        }
    }
}

/// A job that was started. Dropped, it waits.
#[must_use = "a job is done where it was waited for"]
pub struct Ticket(Option<Box<dyn FnOnce() -> Result<Vec<Raw>> + Send>>);

impl Ticket {
    /// A job whose end is waited for by `finish`.
    pub fn new(finish: impl FnOnce() -> Result<Vec<Raw>> + Send + 'static) -> Self {
        Self(Some(Box::new(finish)))
    }

    /// A job that is done.
    pub fn done(result: Vec<Raw>) -> Self {
        Self::new(move || Ok(result))
    }

    /// Waits for the job, and gives what [`Job`] says of its kind.
    ///
    /// # Errors
    /// Those of the engine: memory that is missing, a rank that is gone.
    pub fn wait(mut self) -> Result<Vec<Raw>> {
        self.0
            .take()
            .map_or_else(|| Ok(Vec::new()), |finish| finish())
    }

    /// As [`wait`](Self::wait), for a job that gives one tensor.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_for_one(self) -> Result<Raw> {
        let mut found = self.wait()?;
        match (found.pop(), found.is_empty()) {
            (Some(one), true) => Ok(one),
            _ => Err(Error::new(
                ErrorKind::Mesh,
                "mesh",
                "the engine gave more or less than one tensor",
            )),
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(finish) = self.0.take() {
            // Whoever drops a ticket asks for no result, and has no use for an error either.
            drop(finish());
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").finish_non_exhaustive()
    }
}

/// The ranks of one mesh axis: processes or threads, each of which has one of these.
///
/// Errors are the same on all ranks, where one of them finds one: an engine lets the ranks agree before it
/// returns. Where that is no longer possible it ends the program, see [`abort`](Self::abort).
pub trait Ranks: Send + Sync + fmt::Debug {
    /// The place of this one along the axis, from 0 on.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Starts a job; those of one axis are done in the order in which they were started.
    ///
    /// # Errors
    /// Those of the engine.
    fn start(&self, job: Job) -> Result<Ticket>;

    /// The bytes of elements that this rank has sent so far along this axis.
    fn sent(&self) -> u64;

    /// Ends the program on all ranks.
    fn abort(&self, code: i32) -> !;
}

/// An axis of one rank, which has nobody to send to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }
    fn size(&self) -> usize {
        1
    }
    fn start(&self, job: Job) -> Result<Ticket> {
        Ok(Ticket::done(match job {
            Job::AllReduce { piece, .. }
            | Job::AllGather { piece, .. }
            | Job::Shift { piece, .. }
            | Job::Broadcast { piece, .. } => vec![piece],
            Job::ReduceScatter { pieces, .. } | Job::AllToAll { pieces, .. } => pieces,
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

/// How many seconds a rank waits for the others: `NOMINA_MESH_TIMEOUT`, or 600.
#[must_use]
pub fn timeout() -> u64 {
    static SECONDS: OnceLock<u64> = OnceLock::new();
    *SECONDS.get_or_init(|| {
        let set = std::env::var("NOMINA_MESH_TIMEOUT").ok();
        set.and_then(|text| text.parse().ok()).unwrap_or(600)
    })
}
