//! The exchange of descriptions before a job: whether all ranks start the same job, and whether all can run it.

use std::fmt;

use nomina::{Error, ErrorKind, Result};
use nomina_mesh::{Combine, Job};
use nomina_runtime::Raw;

use crate::axis_comm::AxisComm;
use crate::request::{Messages, Outgoing, Span};

/// The bytes of an encoded [`JobDescription`], padded so that elements of any dtype may follow.
const DESCRIPTION_BYTES: usize = 48;

/// The maximum bytes of all ranks' payloads sent along with the descriptions.
const MAX_PAYLOADS: usize = 256 << 10;

/// The maximum bytes of one rank's payload: above this, it is cheaper that each rank combines a part.
const MAX_PAYLOAD: usize = 16 << 10;

/// The names of jobs; their indices are the encoding.
const KINDS: [&str; 8] = [
    "all_reduce",
    "reduce_scatter",
    "all_gather",
    "all_to_all",
    "shift",
    "broadcast",
    "scan",
    "barrier",
];

const COMBINES: [(Combine, &str); 6] = [
    (Combine::Add, "sum"),
    (Combine::Mul, "product"),
    (Combine::Max, "maximum"),
    (Combine::Min, "minimum"),
    (Combine::Any, "any"),
    (Combine::All, "all"),
];

const FAULTS: [ErrorKind; 5] = [
    ErrorKind::Memory,
    ErrorKind::Device,
    ErrorKind::DType,
    ErrorKind::Shape,
    ErrorKind::Argument,
];

/// An encoded description of a job, equal on all ranks of an axis except for `fault` and `bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JobDescription {
    /// The index in [`KINDS`].
    kind: u8,
    /// The dtype's number; 0 for jobs without elements.
    dtype: u8,
    /// The index in [`COMBINES`] plus one.
    combine: u8,
    /// The root of a broadcast, or the distance of a shift.
    place: i64,
    /// The number of elements, if it is the same on all ranks.
    count: u64,
    /// A hash of the sizes that are the same on all ranks.
    sizes: u64,
    /// The reason why this rank cannot run the job: an index in [`FAULTS`] plus one. Ranks may differ in this.
    fault: u8,
    /// The bytes that this rank receives or combines. Ranks may differ in this.
    bytes: u64,
}

impl JobDescription {
    pub(crate) fn new(job: &Job) -> Self {
        let place = |name| KINDS.iter().position(|&kind| kind == name).unwrap_or(0);
        let mut description = Self {
            kind: place(job.name()) as u8,
            ..Self::default()
        };
        let mut sizes = SizesHash::default();
        let own = |description: &mut Self, piece: &Raw| {
            description.dtype = piece.dtype() as u8;
            description.bytes = piece.nbytes() as u64;
        };
        match job {
            Job::AllReduce { piece, combine } | Job::Scan { piece, combine } => {
                own(&mut description, piece);
                description.combine = combine_code(*combine);
                description.count = piece.numel() as u64;
                sizes.add(piece.shape());
            }
            Job::ReduceScatter { pieces, combine } => {
                pieces.iter().for_each(|piece| own(&mut description, piece));
                description.combine = combine_code(*combine);
                description.count = pieces.iter().map(|piece| piece.numel() as u64).sum();
                pieces.iter().for_each(|piece| sizes.add(piece.shape()));
            }
            Job::AllGather { piece, shapes } => {
                own(&mut description, piece);
                shapes.iter().for_each(|shape| sizes.add(shape));
            }
            // The sizes concern only the two ranks of an exchange: lengths are checked on arrival.
            Job::AllToAll { pieces, .. } => {
                pieces.iter().for_each(|piece| own(&mut description, piece))
            }
            Job::Shift { piece, by, .. } => {
                own(&mut description, piece);
                description.place = *by as i64;
            }
            Job::Broadcast { piece, root } => {
                own(&mut description, piece);
                description.place = *root as i64;
                description.count = piece.numel() as u64;
                sizes.add(piece.shape());
            }
            // A barrier has no arguments; a job unknown to this crate is refused.
            _ => {}
        }
        description.sizes = sizes.0;
        description
    }

