//! Tensors on CUDA devices, exchanged by NCCL. The host's engine lets the ranks agree before each call, and runs the
//! jobs whose pieces are on the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nomina::{DType, Device, DynTensor, Error, ErrorKind, Result};
use nomina_core::mesh::{Combine, Placement};
use nomina_core::op::Op;
use nomina_runtime::{Raw, call::Communicator};

use crate::mesh::Mesh;
use crate::partition::part;
use crate::ranks::{Job, Ranks, Ticket};
use crate::threads::{combine_pieces, flatten, unnamed};

impl<M: Placement<Mesh = M>> Mesh<M> {
    /// Returns a mesh of the same ranks that exchanges tensors on `device` by NCCL, from GPU to GPU. Each rank passes a
    /// different device. Tensors on the host are exchanged as in this mesh.
    ///
    /// NCCL reduces in its own order, the same on all ranks.
    ///
    /// # Errors
    /// Returns an error on all ranks if NCCL or the device is missing on one of them, or if two ranks pass the same
    /// device.
    ///
    /// ```no_run
    /// use nomina::Device;
    /// use nomina_mesh::prelude::*;
    /// mesh! { Line: Data }
    ///
    /// Line::threads([2], |mesh| {
    ///     let device = Device::cuda(mesh.rank(Data))?;
    ///     let mesh = mesh.with_nccl(device)?;
    ///     // Tensors on the device that are distributed over `mesh` ...
    ///     Ok(())
    /// })?;
    /// # Ok::<(), nomina::Error>(())
    /// ```
    pub fn with_nccl(&self, device: Device) -> Result<Self> {
        self.shared.require_owner("with_nccl")?;
        let each = self.shared.axes.iter().map(|axis| {
            let host = Arc::clone(&axis.ranks);
            let ranks: Arc<dyn Ranks> = match host.size() {
                1 => host,
                _ => Arc::new(NcclRanks::new(host, device)?),
            };
            Ok(ranks)
        });
        self.with_ranks(each.collect::<Result<_>>()?)
    }
}

/// A rank of an axis with its device.
#[derive(Debug)]
struct NcclRanks {
    host: Arc<dyn Ranks>,
    nccl: Communicator,
    sent: AtomicU64,
}

/// Returns this rank's error, or an error if another rank has one.
fn agree_on_errors(ranks: &dyn Ranks, own: Result<()>) -> Result<()> {
    let flag = Raw::from_vec(vec![u8::from(own.is_ok())], &[1])?;
    let job = Job::AllGather {
        piece: flag,
        shapes: vec![vec![1]; ranks.size()],
    };
    let all = ranks.start(job)?.wait()?;
    own?;
    let failed = |flag: &Raw| flag.as_slice::<u8>() != Some(&[1]);
    match all.iter().position(failed) {
        None => Ok(()),
        Some(rank) => {
            let what = format!("rank {rank} failed: see its own error");
            Err(Error::new(ErrorKind::Mesh, "mesh", what))
        }
    }
}

/// Returns the operator that applies `combine` to two elements.
fn operator(combine: Combine) -> Op {
    match combine {
        Combine::Add => Op::Add,
        Combine::Mul => Op::Mul,
        Combine::Max => Op::Maximum,
        Combine::Min => Op::Minimum,
        Combine::Any => Op::LogicalOr,
        Combine::All => Op::LogicalAnd,
    }
}

fn bytes(piece: &Raw) -> u64 {
    piece.numel().saturating_mul(piece.dtype().size()) as u64
}

/// Returns whether all shapes are equal. Every rank gets the same answer, since all see the same shapes.
fn are_equal(shapes: &[Vec<usize>]) -> bool {
    shapes.iter().all(|shape| *shape == shapes[0])
}

