//! Communication between CUDA devices by NCCL.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result};

use super::index::cat;
use super::{check, contiguous};
use crate::Device;
use crate::cuda::nccl::{Handle, ID, NcclReduction, reduction, unique_id};
use crate::raw::Raw;

/// One rank among CUDA devices, one device each, that exchange tensors by NCCL. All ranks make the same calls in the
/// same order with the same sizes; otherwise they wait for each other forever.
///
/// Each call first prepares what it needs: contiguous copies of operands, and memory for the result. It passes its
/// success to `ready`, which asks the other ranks and returns an error if one of them failed; then nothing is started.
/// Otherwise a rank without memory would leave the others waiting.
#[derive(Debug)]
pub struct Communicator {
    handle: Handle,
    device: Device,
    size: usize,
}

const OP: &str = "nccl";

/// Returns the prepared value if all ranks are ready.
fn agreed<T>(own: Result<T>, ready: impl FnOnce(Result<()>) -> Result<()>) -> Result<T> {
    ready(own.as_ref().map(|_| ()).map_err(Clone::clone))?;
    own
}

fn start(raw: &Raw) -> *mut u8 {
    raw.as_ptr().cast_mut()
}

impl Communicator {
    /// Returns a new identifier by which ranks find each other: one rank requests it and shares it with the others.
    ///
    /// # Errors
    /// If NCCL is not installed.
    pub fn unique_id() -> Result<[u8; ID]> {
        unique_id(OP)
    }

