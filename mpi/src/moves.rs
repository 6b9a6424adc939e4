//! Jobs that move pieces without combining them.

use nomina::{Error, ErrorKind, Result};
use nomina_runtime::Raw;

use crate::agree::{Word, is_together};
use crate::lane::{Arriving, Dense, Lane, Sending};
use crate::request::{Messages, Outgoing, Span};

/// The tag of pieces.
const PIECES: i32 = 1;

/// Returns an error for inconsistent pieces and sizes; `agree` reports it to all ranks.
pub(crate) fn check(holds: bool, kind: ErrorKind) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::new(
        kind,
        "mesh",
        "arguments that do not belong together",
    ))
}

/// Divides `len` bytes into parts that fit in a message: (start, length).
fn parts(len: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..len)
        .step_by(most)
        .map(move |start| (start, most.min(len - start)))
}

impl Lane {
    fn send_to(&self, messages: &mut Messages, to: usize, what: &Outgoing) {
        for (start, len) in parts(what.len(), self.message) {
            messages.send(self.comm, to, PIECES, &what.part(start, len));
        }
    }

    fn receive_from(&self, messages: &mut Messages, from: usize, into: Span) {
        for (start, len) in parts(into.len(), self.message) {
            messages.receive(self.comm, from, PIECES, into.part(start, len));
        }
    }

    /// Returns the pieces of all ranks, after all messages have arrived; `own` is this rank's.
    fn arrived(&self, came: Vec<Option<Arriving>>, own: &Raw) -> Vec<Raw> {
        let piece = |one: Option<Arriving>| match one {
            // SAFETY: the messages that fill it have arrived in full.
            Some(one) => unsafe { one.done() },
            None => own.clone().detach(),
        };
        came.into_iter().map(piece).collect()
    }

    /// Allocates a buffer for the piece of each rank but this one.
    fn places(&self, like: &Raw, shapes: &[Vec<usize>]) -> Result<Vec<Option<Arriving>>> {
        let own = shapes.get(self.rank).map(Vec::as_slice);
        check(
            shapes.len() == self.size && own == Some(like.shape()),
            ErrorKind::Shape,
        )?;
        let place = |(rank, shape): (usize, &Vec<usize>)| {
            let new = || Arriving::new("mesh", like.dtype(), shape);
            (rank != self.rank).then(new).transpose()
        };
        shapes.iter().enumerate().map(place).collect()
    }

    pub(crate) async fn all_gather(
        &self,
        word: Word,
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
        let places = self.places(&piece, &shapes);
        let came = if is_together(self.size, most) {
            let prepared = places.and_then(|places| Ok((Dense::new(piece.clone())?, places)));
            let along = prepared.as_ref().ok().map(|(own, _)| own.span);
            // SAFETY: the piece is only read.
            let along = along.map(|own| unsafe { own.bytes() });
            let (told, (_, places)) = self.agree(word, most, along, prepared).await?;
            for (rank, place) in places.iter().enumerate() {
                let Some(place) = place else { continue };
                let from = told.payload(rank, place.span.len());
                // SAFETY: the payload has arrived, and only this job uses the buffer.
                unsafe { place.span.bytes_mut().copy_from_slice(from.bytes()) };
            }
            places
        } else {
            let prepared =
                places.and_then(|places| Ok((Sending::new(&piece, self.message)?, places)));
            let (_, (sending, places)) = self.agree(word, 0, None, prepared).await?;
            let mut messages = Messages::new();
            for (to, from) in self.others() {
                if let Some(place) = &places[from] {
                    self.receive_from(&mut messages, from, place.span);
                }
                self.send_to(&mut messages, to, &sending.what);
            }
            messages.await;
            places
        };
        Ok(self.arrived(came, &piece))
    }

    pub(crate) async fn all_to_all(
        &self,
        word: Word,
        pieces: Vec<Raw>,
        shapes: Vec<Vec<usize>>,
    ) -> Result<Vec<Raw>> {
        let prepare = || {
            check(pieces.len() == self.size, ErrorKind::Shape)?;
            let own = &pieces[self.rank];
            check(
                pieces.iter().all(|piece| piece.dtype() == own.dtype()),
                ErrorKind::DType,
            )?;
            let sending = pieces.iter().map(|piece| Sending::new(piece, self.message));
            Ok((
                sending.collect::<Result<Vec<_>>>()?,
                self.places(own, &shapes)?,
            ))
        };
        let prepared = prepare();
        let (_, (sending, came)) = self.agree(word, 0, None, prepared).await?;
        let mut messages = Messages::new();
        for (to, from) in self.others() {
            if let Some(place) = &came[from] {
                self.receive_from(&mut messages, from, place.span);
            }
            self.send_to(&mut messages, to, &sending[to].what);
        }
        messages.await;
        Ok(self.arrived(came, &pieces[self.rank]))
    }

    pub(crate) async fn shift(
        &self,
        word: Word,
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
                check(shape == piece.shape(), ErrorKind::Shape)?;
                return Ok(None);
            }
            let place = Arriving::new("mesh", piece.dtype(), &shape)?;
            Ok(Some((Sending::new(&piece, self.message)?, place)))
        };
        let prepared = prepare();
        let (_, Some((sending, place))) = self.agree(word, 0, None, prepared).await? else {
            return Ok(vec![piece.detach()]);
        };
        let mut messages = Messages::new();
        self.receive_from(&mut messages, from, place.span);
        self.send_to(&mut messages, to, &sending.what);
        messages.await;
        // SAFETY: the message has arrived.
        Ok(vec![unsafe { place.done() }])
    }

    pub(crate) async fn broadcast(&self, word: Word, piece: Raw, root: usize) -> Result<Vec<Raw>> {
        let prepare = || {
            check(root < self.size, ErrorKind::Argument)?;
            if root == self.rank {
                return Sending::new(&piece, self.message).map(Ok);
            }
            Arriving::new("mesh", piece.dtype(), piece.shape()).map(Err)
        };
        let prepared = prepare();
        let (_, prepared) = self.agree(word, 0, None, prepared).await?;
        for (start, len) in parts(piece.nbytes(), self.message) {
            let part = prepared
                .as_ref()
                .map(|sending| sending.what.part(start, len));
            let mut messages = Messages::new();
            let part = part.as_ref().map_err(|place| place.span.part(start, len));
            messages.broadcast(self.comm, root, part);
            messages.await;
        }
        let one = match prepared {
            Ok(_) => piece.detach(),
            // SAFETY: the messages have arrived.
            Err(place) => unsafe { place.done() },
        };
        Ok(vec![one])
    }
}
