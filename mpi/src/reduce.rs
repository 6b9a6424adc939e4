//! Jobs that combine pieces.
//!
//! Each rank combines its own part, in rank order; if all ranks need the result, they exchange the combined parts. The
//! results are therefore bitwise equal on all ranks and from run to run, whatever algorithms the MPI library uses, and
//! they are computed by the same loops as elementwise operators.

use nomina::{DType, ErrorKind, Result};
use nomina_core::op::Op;
use nomina_mesh::{Combine, part};
use nomina_runtime::{Raw, call};

use crate::agree::{Word, is_together};
use crate::lane::{Arriving, Dense, Lane, Own, Sending, fold, mask, operator};
use crate::moves::check;
use crate::request::{Messages, Outgoing, Span};

/// The tag of operands.
const OPERANDS: i32 = 2;
/// The tag of combined results.
const RESULTS: i32 = 3;

/// The maximum bytes of temporary memory, besides operands and results.
const BESIDE: usize = 4 << 20;

/// The bytes combined in a step: they fit in a core's cache.
const SLICE: usize = 512 << 10;

/// An operator and a dtype.
#[derive(Clone, Copy)]
struct Kind {
    op: Op,
    dtype: DType,
}

impl Kind {
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
struct Parts {
    kind: Kind,
    /// The piece for each rank.
    sends: Vec<Outgoing>,
    /// The bytes that each rank combines.
    lens: Vec<usize>,
    /// This rank's own piece, which becomes its result.
    own: Span,
    /// The destination of all ranks' results, in rank order, if they are needed.
    whole: Option<Span>,
    /// The buffer for received operands.
    beside: Arriving,
    slice: usize,
}

impl Lane {
    /// Returns the bytes combined in a step. The buffer holds two steps of each rank's operands.
    fn slice(&self) -> usize {
        let fits = BESIDE / 2 / self.size;
        let slice = SLICE.min(fits).min(self.message);
        // A multiple of every dtype's size.
        (slice - slice % 16).max(16)
    }

    /// Allocates the buffer for the other ranks' operands of two steps.
    fn beside(&self, slice: usize, own: usize) -> Result<Arriving> {
        let len = slice.min(own).next_multiple_of(16);
        Arriving::new("mesh", DType::U8, &[2, self.size, len])
    }

    pub(crate) async fn all_reduce(
        &self,
        word: Word,
        piece: Raw,
        combine: Combine,
    ) -> Result<Vec<Raw>> {
        let (dtype, bytes) = (piece.dtype(), piece.nbytes());
        let count = piece.numel();
        let share = |rank| part(count, self.size, rank).1 * dtype.size();
        let lens: Vec<usize> = (0..self.size).map(share).collect();
        let kind = Kind::new(combine, dtype);
        let prepared = kind.and_then(|kind| Ok((kind, Own::new(piece)?)));
        let own_len = lens[self.rank];
        let own = if is_together(self.size, bytes) {
            let along = prepared.as_ref().ok().map(|(_, own)| own.span);
            // SAFETY: nothing writes to it before the exchange is complete.
            let along = along.map(|own| unsafe { own.bytes() });
            let (told, (kind, own)) = self.agree(word, bytes, along, prepared).await?;
            let operands = (0..self.size).map(|rank| told.payload(rank, bytes));
            self.fold_all(kind, operands, own.span);
            own
        } else {
            let slice = self.slice();
            let prepared = prepared.and_then(|(kind, own)| {
                let mut start = 0;
                let mut share = |&len: &usize| {
                    start += len;
                    Outgoing::Bytes(own.span.part(start - len, len))
                };
                let sends = lens.iter().map(&mut share).collect();
                let before = lens[..self.rank].iter().sum();
                let parts = Parts {
                    kind,
                    sends,
                    own: own.span.part(before, own_len),
                    whole: Some(own.span),
                    beside: self.beside(slice, own_len)?,
                    lens,
                    slice,
                };
                Ok((parts, own))
            });
            let (_, (parts, own)) = self.agree(word, 0, None, prepared).await?;
            self.combine(&parts).await;
            own
        };
        Ok(vec![own.done()])
    }

