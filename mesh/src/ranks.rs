//! The interface between a mesh axis and an engine: ranks that exchange tensors.

use std::fmt;
use std::sync::OnceLock;

use nomina::{Error, ErrorKind, Result};
use nomina_core::mesh::Combine;
use nomina_runtime::Raw;

/// A collective of the ranks of an axis. Each rank starts the same jobs in the same order.
///
/// Pieces are tensors without names, with any strides. An engine holds them until the job is done; their storage is
/// shared, so nothing can write to them meanwhile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Job {
    /// Combines pieces of equal sizes. Returns one tensor of these sizes, bitwise equal on all ranks.
    AllReduce {
        /// This rank's piece.
        piece: Raw,
        /// The reduction.
        combine: Combine,
    },
    /// Takes one piece for each rank. Returns one tensor: the combination of all ranks' pieces for this rank.
    ReduceScatter {
        /// The pieces, by destination rank.
        pieces: Vec<Raw>,
        /// The reduction.
        combine: Combine,
    },
    /// Returns the pieces of all ranks, by rank.
    AllGather {
        /// This rank's piece.
        piece: Raw,
        /// The sizes of each rank's piece.
        shapes: Vec<Vec<usize>>,
    },
    /// Sends a piece from each rank to each. Returns the received pieces, by source rank.
    AllToAll {
        /// The pieces, by destination rank.
        pieces: Vec<Raw>,
        /// The sizes of the received pieces, by source rank.
        shapes: Vec<Vec<usize>>,
    },
    /// Sends a piece to the rank `by` positions further along the axis, wrapping around. Returns the received piece.
    Shift {
        /// The piece to send.
        piece: Raw,
        /// The distance; negative to send backwards.
        by: isize,
        /// The sizes of the received piece.
        shape: Vec<usize>,
    },
    /// Sends the piece of one rank to all. Returns that piece.
    Broadcast {
        /// The piece to send, on rank `root`; elsewhere a tensor of the same sizes and dtype, which is not read.
        piece: Raw,
        /// The sender.
        root: usize,
    },
    /// Exclusive scan over pieces of equal sizes. Returns the combination of the pieces of all earlier ranks; nothing
    /// on the first rank.
    Scan {
        /// This rank's piece.
        piece: Raw,
        /// The reduction.
        combine: Combine,
    },
    /// Waits for all ranks. Returns nothing.
    Barrier,
}

impl Job {
    /// Returns the job's name in errors and plans.
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

/// A started job. Dropping it waits for it.
#[must_use = "a job is done where it was waited for"]
pub struct Ticket(Option<Box<dyn FnOnce() -> Result<Vec<Raw>> + Send>>);

impl Ticket {
    /// Creates the ticket of a job whose end `finish` waits for.
    pub fn new(finish: impl FnOnce() -> Result<Vec<Raw>> + Send + 'static) -> Self {
        Self(Some(Box::new(finish)))
    }

    /// Creates the ticket of a job that is done.
    pub fn done(result: Vec<Raw>) -> Self {
        Self::new(move || Ok(result))
    }

    /// Waits for the job, and returns the tensors described at the job's variant of [`Job`].
    ///
    /// # Errors
    /// If the engine fails: memory is missing, or a rank is gone.
    pub fn wait(mut self) -> Result<Vec<Raw>> {
        self.0
            .take()
            .map_or_else(|| Ok(Vec::new()), |finish| finish())
    }

    /// Like [`wait`](Self::wait), for a job that returns one tensor.
    ///
    /// # Errors
    /// If the engine fails, or returns more or less than one tensor.
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
            // A dropped ticket wants no result, and so no error either.
            drop(finish());
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").finish_non_exhaustive()
    }
}

/// The ranks of one mesh axis, as one process or thread among them sees it.
///
/// If one rank fails, all ranks return the same error: an engine lets the ranks agree before it returns. If that is no
/// longer possible it ends the program, see [`abort`](Self::abort).
pub trait Ranks: Send + Sync + fmt::Debug {
    /// Returns this rank's position along the axis, from 0 on.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    /// Starts a job. The jobs of one axis run in the order in which they were started.
    ///
    /// # Errors
    /// If the engine fails.
    fn start(&self, job: Job) -> Result<Ticket>;

    /// Returns the bytes of elements that this rank has sent along this axis.
    fn sent(&self) -> u64;

    /// Ends the program on all ranks.
    fn abort(&self, code: i32) -> !;
}

/// An axis of one rank, which sends nothing.
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

/// Returns how many seconds a rank waits for the others: `NOMINA_MESH_TIMEOUT`, or 600.
#[must_use]
pub fn timeout() -> u64 {
    static SECONDS: OnceLock<u64> = OnceLock::new();
    *SECONDS.get_or_init(|| {
        let set = std::env::var("NOMINA_MESH_TIMEOUT").ok();
        set.and_then(|text| text.parse().ok()).unwrap_or(600)
    })
}