    fn write(&self, to: &mut [u8]) {
        to[..4].copy_from_slice(&[self.kind, self.dtype, self.combine, self.fault]);
        to[4..8].fill(0);
        let place = self.place as u64;
        for (bytes, number) in to[8..]
            .chunks_exact_mut(8)
            .zip([place, self.count, self.sizes, self.bytes])
        {
            bytes.copy_from_slice(&number.to_ne_bytes());
        }
    }

    fn read(from: &[u8]) -> Self {
        let number = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&from[at..at + 8]);
            u64::from_ne_bytes(bytes)
        };
        Self {
            kind: from[0],
            dtype: from[1],
            combine: from[2],
            fault: from[3],
            place: number(8) as i64,
            count: number(16),
            sizes: number(24),
            bytes: number(32),
        }
    }

    /// Returns whether two ranks start the same job.
    fn is_same_job(&self, other: &Self) -> bool {
        let common = |description: &Self| Self {
            fault: 0,
            bytes: 0,
            ..*description
        };
        common(self) == common(other)
    }

    fn name(&self) -> &'static str {
        KINDS.get(usize::from(self.kind)).copied().unwrap_or("mesh")
    }

    /// Returns the bytes that this rank receives or combines.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn describe(&self) -> String {
        let mut text = self.name().to_owned();
        let combine = usize::from(self.combine).checked_sub(1);
        if let Some((_, name)) = combine.and_then(|at| COMBINES.get(at)) {
            text += &format!(", {name}");
        }
        if self.kind != KINDS.len() as u8 - 1 {
            let dtypes = nomina::DType::ALL;
            let dtype = dtypes.iter().find(|&&dtype| dtype as u8 == self.dtype);
            text += &dtype.map_or_else(String::new, |dtype| format!(", {dtype}"));
        }
        if self.count > 0 {
            text += &format!(", {} elements", self.count);
        }
        match self.name() {
            "shift" => text += &format!(", by {}", self.place),
            "broadcast" => text += &format!(", from rank {}", self.place),
            _ => {}
        }
        format!("({text})")
    }
}

fn combine_code(combine: Combine) -> u8 {
    let at = COMBINES.iter().position(|&(known, _)| known == combine);
    at.map_or(0, |at| at as u8 + 1)
}

/// A hash of lists of sizes (FNV-1a).
struct SizesHash(u64);

impl Default for SizesHash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl SizesHash {
    fn add(&mut self, shape: &[usize]) {
        let mut one = |size: u64| {
            for byte in size.to_ne_bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        one(shape.len() as u64);
        shape.iter().for_each(|&size| one(size as u64));
    }
}

/// The payloads of all ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payloads {
    all: Span,
    len: usize,
    first: usize,
    size: usize,
}

impl Payloads {
    /// Returns the first `len` bytes of a rank's payload.
    pub(crate) fn payload(&self, rank: usize, len: usize) -> Span {
        // The payloads are in rank order, starting with this rank.
        let at = (rank + self.size - self.first) % self.size;
        self.all.part(at * self.len, self.len).part(0, len)
    }
}

/// Returns the scratch bytes that an axis of `size` ranks needs for the exchange.
pub(crate) fn scratch_bytes(size: usize) -> usize {
    size * DESCRIPTION_BYTES + MAX_PAYLOADS
}

/// Returns whether payloads of `len` bytes per rank are sent along with the descriptions.
pub(crate) fn is_sent_along(size: usize, len: usize) -> bool {
    len <= MAX_PAYLOAD.min(MAX_PAYLOADS / size / 16 * 16)
}

impl fmt::Display for JobDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} bytes here", self.describe(), self.bytes)
    }
}

impl AxisComm {
    pub(crate) async fn barrier(&self, description: JobDescription) -> Result<Vec<Raw>> {
        self.agree(description, 0, None, Ok(())).await?;
        Ok(Vec::new())
    }