impl NcclRanks {
    fn new(host: Arc<dyn Ranks>, device: Device) -> Result<Self> {
        let try_here = || {
            Raw::zeros("nccl", &[1], DType::U8, device)?;
            Communicator::unique_id()
        };
        let try_here = try_here();
        agree_on_errors(&*host, try_here.as_ref().map(|_| ()).map_err(Clone::clone))?;
        let job = Job::Broadcast {
            piece: Raw::from_vec(try_here?.to_vec(), &[128])?,
            root: 0,
        };
        let found = host.start(job)?.wait_for_one()?;
        let id = found.as_slice::<u8>().and_then(|id| id.try_into().ok());
        let id =
            id.ok_or_else(|| Error::new(ErrorKind::Mesh, "mesh", "no number of ranks came"))?;
        let nccl = Communicator::new(id, host.rank(), host.size(), device)?;
        Ok(Self {
            host,
            nccl,
            sent: AtomicU64::new(0),
        })
    }

    fn agreement(&self) -> impl FnOnce(Result<()>) -> Result<()> + '_ {
        |own| agree_on_errors(&*self.host, own)
    }

    fn count_sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the number of ranks besides this one.
    fn peer_count(&self) -> u64 {
        self.host.size() as u64 - 1
    }

    /// Sends a piece to each rank and receives one of the given shape from each. This rank's own piece is not copied.
    fn exchange(&self, pieces: Vec<Raw>, shapes: &[Vec<usize>]) -> Result<Vec<Raw>> {
        let (rank, size) = (self.host.rank(), self.host.size());
        if pieces.len() != size || shapes.len() != size {
            let what = format!("{} pieces for {size} ranks", pieces.len());
            return Err(Error::new(ErrorKind::Mesh, "mesh", what));
        }
        let dtype = pieces[rank].dtype();
        let own = pieces[rank].clone();
        let sent = pieces.into_iter().enumerate();
        let sent: Vec<_> = sent.filter(|(to, _)| *to != rank).collect();
        let received = shapes.iter().cloned().enumerate();
        let received: Vec<_> = received.filter(|(from, _)| *from != rank).collect();
        self.count_sent(sent.iter().map(|(_, piece)| bytes(piece)).sum());
        let mut found = self
            .nccl
            .exchange(&sent, &received, dtype, self.agreement())?;
        found.insert(rank, own);
        Ok(found)
    }

    fn gather(&self, piece: Raw, shapes: &[Vec<usize>]) -> Result<Vec<Raw>> {
        if are_equal(shapes) {
            self.count_sent(bytes(&piece) * self.peer_count());
            return self.nccl.all_gather(&piece, self.agreement());
        }
        self.exchange(vec![piece; self.host.size()], shapes)
    }

    fn reduce_scatter(&self, pieces: Vec<Raw>, combine: Combine) -> Result<Raw> {
        let rank = self.host.rank();
        let shapes: Vec<_> = pieces.iter().map(|piece| piece.shape().to_vec()).collect();
        let op = operator(combine);
        if are_equal(&shapes) && Communicator::combines(op, pieces[rank].dtype()) {
            let own = bytes(&pieces[rank]);
            self.count_sent(pieces.iter().map(bytes).sum::<u64>() - own);
            return self.nccl.reduce_scatter(op, &pieces, self.agreement());
        }
        let shape = shapes[rank].clone();
        let parts = self.exchange(pieces, &vec![shape; self.host.size()])?;
        combine_pieces(&parts, combine)
    }

    fn all_reduce(&self, piece: &Raw, combine: Combine) -> Result<Raw> {
        let (rank, size, count) = (self.host.rank(), self.host.size(), piece.numel());
        let parts: Vec<_> = (0..size).map(|rank| part(count, size, rank)).collect();
        let op = operator(combine);
        if Communicator::combines(op, piece.dtype()) {
            // The other ranks' parts to them, and this rank's combined part to all of them.
            let elements =
                count as u64 - parts[rank].1 as u64 + parts[rank].1 as u64 * self.peer_count();
            self.count_sent(elements * piece.dtype().size() as u64);
            return self.nccl.all_reduce(op, piece, self.agreement());
        }
        let elements = flatten(piece)?;
        let each = parts
            .iter()
            .map(|&(start, len)| elements.narrow(0, start, len));
        let own = self.exchange(
            each.collect::<Result<_>>()?,
            &vec![vec![parts[rank].1]; size],
        )?;
        let shapes: Vec<_> = parts.iter().map(|&(_, len)| vec![len]).collect();
        let all = self.gather(combine_pieces(&own, combine)?, &shapes)?;
        let all = all.into_iter().map(unnamed).collect::<Result<Vec<_>>>()?;
        let whole = DynTensor::cat(&all.iter().collect::<Vec<_>>(), 0)?;
        whole.into_parts().0.reshape(piece.shape())
    }

    fn run(&self, job: Job) -> Result<Vec<Raw>> {
        let (rank, size) = (self.host.rank(), self.host.size());
        match job {
            Job::AllReduce { piece, combine } => Ok(vec![self.all_reduce(&piece, combine)?]),
            Job::ReduceScatter { pieces, combine } => {
                Ok(vec![self.reduce_scatter(pieces, combine)?])
            }
            Job::AllGather { piece, shapes } => self.gather(piece, &shapes),
            Job::AllToAll { pieces, shapes } => self.exchange(pieces, &shapes),
            Job::Shift { piece, by, shape } => {
                let along = |by: isize| (rank as isize + by).rem_euclid(size as isize) as usize;
                if along(by) == rank {
                    return Ok(vec![piece]);
                }
                self.count_sent(bytes(&piece));
                let (dtype, to, from) = (piece.dtype(), along(by), along(-by));
                let (sent, received) = ([(to, piece)], [(from, shape)]);
                self.nccl
                    .exchange(&sent, &received, dtype, self.agreement())
            }
            Job::Broadcast { piece, root } => {
                self.count_sent(if rank == root {
                    bytes(&piece) * self.peer_count()
                } else {
                    0
                });
                Ok(vec![self.nccl.broadcast(&piece, root, self.agreement())?])
            }
            Job::Scan { piece, combine } => {
                let (dtype, shape) = (piece.dtype(), piece.shape().to_vec());
                let sent: Vec<_> = (rank + 1..size).map(|to| (to, piece.clone())).collect();
                let received: Vec<_> = (0..rank).map(|from| (from, shape.clone())).collect();
                self.count_sent(sent.iter().map(|(_, piece)| bytes(piece)).sum());
                let before = self
                    .nccl
                    .exchange(&sent, &received, dtype, self.agreement())?;
                if before.is_empty() {
                    Ok(before)
                } else {
                    Ok(vec![combine_pieces(&before, combine)?])
                }
            }
            Job::Barrier => self.host.start(Job::Barrier)?.wait(),
        }
    }
}

impl Ranks for NcclRanks {
    fn rank(&self) -> usize {
        self.host.rank()
    }

    fn size(&self) -> usize {
        self.host.size()
    }

    fn start(&self, job: Job) -> Result<Ticket> {
        let piece_of_job = match &job {
            Job::AllReduce { piece, .. }
            | Job::AllGather { piece, .. }
            | Job::Shift { piece, .. }
            | Job::Broadcast { piece, .. }
            | Job::Scan { piece, .. } => Some(piece),
            Job::ReduceScatter { pieces, .. } | Job::AllToAll { pieces, .. } => pieces.first(),
            Job::Barrier => None,
        };
        match piece_of_job.is_some_and(|piece| !piece.device().is_cpu()) {
            // The call is enqueued on the device's stream, which keeps the order of the jobs.
            true => Ok(Ticket::done(self.run(job)?)),
            false => self.host.start(job),
        }
    }

    fn sent(&self) -> u64 {
        self.host.sent() + self.sent.load(Ordering::Relaxed)
    }

    fn abort(&self, code: i32) -> ! {
        self.host.abort(code)
    }
}
