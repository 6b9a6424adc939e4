//! What ranks tell each other before a job: that they do the same, and whether they can.

use std::fmt;

use nomina::{Error, ErrorKind, Result};
use nomina_mesh::{Combine, Job};
use nomina_runtime::Raw;

use crate::lane::Lane;
use crate::request::{Messages, Outgoing, Span};

/// The bytes of a [`Word`] on its way, and what fills it up, so that elements of any dtype may follow.
const WORD: usize = 48;

/// What goes along with the words of all ranks is no more than this,
const TOGETHER: usize = 256 << 10;

/// and of each rank no more than this: to combine a part of its own costs a rank less from there on.
const ALONGSIDE: usize = 16 << 10;

/// Kinds of jobs by their place here, as they are told.
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

/// What a rank is about to do, in a few numbers that are equal on all ranks of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// Where in [`KINDS`].
    kind: u8,
    /// The dtype's number; none without elements.
    dtype: u8,
    /// Where in [`COMBINES`], from one on.
    combine: u8,
    /// The root, or how far a shift goes.
    place: i64,
    /// How many elements there are, where it is the same number on all ranks.
    count: u64,
    /// A hash of sizes that are the same on all ranks.
    sizes: u64,
    /// What this rank has to say against it: where in [`FAULTS`], from one on. Ranks may differ in this.
    fault: u8,
    /// The bytes that this rank receives or combines. Ranks may differ in this.
    bytes: u64,
}

impl Word {
    pub(crate) fn of(job: &Job) -> Self {
        let place = |name| KINDS.iter().position(|&kind| kind == name).unwrap_or(0);
        let mut word = Self {
            kind: place(job.name()) as u8,
            ..Self::default()
        };
        let mut sizes = Sizes::default();
        let own = |word: &mut Self, piece: &Raw| {
            word.dtype = piece.dtype() as u8;
            word.bytes = piece.nbytes() as u64;
        };
        match job {
            Job::AllReduce { piece, combine } | Job::Scan { piece, combine } => {
                own(&mut word, piece);
                word.combine = number(*combine);
                word.count = piece.numel() as u64;
                sizes.add(piece.shape());
            }
            Job::ReduceScatter { pieces, combine } => {
                pieces.iter().for_each(|piece| own(&mut word, piece));
                word.combine = number(*combine);
                word.count = pieces.iter().map(|piece| piece.numel() as u64).sum();
                pieces.iter().for_each(|piece| sizes.add(piece.shape()));
            }
            Job::AllGather { piece, shapes } => {
                own(&mut word, piece);
                shapes.iter().for_each(|shape| sizes.add(shape));
            }
            // What two ranks exchange is theirs alone: its length is looked at when it came.
            Job::AllToAll { pieces, .. } => pieces.iter().for_each(|piece| own(&mut word, piece)),
            Job::Shift { piece, by, .. } => {
                own(&mut word, piece);
                word.place = *by as i64;
            }
            Job::Broadcast { piece, root } => {
                own(&mut word, piece);
                word.place = *root as i64;
                word.count = piece.numel() as u64;
                sizes.add(piece.shape());
            }
            // A barrier has nothing to say; a job that this crate does not know is refused.
            _ => {}
        }
        word.sizes = sizes.0;
        word
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

    /// Whether two ranks are about to do the same.
    fn fits(&self, other: &Self) -> bool {
        let common = |word: &Self| Self {
            fault: 0,
            bytes: 0,
            ..*word
        };
        common(self) == common(other)
    }

    fn name(&self) -> &'static str {
        KINDS.get(usize::from(self.kind)).copied().unwrap_or("mesh")
    }

    /// The bytes that this rank receives or combines.
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

fn number(combine: Combine) -> u8 {
    let at = COMBINES.iter().position(|&(known, _)| known == combine);
    at.map_or(0, |at| at as u8 + 1)
}

/// A hash of lists of sizes (FNV-1a).
struct Sizes(u64);

impl Default for Sizes {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Sizes {
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

/// What went along of all ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    all: Span,
    len: usize,
    first: usize,
    size: usize,
}

impl Told {
    /// As many bytes, or fewer, of what went along of a rank.
    pub(crate) fn payload(&self, rank: usize, len: usize) -> Span {
        // They lie in the order of ranks, from this one on.
        let at = (rank + self.size - self.first) % self.size;
        self.all.part(at * self.len, self.len).part(0, len)
    }
}

/// How many bytes an axis of so many ranks needs for what is told.
pub(crate) fn room(size: usize) -> usize {
    size * WORD + TOGETHER
}

/// Whether as many bytes of each rank go along with the words.
pub(crate) fn is_together(size: usize, len: usize) -> bool {
    len <= ALONGSIDE.min(TOGETHER / size / 16 * 16)
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} bytes here", self.describe(), self.bytes)
    }
}

