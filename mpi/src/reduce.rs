//! Jobs that combine pieces.
//!
//! Each rank combines its own part, in rank order; if all ranks need the result, they exchange the combined parts. The
//! results are therefore bitwise equal on all ranks and from run to run, whatever algorithms the MPI library uses, and
//! they are computed by the same loops as elementwise operators.

use nomina::{DType, ErrorKind, Result};
use nomina_core::op::Op;
use nomina_mesh::{Combine, part};
use nomina_runtime::{Raw, call};

use crate::agree::{JobDescription, is_sent_along};
use crate::axis_comm::{
    AxisComm, ContiguousPiece, ReceiveBuffer, ResultBuffer, SendBuffer, fold, normalize_bools,
    operator,
};
use crate::moves::require;
use crate::request::{Messages, Outgoing, Span};

/// The tag of operands.
const OPERANDS: i32 = 2;
/// The tag of combined results.
const RESULTS: i32 = 3;

/// The maximum bytes of temporary memory, besides operands and results.
const MAX_BUFFER: usize = 4 << 20;

/// The bytes combined in a step: they fit in a core's cache.
const MAX_SLICE: usize = 512 << 10;

/// An operator and a dtype.
#[derive(Clone, Copy)]
struct CombineOp {
    op: Op,
    dtype: DType,
}

impl CombineOp {
    fn new(combine: Combine, dtype: DType) -> Result<Self> {
        let op = operator(combine);
        call::combines(op, dtype)?;
        Ok(Self { op, dtype })
    }
}

/// Returns the part of `len` bytes that is combined in a step: (start, length).
fn slice(step: usize, slice: usize, len: usize) -> (usize, usize) {
    let start = step.saturating_mul(slice).min(len);
    (start, slice.min(len - start))
}

/// The operands of a rank: pieces for each rank, including its own.
struct ReduceOperands {
    combine_op: CombineOp,
    /// The piece for each rank.
    sends: Vec<Outgoing>,
    /// The bytes that each rank combines.
    lens: Vec<usize>,
    /// This rank's own piece, which becomes its result.
    own: Span,
    /// The destination of all ranks' results, in rank order, if they are needed.
    whole: Option<Span>,
    /// The buffer for received operands.
    buffer: ReceiveBuffer,
    slice: usize,
}

impl AxisComm {
    /// Returns the bytes combined in a step. The buffer holds two steps of each rank's operands.
    fn slice(&self) -> usize {
        let fits = MAX_BUFFER / 2 / self.size;
        let slice = MAX_SLICE.min(fits).min(self.max_message);
        // A multiple of every dtype's size.
        (slice - slice % 16).max(16)
    }

    /// Allocates the buffer for the other ranks' operands of two steps.
    fn operand_buffers(&self, slice: usize, own: usize) -> Result<ReceiveBuffer> {
        let len = slice.min(own).next_multiple_of(16);
        ReceiveBuffer::new("mesh", DType::U8, &[2, self.size, len])
    }

    pub(crate) async fn all_reduce(
        &self,
        description: JobDescription,
        piece: Raw,
        combine: Combine,
    ) -> Result<Vec<Raw>> {
        let (dtype, bytes) = (piece.dtype(), piece.nbytes());
        let count = piece.numel();
        let share = |rank| part(count, self.size, rank).1 * dtype.size();
        let lens: Vec<usize> = (0..self.size).map(share).collect();
        let combine_op = CombineOp::new(combine, dtype);
        let prepared =
            combine_op.and_then(|combine_op| Ok((combine_op, ResultBuffer::new(piece)?)));
        let own_len = lens[self.rank];
        let own = if is_sent_along(self.size, bytes) {
            let payload = prepared.as_ref().ok().map(|(_, own)| own.span);
            // SAFETY: nothing writes to it before the exchange is complete.
            let payload = payload.map(|own| unsafe { own.bytes() });
            let (payloads, (combine_op, own)) =
                self.agree(description, bytes, payload, prepared).await?;
            let operands = (0..self.size).map(|rank| payloads.payload(rank, bytes));
            self.fold_all(combine_op, operands, own.span);
            own
        } else {
            let slice = self.slice();
            let prepared = prepared.and_then(|(combine_op, own)| {
                let mut start = 0;
                let mut share = |&len: &usize| {
                    start += len;
                    Outgoing::Bytes(own.span.part(start - len, len))
                };
                let sends = lens.iter().map(&mut share).collect();
                let before = lens[..self.rank].iter().sum();
                let operands = ReduceOperands {
                    combine_op,
                    sends,
                    own: own.span.part(before, own_len),
                    whole: Some(own.span),
                    buffer: self.operand_buffers(slice, own_len)?,
                    lens,
                    slice,
                };
                Ok((operands, own))
            });
            let (_, (operands, own)) = self.agree(description, 0, None, prepared).await?;
            self.combine(&operands).await;
            own
        };
        Ok(vec![own.into_tensor()])
    }