    pub(crate) async fn reduce_scatter(
        &self,
        word: Word,
        pieces: Vec<Raw>,
        combine: Combine,
    ) -> Result<Vec<Raw>> {
        let prepared = self.scattered(pieces, combine);
        let (_, (parts, own, _held)) = self.agree(word, 0, None, prepared).await?;
        self.combine(&parts).await;
        Ok(vec![own.done()])
    }

    fn scattered(
        &self,
        mut pieces: Vec<Raw>,
        combine: Combine,
    ) -> Result<(Parts, Own, Vec<Sending>)> {
        check(pieces.len() == self.size, ErrorKind::Shape)?;
        let dtype = pieces[self.rank].dtype();
        check(
            pieces.iter().all(|piece| piece.dtype() == dtype),
            ErrorKind::DType,
        )?;
        let kind = Kind::new(combine, dtype)?;
        let slice = self.slice();
        let lens: Vec<usize> = pieces.iter().map(Raw::nbytes).collect();
        // An empty piece in its place: this rank sends nothing to itself.
        let nothing = Raw::zeros("mesh", &[0], dtype, nomina_runtime::Device::Cpu)?;
        let own = Own::new(std::mem::replace(&mut pieces[self.rank], nothing))?;
        let held = pieces.iter().map(|piece| Sending::new(piece, slice));
        let held = held.collect::<Result<Vec<_>>>()?;
        let parts = Parts {
            kind,
            sends: held.iter().map(|one| one.what.clone()).collect(),
            own: own.span,
            whole: None,
            beside: self.beside(slice, lens[self.rank])?,
            lens,
            slice,
        };
        Ok((parts, own, held))
    }

    /// Combines this rank's part of all ranks' operands, and sends the result to all ranks that need it.
    async fn combine(&self, parts: &Parts) {
        let longest = parts.lens.iter().copied().max().unwrap_or(0);
        let steps = longest.div_ceil(parts.slice);
        let mut coming = self.exchange(parts, 0);
        let mut results = Messages::new();
        for step in 0..steps {
            let next = self.exchange(parts, step + 1);
            std::mem::replace(&mut coming, next).await;
            let (start, len) = slice(step, parts.slice, parts.lens[self.rank]);
            let own = parts.own.part(start, len);
            let operand = |rank| if rank == self.rank { own } else { self.place(parts, step, rank, len) };
            self.fold_all(parts.kind, (0..self.size).map(operand), own);
            results.await;
            results = Messages::new();
            if let Some(whole) = parts.whole {
                self.send_around(&mut results, parts, whole, step);
            }
        }
        results.await;
    }

    /// Returns the buffer of a rank's operand in a step.
    fn place(&self, parts: &Parts, step: usize, rank: usize, len: usize) -> Span {
        let all = parts.beside.span;
        let one = all.len() / 2 / self.size;
        all.part(((step % 2) * self.size + rank) * one, len)
    }

    /// Starts the exchange of a step's operands.
    fn exchange(&self, parts: &Parts, step: usize) -> Messages {
        let mut messages = Messages::new();
        let (_, len) = slice(step, parts.slice, parts.lens[self.rank]);
        for (to, from) in self.others() {
            let place = self.place(parts, step, from, len);
            messages.receive(self.comm, from, OPERANDS, place);
            let (start, len) = slice(step, parts.slice, parts.lens[to]);
            if len > 0 {
                messages.send(self.comm, to, OPERANDS, &parts.sends[to].part(start, len));
            }
        }
        messages
    }