impl Lane {
    pub(crate) async fn barrier(&self, word: Word) -> Result<Vec<Raw>> {
        self.agree(word, 0, None, Ok(())).await?;
        Ok(Vec::new())
    }

    /// All ranks tell what they are about to do. As many bytes of each go along: `along`, where there are
    /// some, and whatever fills them up. Gives what this rank prepared.
    ///
    /// # Errors
    /// The same on all ranks: where one of them could not prepare, or they are not about to do the same.
    pub(crate) async fn agree<T>(
        &self,
        mut word: Word,
        len: usize,
        along: Option<&[u8]>,
        prepared: Result<T>,
    ) -> Result<(Told, T)> {
        if let Err(error) = &prepared {
            let known = FAULTS.iter().position(|&kind| kind == error.kind());
            word.fault = known.unwrap_or(FAULTS.len() - 1) as u8 + 1;
        }
        let (rank, size) = (self.rank, self.size);
        let words = self.scratch.part(0, size * WORD);
        let told = Told {
            all: self.scratch.part(words.len(), TOGETHER),
            // Elements of any dtype lie where they may.
            len: len.next_multiple_of(16),
            first: rank,
            size,
        };
        // SAFETY: one job of an axis runs at a time, and no message is under way.
        word.write(unsafe { words.part(0, WORD).bytes_mut() });
        if let Some(along) = along {
            // SAFETY: as above.
            unsafe { told.payload(rank, along.len()).bytes_mut() }.copy_from_slice(along);
        }
        // Each round doubles what a rank knows (Bruck).
        let mut known = 1;
        while known < size {
            let count = known.min(size - known);
            let (from, to) = ((rank + known) % size, (rank + size - known) % size);
            let mut round = Messages::new();
            round.receive(
                self.comm,
                from,
                WORDS,
                words.part(known * WORD, count * WORD),
            );
            // Where ranks are not about to do the same, what comes is of another length, or none.
            let (start, room) = (known * told.len, TOGETHER - known * told.len);
            round.receive_some(self.comm, from, ALONG, told.all.part(start, room));
            round.send(
                self.comm,
                to,
                WORDS,
                &Outgoing::Bytes(words.part(0, count * WORD)),
            );
            let along = told.all.part(0, count * told.len);
            round.send_some(self.comm, to, ALONG, along);
            round.await;
            known += count;
        }
        // SAFETY: the messages are there.
        let words = unsafe { words.bytes() };
        let at = |asked: usize| (asked + size - rank) % size * WORD;
        refuse(size, (0..size).map(|asked| Word::read(&words[at(asked)..])))?;
        // Whoever could not prepare has said so, and is refused above.
        prepared.map(|prepared| (told, prepared))
    }
}

/// The tags of words, and of what goes along, which no other message has.
const WORDS: i32 = 0;
const ALONG: i32 = 4;

/// The error that all ranks find in what they told.
fn refuse(size: usize, words: impl Iterator<Item = Word> + Clone) -> Result<()> {
    let numbered = || words.clone().enumerate();
    let Some((_, first)) = numbered().next() else {
        return Ok(());
    };
    if let Some((rank, other)) = numbered().find(|(_, word)| !word.fits(&first)) {
        let (a, b) = (first.describe(), other.describe());
        let what = if a == b {
            format!("ranks 0 and {rank} of {size} both start {a}, with other sizes")
        } else {
            format!("rank 0 of {size} starts {a}, rank {rank} starts {b}")
        };
        return Err(Error::new(ErrorKind::Mesh, first.name(), what)
            .hint("let all ranks of the axis do the same, in the same order"));
    }
    let Some((rank, word)) = numbered().find(|(_, word)| word.fault != 0) else {
        return Ok(());
    };
    let at = usize::from(word.fault - 1);
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
        _ => ("gives wrong arguments for", "name ranks from 0 on"),
    };
    let bytes = word.bytes;
    let what = format!(
        "rank {rank} of {size} {what} {}: {bytes} bytes",
        word.describe()
    );
    Err(Error::new(kind, word.name(), what).hint(hint))
}