    pub(crate) async fn reduce_scatter(
        &self,
        description: JobDescription,
        pieces: Vec<Raw>,
        combine: Combine,
    ) -> Result<Vec<Raw>> {
        let prepared = self.prepare_scatter(pieces, combine);
        let (_, (operands, own, _held)) = self.agree(description, 0, None, prepared).await?;
        self.combine(&operands).await;
        Ok(vec![own.into_tensor()])
    }

    fn prepare_scatter(
        &self,
        mut pieces: Vec<Raw>,
        combine: Combine,
    ) -> Result<(ReduceOperands, ResultBuffer, Vec<SendBuffer>)> {
        require(pieces.len() == self.size, ErrorKind::Shape)?;
        let dtype = pieces[self.rank].dtype();
        require(
            pieces.iter().all(|piece| piece.dtype() == dtype),
            ErrorKind::DType,
        )?;
        let combine_op = CombineOp::new(combine, dtype)?;
        let slice = self.slice();
        let lens: Vec<usize> = pieces.iter().map(Raw::nbytes).collect();
        // An empty piece in its place: this rank sends nothing to itself.
        let nothing = Raw::zeros("mesh", &[0], dtype, nomina_runtime::Device::Cpu)?;
        let own = ResultBuffer::new(std::mem::replace(&mut pieces[self.rank], nothing))?;
        let held = pieces.iter().map(|piece| SendBuffer::new(piece, slice));
        let held = held.collect::<Result<Vec<_>>>()?;
        let operands = ReduceOperands {
            combine_op,
            sends: held.iter().map(|one| one.data.clone()).collect(),
            own: own.span,
            whole: None,
            buffer: self.operand_buffers(slice, lens[self.rank])?,
            lens,
            slice,
        };
        Ok((operands, own, held))
    }

    /// Combines this rank's part of all ranks' operands, and sends the result to all ranks that need it.
    async fn combine(&self, operands: &ReduceOperands) {
        let longest = operands.lens.iter().copied().max().unwrap_or(0);
        let steps = longest.div_ceil(operands.slice);
        let mut coming = self.exchange(operands, 0);
        let mut results = Messages::new();
        for step in 0..steps {
            let next = self.exchange(operands, step + 1);
            std::mem::replace(&mut coming, next).await;
            let (start, len) = slice(step, operands.slice, operands.lens[self.rank]);
            let own = operands.own.part(start, len);
            let operand = |rank| {
                if rank == self.rank {
                    own
                } else {
                    self.operand_buffer(operands, step, rank, len)
                }
            };
            self.fold_all(operands.combine_op, (0..self.size).map(operand), own);
            results.await;
            results = Messages::new();
            if let Some(whole) = operands.whole {
                self.send_around(&mut results, operands, whole, step);
            }
        }
        results.await;
    }

    /// Returns the buffer of a rank's operand in a step.
    fn operand_buffer(
        &self,
        operands: &ReduceOperands,
        step: usize,
        rank: usize,
        len: usize,
    ) -> Span {
        let all = operands.buffer.span;
        let one = all.len() / 2 / self.size;
        all.part(((step % 2) * self.size + rank) * one, len)
    }

    /// Starts the exchange of a step's operands.
    fn exchange(&self, operands: &ReduceOperands, step: usize) -> Messages {
        let mut messages = Messages::new();
        let (_, len) = slice(step, operands.slice, operands.lens[self.rank]);
        for (to, from) in self.peers() {
            let place = self.operand_buffer(operands, step, from, len);
            messages.receive(self.comm, from, OPERANDS, place);
            let (start, len) = slice(step, operands.slice, operands.lens[to]);
            if len > 0 {
                messages.send(
                    self.comm,
                    to,
                    OPERANDS,
                    &operands.sends[to].part(start, len),
                );
            }
        }
        messages
    }

