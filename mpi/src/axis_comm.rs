//! An axis as its jobs see it, and the buffers that they use.

use nomina::{DType, Error, ErrorKind, Result};
use nomina_core::op::Op;
use nomina_mesh::Combine;
use nomina_runtime::raw::Unwritten;
use nomina_runtime::{Raw, call};

use crate::request::{Comm, Outgoing, Span};
use crate::turn::fail;

/// A rank's communicator and position on an axis, with the resources of its jobs.
#[derive(Clone, Debug)]
pub(crate) struct AxisComm {
    pub(crate) comm: Comm,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    /// Memory allocated in advance, for the exchange of descriptions.
    pub(crate) scratch: Span,
    /// The maximum bytes of a message.
    pub(crate) max_message: usize,
}

impl AxisComm {
    /// Iterates over the other ranks as (destination, source) pairs, in an order in which no rank is addressed by all
    /// at once.
    pub(crate) fn peers(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (rank, size) = (self.rank, self.size);
        (1..size).map(move |by| ((rank + by) % size, (rank + size - by) % size))
    }
}

/// A contiguous, unshared tensor that a job writes to.
#[derive(Debug)]
pub(crate) struct ResultBuffer {
    raw: Raw,
    pub(crate) span: Span,
}

impl ResultBuffer {
    /// Takes an unshared piece, or copies a shared one.
    pub(crate) fn new(piece: Raw) -> Result<Self> {
        let mut raw = ContiguousPiece::new(piece)?.raw;
        let ptr = raw.as_mut()?.as_mut_ptr();
        // SAFETY: the tensor is unshared and contiguous, and is stored with the span.
        let span = unsafe { Span::new(ptr, raw.nbytes()) };
        Ok(Self { raw, span })
    }

    /// Returns the tensor. Of received bools, only the lowest bit counts.
    pub(crate) fn into_tensor(self) -> Raw {
        // SAFETY: no message is in flight when a job is done.
        unsafe { normalize_bools(self.raw.dtype(), self.span) };
        self.raw
    }
}

/// A tensor that is being received.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    raw: Unwritten,
    pub(crate) span: Span,
}

impl ReceiveBuffer {
    pub(crate) fn new(op: &'static str, dtype: DType, shape: &[usize]) -> Result<Self> {
        let mut raw = Unwritten::new(op, dtype, shape)?;
        // SAFETY: new memory, which is stored with the span.
        let span = unsafe { Span::new(raw.as_mut_ptr(), raw.nbytes()) };
        Ok(Self { raw, span })
    }

    /// # Safety
    /// All bytes of the span have been written.
    pub(crate) unsafe fn into_tensor(self) -> Raw {
        // SAFETY: the caller's promise.
        unsafe { self.raw.written() }
    }
}

/// A contiguous tensor that a job reads.
#[derive(Debug)]
pub(crate) struct ContiguousPiece {
    raw: Raw,
    pub(crate) span: Span,
}

impl ContiguousPiece {
    /// Takes a contiguous piece, or copies it.
    pub(crate) fn new(piece: Raw) -> Result<Self> {
        check_host(&piece)?;
        let raw = call::contiguous(&piece.detach())?;
        // SAFETY: the tensor is stored with the span, and is only read.
        let span = unsafe { Span::new(raw.as_ptr().cast_mut(), raw.nbytes()) };
        Ok(Self { raw, span })
    }
}

fn check_host(piece: &Raw) -> Result<()> {
    if piece.device().is_cpu() {
        return Ok(());
    }
    // `agree` reports the error to all ranks.
    Err(Error::new(
        ErrorKind::Device,
        "mesh",
        "a tensor is not on the host",
    ))
}

/// Outgoing data, with the tensor that owns it.
#[derive(Debug)]
pub(crate) struct SendBuffer {
    _held: Raw,
    pub(crate) data: Outgoing,
}

impl SendBuffer {
    /// Takes a piece without copying, unless it is strided and has more than `max_message` bytes: then it is copied, to
    /// be sent in several messages.
    pub(crate) fn new(piece: &Raw, max_message: usize) -> Result<Self> {
        check_host(piece)?;
        let raw = piece.clone().detach();
        if !raw.is_contiguous() && (1..=max_message).contains(&raw.nbytes()) {
            let data = Outgoing::Strided(raw.clone());
            return Ok(Self { _held: raw, data });
        }
        let ContiguousPiece { raw, span } = ContiguousPiece::new(raw)?;
        let data = Outgoing::Bytes(span);
        Ok(Self { _held: raw, data })
    }
}

/// Returns the operator that combines pieces.
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

/// Combines both into `first`.
///
/// # Safety
/// No message in flight writes either span or reads the first, and they do not overlap.
pub(crate) unsafe fn fold(op: Op, dtype: DType, first: Span, second: Span) {
    // SAFETY: the caller's promise.
    let (first, second) = unsafe { (first.bytes_mut(), second.bytes()) };
    if let Err(error) = call::combine_bytes(op, dtype, first, second) {
        fail(&error.to_string());
    }
}

/// Normalizes received bools: the lowest bit counts.
///
/// # Safety
/// No message to or from the span is in flight.
pub(crate) unsafe fn normalize_bools(dtype: DType, received: Span) {
    if dtype == DType::Bool {
        // SAFETY: the caller's promise.
        unsafe { received.bytes_mut() }
            .iter_mut()
            .for_each(|byte| *byte &= 1);
    }
}
