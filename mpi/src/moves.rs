//! Jobs that move pieces without combining them.

use nomina::{Error, ErrorKind, Result};
use nomina_runtime::Raw;

use crate::agree::{JobDescription, is_sent_along};
use crate::axis_comm::{AxisComm, ContiguousPiece, ReceiveBuffer, SendBuffer};
use crate::request::{Messages, Outgoing, Span};

/// The tag of pieces.
const PIECES: i32 = 1;

/// Returns an error for inconsistent pieces and sizes; `agree` reports it to all ranks.
pub(crate) fn require(holds: bool, kind: ErrorKind) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::new(kind, "mesh", "arguments do not match"))
}

/// Divides `len` bytes into parts that fit in a message: (start, length).
fn message_ranges(len: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..len)
        .step_by(most)
        .map(move |start| (start, most.min(len - start)))
}

impl AxisComm {
    fn send_to(&self, messages: &mut Messages, to: usize, data: &Outgoing) {
        for (start, len) in message_ranges(data.len(), self.max_message) {
            messages.send(self.comm, to, PIECES, &data.part(start, len));
        }
    }

    fn receive_from(&self, messages: &mut Messages, from: usize, into: Span) {
        for (start, len) in message_ranges(into.len(), self.max_message) {
            messages.receive(self.comm, from, PIECES, into.part(start, len));
        }
    }

    /// Returns the pieces of all ranks, after all messages have arrived; `own` is this rank's.
    fn received_pieces(&self, received: Vec<Option<ReceiveBuffer>>, own: &Raw) -> Vec<Raw> {
        let piece = |one: Option<ReceiveBuffer>| match one {
            // SAFETY: the messages that fill it have arrived in full.
            Some(one) => unsafe { one.into_tensor() },
            None => own.clone().detach(),
        };
        received.into_iter().map(piece).collect()
    }

    /// Allocates a buffer for the piece of each rank but this one.
    fn receive_buffers(
        &self,
        like: &Raw,
        shapes: &[Vec<usize>],
    ) -> Result<Vec<Option<ReceiveBuffer>>> {
        let own = shapes.get(self.rank).map(Vec::as_slice);
        require(
            shapes.len() == self.size && own == Some(like.shape()),
            ErrorKind::Shape,
        )?;
        let buffer = |(rank, shape): (usize, &Vec<usize>)| {
            let new = || ReceiveBuffer::new("mesh", like.dtype(), shape);
            (rank != self.rank).then(new).transpose()
        };
        shapes.iter().enumerate().map(buffer).collect()
    }

    pub(crate) async fn all_gather(
        &self,
        description: JobDescription,
        piece: Raw,
        shapes: Vec<Vec<usize>>,
    ) -> Result<Vec<Raw>> {
        let size = piece.dtype().size();
        let bytes = |shape: &Vec<usize>| {
            let count = shape
                .iter()
                .try_fold(size, |count, &size| count.checked_mul(size));
            count.unwrap_or(usize::MAX)
        };
        let most = shapes.iter().map(bytes).max().unwrap_or(0);
        let buffers = self.receive_buffers(&piece, &shapes);
        let received = if is_sent_along(self.size, most) {
            let prepared =
                buffers.and_then(|buffers| Ok((ContiguousPiece::new(piece.clone())?, buffers)));
            let payload = prepared.as_ref().ok().map(|(own, _)| own.span);
            // SAFETY: the piece is only read.
            let payload = payload.map(|own| unsafe { own.bytes() });
            let (payloads, (_, buffers)) = self.agree(description, most, payload, prepared).await?;
            for (rank, buffer) in buffers.iter().enumerate() {
                let Some(buffer) = buffer else { continue };
                let from = payloads.payload(rank, buffer.span.len());
                // SAFETY: the payload has arrived, and only this job uses the buffer.
                unsafe { buffer.span.bytes_mut().copy_from_slice(from.bytes()) };
            }
            buffers
        } else {
            let prepared = buffers
                .and_then(|buffers| Ok((SendBuffer::new(&piece, self.max_message)?, buffers)));
            let (_, (sending, buffers)) = self.agree(description, 0, None, prepared).await?;
            let mut messages = Messages::new();
            for (to, from) in self.peers() {
                if let Some(buffer) = &buffers[from] {
                    self.receive_from(&mut messages, from, buffer.span);
                }
                self.send_to(&mut messages, to, &sending.data);
            }
            messages.await;
            buffers
        };
        Ok(self.received_pieces(received, &piece))
    }