    /// Starts to send this rank's results of a step to all, and to receive theirs. They overwrite operands that have
    /// been sent.
    fn send_around(
        &self,
        messages: &mut Messages,
        operands: &ReduceOperands,
        whole: Span,
        step: usize,
    ) {
        let (start, len) = slice(step, operands.slice, operands.lens[self.rank]);
        let own = Outgoing::Bytes(operands.own.part(start, len));
        for (to, from) in self.peers() {
            let before: usize = operands.lens[..from].iter().sum();
            let (start, len) = slice(step, operands.slice, operands.lens[from]);
            messages.receive(self.comm, from, RESULTS, whole.part(before + start, len));
            messages.send(self.comm, to, RESULTS, &own);
        }
    }

    /// Combines the operands of all ranks in rank order into `result`, which is this rank's operand or none of them.
    /// Overwrites operands.
    fn fold_all(
        &self,
        combine_op: CombineOp,
        mut operands: impl Iterator<Item = Span>,
        result: Span,
    ) {
        let Some(sum) = operands.next() else { return };
        // SAFETY: no message to or from the operands is in flight, and they do not overlap.
        unsafe {
            normalize_bools(combine_op.dtype, sum);
            for operand in operands {
                normalize_bools(combine_op.dtype, operand);
                fold(combine_op.op, combine_op.dtype, sum, operand);
            }
            sum.copy_to(result);
        }
    }

    pub(crate) async fn scan(
        &self,
        description: JobDescription,
        piece: Raw,
        combine: Combine,
    ) -> Result<Vec<Raw>> {
        let (dtype, bytes) = (piece.dtype(), piece.nbytes());
        let prepare = || {
            let combine_op = CombineOp::new(combine, dtype)?;
            let result = (self.rank > 0).then(|| ReceiveBuffer::new("mesh", dtype, piece.shape()));
            Ok((
                combine_op,
                ContiguousPiece::new(piece.clone())?,
                result.transpose()?,
            ))
        };
        let prepared = prepare();
        let result = if is_sent_along(self.size, bytes) {
            let payload = prepared.as_ref().ok().map(|(_, own, _)| own.span);
            // SAFETY: the tensor is only read.
            let payload = payload.map(|own| unsafe { own.bytes() });
            let (payloads, (combine_op, _own, result)) =
                self.agree(description, bytes, payload, prepared).await?;
            if let Some(result) = &result {
                let before = (0..self.rank).map(|rank| payloads.payload(rank, bytes));
                self.fold_all(combine_op, before, result.span);
            }
            result
        } else {
            let slice = self.slice();
            let prepared = prepared.and_then(|all| Ok((self.operand_buffers(slice, bytes)?, all)));
            let (_, (buffer, all)) = self.agree(description, 0, None, prepared).await?;
            self.pass_on(&all, &buffer, slice).await;
            all.2
        };
        // SAFETY: all of it was copied or received.
        Ok(result
            .into_iter()
            .map(|result| unsafe { result.into_tensor() })
            .collect())
    }

    /// Receives the combination of the earlier ranks' pieces, and passes it on combined with this rank's piece.
    async fn pass_on(
        &self,
        all: &(CombineOp, ContiguousPiece, Option<ReceiveBuffer>),
        buffer: &ReceiveBuffer,
        most: usize,
    ) {
        let (combine_op, own, result) = all;
        let last = self.rank + 1 == self.size;
        let half = buffer.span.len() / 2;
        let mut sent = [Messages::new(), Messages::new()];
        for step in 0..own.span.len().div_ceil(most) {
            let (start, len) = slice(step, most, own.span.len());
            let mut part = own.span.part(start, len);
            // The half of the buffer was sent two steps ago.
            std::mem::take(&mut sent[step % 2]).await;
            if let Some(result) = result {
                let received = result.span.part(start, len);
                let mut coming = Messages::new();
                coming.receive(self.comm, self.rank - 1, OPERANDS, received);
                coming.await;
                let sum = buffer.span.part(half * (step % 2), len);
                // SAFETY: no message to or from either is in flight; the piece is only read.
                unsafe {
                    normalize_bools(combine_op.dtype, received);
                    received.copy_to(sum);
                    fold(combine_op.op, combine_op.dtype, sum, part);
                }
                part = sum;
            }
            if !last {
                let data = Outgoing::Bytes(part);
                sent[step % 2].send(self.comm, self.rank + 1, OPERANDS, &data);
            }
        }
        let [even, odd] = sent;
        even.await;
        odd.await;
    }
}