    /// Connects this rank of `size`, whose tensors are on the device. Waits for the others.
    ///
    /// # Errors
    /// If NCCL or the device is missing, the device is not a CUDA device, or another rank has the same one.
    pub fn new(id: [u8; ID], rank: usize, size: usize, device: Device) -> Result<Self> {
        let device = device.resolved();
        let Device::Cuda(ordinal) = device else {
            let what = format!("ranks exchange tensors on CUDA devices, not on `{device}`");
            return Err(Error::new(ErrorKind::Device, OP, what));
        };
        let ordinal = ordinal.unwrap_or_else(crate::cuda::current);
        Ok(Self {
            handle: Handle::new(OP, id, [rank, size], ordinal)?,
            device,
            size,
        })
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Whether NCCL combines this dtype by the operator `combine`: `add`, `mul`, `maximum`, `minimum`, `logical_or` or
    /// `logical_and`. It has no 16-bit integers and no complex products, and its extremes ignore NaN.
    #[must_use]
    pub fn combines(combine: Op, dtype: DType) -> bool {
        reduction(combine, dtype).is_some()
    }

    /// Combines all ranks' pieces, which have equal sizes.
    ///
    /// # Errors
    /// If the piece is on another device, NCCL does not combine like this, or memory is missing; also those of `ready`.
    pub fn all_reduce(
        &self,
        combine: Op,
        piece: &Raw,
        ready: impl FnOnce(Result<()>) -> Result<()>,
    ) -> Result<Raw> {
        let own = || {
            let how = self.how(combine, piece.dtype())?;
            let (piece, out) = (self.dense(piece)?, self.room(piece.shape(), piece.dtype())?);
            Ok((how, piece, out))
        };
        let (how, piece, mut out) = agreed(own(), ready)?;
        let ends = [start(&piece), out.fresh_ptr()];
        // SAFETY: both have the elements of the piece, without gaps; the result is new.
        unsafe { self.handle.all_reduce(OP, how, ends, piece.numel())? };
        Ok(out)
    }

    /// Combines all ranks' pieces for this rank. There is a piece for each rank, all of equal sizes.
    ///
    /// # Errors
    /// The errors of [`all_reduce`](Self::all_reduce); also if the number of pieces is wrong, or their sizes differ.
    pub fn reduce_scatter(
        &self,
        combine: Op,
        pieces: &[Raw],
        ready: impl FnOnce(Result<()>) -> Result<()>,
    ) -> Result<Raw> {
        let own = || {
            let Some(first) = pieces.first().filter(|_| pieces.len() == self.size) else {
                let what = format!("{} pieces for {} ranks", pieces.len(), self.size);
                return Err(Error::new(ErrorKind::Argument, OP, what));
            };
            let alike =
                |piece: &Raw| piece.shape() == first.shape() && piece.dtype() == first.dtype();
            if !pieces.iter().all(alike) {
                return Err(Error::new(
                    ErrorKind::Shape,
                    OP,
                    "pieces of different sizes",
                ));
            }
            let how = self.how(combine, first.dtype())?;
            let rows = pieces
                .iter()
                .map(|piece| self.dense(piece)?.reshape(&[piece.numel()]));
            let rows = rows.collect::<Result<Vec<_>>>()?;
            let all = contiguous(&cat(&rows.iter().collect::<Vec<_>>(), 0)?)?;
            Ok((how, all, self.room(first.shape(), first.dtype())?))
        };
        let (how, all, mut out) = agreed(own(), ready)?;
        let count = out.numel();
        let ends = [start(&all), out.fresh_ptr()];
        // SAFETY: equally many elements for each rank, contiguous; the result is new and has room for them.
        unsafe { self.handle.reduce_scatter(OP, how, ends, count)? };
        Ok(out)
    }

    /// Gathers the pieces of all ranks, which have equal sizes, by rank.
    ///
    /// # Errors
    /// If the piece is on another device, or memory is missing; also those of `ready`.
    pub fn all_gather(
        &self,
        piece: &Raw,
        ready: impl FnOnce(Result<()>) -> Result<()>,
    ) -> Result<Vec<Raw>> {
        let own = || {
            let piece = self.dense(piece)?;
            let out = self.room(&[self.size, piece.numel()], piece.dtype())?;
            Ok((piece, out))
        };
        let (piece, mut out) = agreed(own(), ready)?;
        let ends = [start(&piece), out.fresh_ptr()];
        // SAFETY: the piece has no gaps; the result is new and has room for one of each rank.
        unsafe { self.handle.all_gather(OP, ends, piece.nbytes())? };
        let each = (0..self.size).map(|rank| out.narrow(0, rank, 1)?.reshape(piece.shape()));
        each.collect()
    }

    /// Returns the piece of rank `root`; the pieces of the others have its sizes and dtype.
    ///
    /// # Errors
    /// The errors of [`all_gather`](Self::all_gather); also if there is no such rank.
    pub fn broadcast(
        &self,
        piece: &Raw,
        root: usize,
        ready: impl FnOnce(Result<()>) -> Result<()>,
    ) -> Result<Raw> {
        let own = || {
            self.peer(root)?;
            Ok((self.dense(piece)?, self.room(piece.shape(), piece.dtype())?))
        };
        let (piece, mut out) = agreed(own(), ready)?;
        let ends = [start(&piece), out.fresh_ptr()];
        // SAFETY: both have the bytes of the piece, without gaps; the result is new.
        unsafe {
            self.handle
                .broadcast(OP, ends, piece.nbytes(), root as i32)?
        };
        Ok(out)
    }

    /// Sends pieces to some ranks, and receives pieces with these sizes and this dtype from some. The other ranks have
    /// to make the matching calls.
    ///
    /// # Errors
    /// The errors of [`broadcast`](Self::broadcast).
    pub fn exchange(
        &self,
        sent: &[(usize, Raw)],
        received: &[(usize, Vec<usize>)],
        dtype: DType,
        ready: impl FnOnce(Result<()>) -> Result<()>,
    ) -> Result<Vec<Raw>> {
        let own = || {
            let sent = sent.iter().map(|(peer, piece)| {
                self.peer(*peer)?;
                Ok((*peer, self.dense(piece)?))
            });
            let received = received.iter().map(|(peer, shape)| {
                self.peer(*peer)?;
                Ok((*peer, self.room(shape, dtype)?))
            });
            Ok((
                sent.collect::<Result<Vec<_>>>()?,
                received.collect::<Result<Vec<_>>>()?,
            ))
        };
        let (sent, mut received) = agreed(own(), ready)?;
        // Pieces without elements are not sent.
        let sends = sent
            .iter()
            .map(|(peer, piece)| (*peer, start(piece), piece.nbytes()));
        let receives = received.iter_mut().map(|(peer, piece)| {
            let bytes = piece.nbytes();
            (*peer, piece.fresh_ptr(), bytes)
        });
        let some = |&(_, _, bytes): &(usize, *mut u8, usize)| bytes > 0;
        let (sends, receives): (Vec<_>, Vec<_>) = (
            sends.filter(some).collect(),
            receives.filter(some).collect(),
        );
        // SAFETY: pieces without gaps, and new ones, of these numbers of bytes.
        unsafe { self.handle.exchange(OP, &sends, &receives)? };
        Ok(received.into_iter().map(|(_, piece)| piece).collect())
    }

    fn how(&self, combine: Op, dtype: DType) -> Result<NcclReduction> {
        reduction(combine, dtype).ok_or_else(|| {
            let what = format!("NCCL does not combine {dtype} by {}", combine.name());
            Error::new(ErrorKind::DType, OP, what)
        })
    }

    /// Returns the elements without gaps.
    fn dense(&self, piece: &Raw) -> Result<Raw> {
        if piece.device() == self.device {
            contiguous(&piece.clone().detach())
        } else {
            Err(check::mixed_devices(OP, piece.device(), self.device))
        }
    }

    fn room(&self, shape: &[usize], dtype: DType) -> Result<Raw> {
        Raw::empty(OP, shape, dtype, self.device)
    }

    fn peer(&self, rank: usize) -> Result<()> {
        if rank < self.size {
            Ok(())
        } else {
            let what = format!("no rank {rank} among {}", self.size);
            Err(Error::new(ErrorKind::Argument, OP, what))
        }
    }
}