    pub(crate) async fn all_to_all(
        &self,
        description: JobDescription,
        pieces: Vec<Raw>,
        shapes: Vec<Vec<usize>>,
    ) -> Result<Vec<Raw>> {
        let prepare = || {
            require(pieces.len() == self.size, ErrorKind::Shape)?;
            let own = &pieces[self.rank];
            require(
                pieces.iter().all(|piece| piece.dtype() == own.dtype()),
                ErrorKind::DType,
            )?;
            let sending = pieces
                .iter()
                .map(|piece| SendBuffer::new(piece, self.max_message));
            Ok((
                sending.collect::<Result<Vec<_>>>()?,
                self.receive_buffers(own, &shapes)?,
            ))
        };
        let prepared = prepare();
        let (_, (sending, received)) = self.agree(description, 0, None, prepared).await?;
        let mut messages = Messages::new();
        for (to, from) in self.peers() {
            if let Some(buffer) = &received[from] {
                self.receive_from(&mut messages, from, buffer.span);
            }
            self.send_to(&mut messages, to, &sending[to].data);
        }
        messages.await;
        Ok(self.received_pieces(received, &pieces[self.rank]))
    }

    pub(crate) async fn shift(
        &self,
        description: JobDescription,
        piece: Raw,
        by: isize,
        shape: Vec<usize>,
    ) -> Result<Vec<Raw>> {
        // The number of ranks of an axis is small enough for this cast.
        let by = by.rem_euclid(self.size as isize) as usize;
        let (to, from) = (
            (self.rank + by) % self.size,
            (self.rank + self.size - by) % self.size,
        );
        let prepare = || {
            if by == 0 {
                require(shape == piece.shape(), ErrorKind::Shape)?;
                return Ok(None);
            }
            let buffer = ReceiveBuffer::new("mesh", piece.dtype(), &shape)?;
            Ok(Some((SendBuffer::new(&piece, self.max_message)?, buffer)))
        };
        let prepared = prepare();
        let (_, Some((sending, buffer))) = self.agree(description, 0, None, prepared).await? else {
            return Ok(vec![piece.detach()]);
        };
        let mut messages = Messages::new();
        self.receive_from(&mut messages, from, buffer.span);
        self.send_to(&mut messages, to, &sending.data);
        messages.await;
        // SAFETY: the message has arrived.
        Ok(vec![unsafe { buffer.into_tensor() }])
    }

    pub(crate) async fn broadcast(
        &self,
        description: JobDescription,
        piece: Raw,
        root: usize,
    ) -> Result<Vec<Raw>> {
        let prepare = || {
            require(root < self.size, ErrorKind::Argument)?;
            if root == self.rank {
                return SendBuffer::new(&piece, self.max_message).map(Ok);
            }
            ReceiveBuffer::new("mesh", piece.dtype(), piece.shape()).map(Err)
        };
        let prepared = prepare();
        let (_, prepared) = self.agree(description, 0, None, prepared).await?;
        for (start, len) in message_ranges(piece.nbytes(), self.max_message) {
            let part = prepared
                .as_ref()
                .map(|sending| sending.data.part(start, len));
            let mut messages = Messages::new();
            let part = part.as_ref().map_err(|buffer| buffer.span.part(start, len));
            messages.broadcast(self.comm, root, part);
            messages.await;
        }
        let one = match prepared {
            Ok(_) => piece.detach(),
            // SAFETY: the messages have arrived.
            Err(buffer) => unsafe { buffer.into_tensor() },
        };
        Ok(vec![one])
    }
}