    /// Starts to send this rank's results of a step to all, and to receive theirs. They overwrite operands that have
    /// been sent.
    fn send_around(&self, messages: &mut Messages, parts: &Parts, whole: Span, step: usize) {
        let (start, len) = slice(step, parts.slice, parts.lens[self.rank]);
        let own = Outgoing::Bytes(parts.own.part(start, len));
        for (to, from) in self.others() {
            let before: usize = parts.lens[..from].iter().sum();
            let (start, len) = slice(step, parts.slice, parts.lens[from]);
            messages.receive(self.comm, from, RESULTS, whole.part(before + start, len));
            messages.send(self.comm, to, RESULTS, &own);
        }
    }

    /// Combines the operands of all ranks in rank order into `result`, which is this rank's operand or none of them.
    /// Overwrites operands.
    fn fold_all(&self, kind: Kind, mut operands: impl Iterator<Item = Span>, result: Span) {
        let Some(sum) = operands.next() else { return };
        // SAFETY: no message to or from the operands is in flight, and they do not overlap.
        unsafe {
            mask(kind.dtype, sum);
            for operand in operands {
                mask(kind.dtype, operand);
                fold(kind.op, kind.dtype, sum, operand);
            }
            sum.copy_to(result);
        }
    }

    pub(crate) async fn scan(&self, word: Word, piece: Raw, combine: Combine) -> Result<Vec<Raw>> {
        let (dtype, bytes) = (piece.dtype(), piece.nbytes());
        let prepare = || {
            let kind = Kind::new(combine, dtype)?;
            let result = (self.rank > 0).then(|| Arriving::new("mesh", dtype, piece.shape()));
            Ok((kind, Dense::new(piece.clone())?, result.transpose()?))
        };
        let prepared = prepare();
        let result = if is_together(self.size, bytes) {
            let along = prepared.as_ref().ok().map(|(_, own, _)| own.span);
            // SAFETY: the tensor is only read.
            let along = along.map(|own| unsafe { own.bytes() });
            let (told, (kind, _own, result)) = self.agree(word, bytes, along, prepared).await?;
            if let Some(result) = &result {
                let before = (0..self.rank).map(|rank| told.payload(rank, bytes));
                self.fold_all(kind, before, result.span);
            }
            result
        } else {
            let slice = self.slice();
            let prepared = prepared.and_then(|all| Ok((self.beside(slice, bytes)?, all)));
            let (_, (beside, all)) = self.agree(word, 0, None, prepared).await?;
            self.pass_on(&all, &beside, slice).await;
            all.2
        };
        // SAFETY: all of it was copied or received.
        Ok(result
            .into_iter()
            .map(|result| unsafe { result.done() })
            .collect())
    }

    /// Receives the combination of the earlier ranks' pieces, and passes it on combined with this rank's piece.
    async fn pass_on(&self, all: &(Kind, Dense, Option<Arriving>), beside: &Arriving, most: usize) {
        let (kind, own, result) = all;
        let last = self.rank + 1 == self.size;
        let half = beside.span.len() / 2;
        let mut sent = [Messages::new(), Messages::new()];
        for step in 0..own.span.len().div_ceil(most) {
            let (start, len) = slice(step, most, own.span.len());
            let mut part = own.span.part(start, len);
            // The half of the buffer was sent two steps ago.
            std::mem::take(&mut sent[step % 2]).await;
            if let Some(result) = result {
                let came = result.span.part(start, len);
                let mut coming = Messages::new();
                coming.receive(self.comm, self.rank - 1, OPERANDS, came);
                coming.await;
                let sum = beside.span.part(half * (step % 2), len);
                // SAFETY: no message to or from either is in flight; the piece is only read.
                unsafe {
                    mask(kind.dtype, came);
                    came.copy_to(sum);
                    fold(kind.op, kind.dtype, sum, part);
                }
                part = sum;
            }
            if !last {
                let what = Outgoing::Bytes(part);
                sent[step % 2].send(self.comm, self.rank + 1, OPERANDS, &what);
            }
        }
        let [even, odd] = sent;
        even.await;
        odd.await;
    }
}
