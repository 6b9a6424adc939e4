//! Exchange between CUDA devices, by NCCL.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result};

use super::index::cat;
use super::reduce::address;
use super::{contiguous, device};
use crate::Device;
use crate::cuda::nccl::{Handle, ID, Reduction, reduction, unique_id};
use crate::raw::Raw;

/// One rank of some CUDA devices, a device each, that exchange tensors by NCCL. All ranks make the same calls in the same order, with the same
/// sizes; otherwise they wait for each other without end.
///
/// Each call first makes ready what it needs: copies of operands that lie otherwise, and memory for the result. It hands
/// whether that went well to `ready`, which asks the other ranks and gives an error if one of them cannot: nothing is
/// started then. Without that a rank that lacks memory would leave the others waiting.
#[derive(Debug)]
pub struct Communicator {
    handle: Handle,
    device: Device,
    size: usize,
}

const OP: &str = "nccl";

/// What was made ready, if all ranks are.
fn agreed<T>(own: Result<T>, ready: impl FnOnce(Result<()>) -> Result<()>) -> Result<T> {
    ready(own.as_ref().map(|_| ()).map_err(Clone::clone))?;
    own
}

fn start(raw: &Raw) -> *mut u8 {
    raw.as_ptr().cast_mut()
}

impl Communicator {
    /// A number by which ranks find each other: one of them asks for it, and tells the others.
    ///
    /// # Errors
    /// When NCCL is not installed.
    pub fn unique_id() -> Result<[u8; ID]> {
        unique_id(OP)
    }

    /// This rank of `size`, whose tensors lie on the device. Waits for the others.
    ///
    /// # Errors
    /// When NCCL or the device is missing, when the device is no CUDA device, or another rank has the same one.
    pub fn new(id: [u8; ID], rank: usize, size: usize, device: Device) -> Result<Self> {
        let device = device.resolved();
        let Device::Cuda(ordinal) = device else {
            let what = format!("ranks exchange tensors on CUDA devices, and this is `{device}`");
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

    /// Whether NCCL combines such elements as the operator `combine` does, `add`, `mul`, `maximum`, `minimum`, `logical_or` or
    /// `logical_and`. It has no 16-bit integers and no complex products, and its extremes pass over NaN.
    #[must_use]
    pub fn combines(combine: Op, dtype: DType) -> bool {
        reduction(combine, dtype).is_some()
    }

    /// The combination of all ranks' pieces, which have equal sizes.
    ///
    /// # Errors
    /// When the piece lies on another device, when NCCL does not combine so, when memory is missing; those of `ready`.
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
        let ends = [start(&piece), address(&mut out)];
        // SAFETY: both have the elements of the piece, without gaps; the result is new.
        unsafe { self.handle.all_reduce(OP, how, ends, piece.numel())? };
        Ok(out)
    }

    /// The combination of all ranks' pieces for this one. There is a piece for each rank, all of equal sizes.
    ///
    /// # Errors
    /// As of [`all_reduce`](Self::all_reduce), and when there are more or fewer pieces, or of different sizes.
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
        let ends = [start(&all), address(&mut out)];
        // SAFETY: as many elements for each rank, side by side; the result is new and has so many.
        unsafe { self.handle.reduce_scatter(OP, how, ends, count)? };
        Ok(out)
    }

    /// The pieces of all ranks, which have equal sizes, by rank.
    ///
    /// # Errors
    /// When the piece lies on another device, when memory is missing; those of `ready`.
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
        let ends = [start(&piece), address(&mut out)];
        // SAFETY: the piece has no gaps; the result is new and has room for one of each rank.
        unsafe { self.handle.all_gather(OP, ends, piece.nbytes())? };
        let each = (0..self.size).map(|rank| out.narrow(0, rank, 1)?.reshape(piece.shape()));
        each.collect()
    }

    /// The piece of rank `root`; those of the others have its sizes and dtype.
    ///
    /// # Errors
    /// As of [`all_gather`](Self::all_gather), and when there is no such rank.
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
        let ends = [start(&piece), address(&mut out)];
        // SAFETY: both have the bytes of the piece, without gaps; the result is new.
        unsafe {
            self.handle
                .broadcast(OP, ends, piece.nbytes(), root as i32)?
        };
        Ok(out)
    }

    /// Sends pieces to some ranks, and receives pieces of such sizes from some: with whom, and what. Those that are received
    /// have the dtype. The others have to receive and send the same.
    ///
    /// # Errors
    /// As of [`broadcast`](Self::broadcast).
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
        // What has no elements is not sent.
        let sends = sent
            .iter()
            .map(|(peer, piece)| (*peer, start(piece), piece.nbytes()));
        let receives = received.iter_mut().map(|(peer, piece)| {
            let bytes = piece.nbytes();
            (*peer, address(piece), bytes)
        });
        let some = |&(_, _, bytes): &(usize, *mut u8, usize)| bytes > 0;
        let (sends, receives): (Vec<_>, Vec<_>) = (
            sends.filter(some).collect(),
            receives.filter(some).collect(),
        );
        // SAFETY: pieces without gaps, and new ones, of so many bytes.
        unsafe { self.handle.exchange(OP, &sends, &receives)? };
        Ok(received.into_iter().map(|(_, piece)| piece).collect())
    }

    fn how(&self, combine: Op, dtype: DType) -> Result<Reduction> {
        reduction(combine, dtype).ok_or_else(|| {
            let what = format!("NCCL does not combine {dtype} by {}", combine.name());
            Error::new(ErrorKind::DType, OP, what)
        })
    }

    /// The elements, without gaps.
    fn dense(&self, piece: &Raw) -> Result<Raw> {
        match piece.device() == self.device {
            true => contiguous(&piece.clone().detach()),
            false => Err(device::mixed(OP, piece.device(), self.device)),
        }
    }

    fn room(&self, shape: &[usize], dtype: DType) -> Result<Raw> {
        Raw::empty(OP, shape, dtype, self.device)
    }

    fn peer(&self, rank: usize) -> Result<()> {
        match rank < self.size {
            true => Ok(()),
            false => {
                let what = format!("there is no rank {rank} of {}", self.size);
                Err(Error::new(ErrorKind::Argument, OP, what))
            }
        }
    }
}