    /// Exchanges the descriptions of all ranks, and with them payloads of `len` bytes: `payload`, if given, else
    /// arbitrary bytes. Returns the payloads and `prepared`.
    ///
    /// # Errors
    /// Returns the same error on all ranks if one of them could not prepare, or if they start different jobs.
    pub(crate) async fn agree<T>(
        &self,
        mut description: JobDescription,
        len: usize,
        payload: Option<&[u8]>,
        prepared: Result<T>,
    ) -> Result<(Payloads, T)> {
        if let Err(error) = &prepared {
            let known = FAULTS.iter().position(|&kind| kind == error.kind());
            description.fault = known.unwrap_or(FAULTS.len() - 1) as u8 + 1;
        }
        let (rank, size) = (self.rank, self.size);
        let descriptions = self.scratch.part(0, size * DESCRIPTION_BYTES);
        let payloads = Payloads {
            all: self.scratch.part(descriptions.len(), MAX_PAYLOADS),
            // Aligned for elements of any dtype.
            len: len.next_multiple_of(16),
            first: rank,
            size,
        };
        // SAFETY: an axis runs one job at a time, and no message is in flight.
        description.write(unsafe { descriptions.part(0, DESCRIPTION_BYTES).bytes_mut() });
        if let Some(payload) = payload {
            // SAFETY: as above.
            unsafe { payloads.payload(rank, payload.len()).bytes_mut() }.copy_from_slice(payload);
        }
        // Each round doubles the number of known descriptions (Bruck).
        let mut known = 1;
        while known < size {
            let count = known.min(size - known);
            let (from, to) = ((rank + known) % size, (rank + size - known) % size);
            let mut round = Messages::new();
            round.receive(
                self.comm,
                from,
                DESCRIPTIONS,
                descriptions.part(known * DESCRIPTION_BYTES, count * DESCRIPTION_BYTES),
            );
            // If ranks start different jobs, the payload has another length or none.
            let (start, room) = (known * payloads.len, MAX_PAYLOADS - known * payloads.len);
            round.receive_some(self.comm, from, PAYLOADS, payloads.all.part(start, room));
            round.send(
                self.comm,
                to,
                DESCRIPTIONS,
                &Outgoing::Bytes(descriptions.part(0, count * DESCRIPTION_BYTES)),
            );
            let payload = payloads.all.part(0, count * payloads.len);
            round.send_some(self.comm, to, PAYLOADS, payload);
            round.await;
            known += count;
        }
        // SAFETY: the messages have arrived.
        let descriptions = unsafe { descriptions.bytes() };
        let at = |of_rank: usize| (of_rank + size - rank) % size * DESCRIPTION_BYTES;
        require_agreement(
            size,
            (0..size).map(|of_rank| JobDescription::read(&descriptions[at(of_rank)..])),
        )?;
        // A rank that could not prepare has set its fault, and is refused above.
        prepared.map(|prepared| (payloads, prepared))
    }
}

/// The tags of descriptions and of payloads, which no other messages use.
const DESCRIPTIONS: i32 = 0;
const PAYLOADS: i32 = 4;

/// Returns the error that all ranks find in their descriptions.
fn require_agreement(
    size: usize,
    descriptions: impl Iterator<Item = JobDescription> + Clone,
) -> Result<()> {
    let numbered = || descriptions.clone().enumerate();
    let Some((_, first)) = numbered().next() else {
        return Ok(());
    };
    if let Some((rank, other)) =
        numbered().find(|(_, description)| !description.is_same_job(&first))
    {
        let (a, b) = (first.describe(), other.describe());
        let what = if a == b {
            format!("ranks 0 and {rank} of {size} both start {a}, sizes differ")
        } else {
            format!("rank 0 of {size} starts {a}, rank {rank} starts {b}")
        };
        return Err(Error::new(ErrorKind::Mesh, first.name(), what)
            .hint("all ranks of the axis must make the same calls in order"));
    }
    let Some((rank, description)) = numbered().find(|(_, description)| description.fault != 0)
    else {
        return Ok(());
    };
    let at = usize::from(description.fault - 1);
    let kind = FAULTS.get(at).copied().unwrap_or(ErrorKind::Mesh);
    let (what, hint) = match kind {
        ErrorKind::Memory => (
            "has no memory for",
            "use smaller pieces, or free other tensors",
        ),
        ErrorKind::Device => (
            "has on another device than the host",
            "move it with `cpu` first",
        ),
        ErrorKind::DType => ("cannot combine", "convert the elements with `to` first"),
        ErrorKind::Shape => (
            "gives pieces of wrong sizes for",
            "give one piece and its sizes a rank",
        ),
        _ => ("gives wrong arguments for", "ranks start at 0"),
    };
    let bytes = description.bytes;
    let what = format!(
        "rank {rank} of {size} {what} {}: {bytes} bytes",
        description.describe()
    );
    Err(Error::new(kind, description.name(), what).hint(hint))
}
