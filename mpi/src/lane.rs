//! One axis as its jobs see it, and the memory that they work on.

use nomina::{DType, Error, ErrorKind, Result};
use nomina_core::op::Op;
use nomina_mesh::Combine;
use nomina_runtime::raw::Unwritten;
use nomina_runtime::{Raw, call};

use crate::request::{Comm, Outgoing, Span};
use crate::turn::fail;

/// Where a rank stands on an axis, and what its jobs need.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) comm: Comm,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    /// Memory that is there before any job, for what ranks tell each other.
    pub(crate) scratch: Span,
    /// The most bytes of a message.
    pub(crate) message: usize,
}

impl Lane {
    /// The other ranks, each with the one from which something comes while something goes to it: no rank
    /// is asked by all at once.
    pub(crate) fn others(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (rank, size) = (self.rank, self.size);
        (1..size).map(move |by| ((rank + by) % size, (rank + size - by) % size))
    }
}

/// A tensor that a job writes to, contiguous and unshared.
#[derive(Debug)]
pub(crate) struct Own {
    raw: Raw,
    pub(crate) span: Span,
}

impl Own {
    /// A piece as it is where nobody shares it, else a copy.
    pub(crate) fn new(piece: Raw) -> Result<Self> {
        let mut raw = Dense::new(piece)?.raw;
        let ptr = raw.as_mut()?.as_mut_ptr();
        // SAFETY: the tensor is unshared and contiguous, and lives beside this.
        let span = unsafe { Span::new(ptr, raw.nbytes()) };
        Ok(Self { raw, span })
    }

    /// The tensor. Of bytes that came as truth values the lowest bit counts.
    pub(crate) fn done(self) -> Raw {
        // SAFETY: no message is under way when a job is done.
        unsafe { mask(self.raw.dtype(), self.span) };
        self.raw
    }
}

/// A tensor that arrives.
#[derive(Debug)]
pub(crate) struct Arriving {
    raw: Unwritten,
    pub(crate) span: Span,
}

impl Arriving {
    pub(crate) fn new(op: &'static str, dtype: DType, shape: &[usize]) -> Result<Self> {
        let mut raw = Unwritten::new(op, dtype, shape)?;
        // SAFETY: new memory, which lives beside this.
        let span = unsafe { Span::new(raw.as_mut_ptr(), raw.nbytes()) };
        Ok(Self { raw, span })
    }

    /// # Safety
    /// All bytes of the span were written.
    pub(crate) unsafe fn done(self) -> Raw {
        // SAFETY: the caller's promise.
        unsafe { self.raw.written() }
    }
}

/// A tensor that a job reads, contiguous.
#[derive(Debug)]
pub(crate) struct Dense {
    raw: Raw,
    pub(crate) span: Span,
}

impl Dense {
    /// A piece where it lies, else a copy.
    pub(crate) fn new(piece: Raw) -> Result<Self> {
        check_host(&piece)?;
        let raw = call::contiguous(&piece.detach())?;
        // SAFETY: the tensor lives beside this, and is only read.
        let span = unsafe { Span::new(raw.as_ptr().cast_mut(), raw.nbytes()) };
        Ok(Self { raw, span })
    }
}

fn check_host(piece: &Raw) -> Result<()> {
    if piece.device().is_cpu() {
        return Ok(());
    }
    // All ranks are told in the words of `agree`.
    Err(Error::new(
        ErrorKind::Device,
        "mesh",
        "a tensor on another device than the host",
    ))
}

/// What is sent, with the tensor that has to live until then.
#[derive(Debug)]
pub(crate) struct Sending {
    _held: Raw,
    pub(crate) what: Outgoing,
}

impl Sending {
    /// A piece where it lies; a copy of one that lies apart and is more than `most` bytes, which is parted.
    pub(crate) fn new(piece: &Raw, most: usize) -> Result<Self> {
        check_host(piece)?;
        let raw = piece.clone().detach();
        if !raw.is_contiguous() && (1..=most).contains(&raw.nbytes()) {
            let what = Outgoing::Strided(raw.clone());
            return Ok(Self { _held: raw, what });
        }
        let Dense { raw, span } = Dense::new(raw)?;
        let what = Outgoing::Bytes(span);
        Ok(Self { _held: raw, what })
    }
}

/// The operator by which pieces are combined.
pub(crate) fn operator(combine: Combine) -> Op {
    match combine {
        Combine::Add => Op::Add,
        Combine::Mul => Op::Mul,
        Combine::Max => Op::Maximum,
        Combine::Min => Op::Minimum,
        Combine::Any => Op::LogicalOr,
        Combine::All => Op::LogicalAnd,
    }
}

/// `first` becomes the combination of both.
///
/// # Safety
/// No message writes either or reads the first, and they do not overlap.
pub(crate) unsafe fn fold(op: Op, dtype: DType, first: Span, second: Span) {
    // SAFETY: the caller's promise.
    let (first, second) = unsafe { (first.bytes_mut(), second.bytes()) };
    if let Err(error) = call::combine_bytes(op, dtype, first, second) {
        fail(&error.to_string());
    }
}

/// Makes truth values of bytes that came from elsewhere: the lowest bit counts.
///
/// # Safety
/// No message is under way to or from there.
pub(crate) unsafe fn mask(dtype: DType, came: Span) {
    if dtype == DType::Bool {
        // SAFETY: the caller's promise.
        unsafe { came.bytes_mut() }
            .iter_mut()
            .for_each(|byte| *byte &= 1);
    }
}
