//! Gradients that wait to be summed over the ranks of an axis, and those on their way.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use nomina::{Error, ErrorKind, Result};
use nomina_runtime::Raw;

use crate::check::TensorDescription;
use crate::origin::CallSite;
use crate::ranks::Ticket;

/// The default bucket size in bytes: 25 MiB, as `bucket_cap_mb` of PyTorch's data-parallel module.
pub(crate) const DEFAULT_BUCKET_CAP: usize = 25 << 20;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The gradients of an axis that are not sent yet.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) grads: Vec<QueuedGrad>,
    pub(crate) bytes: usize,
}

/// A gradient that is not sent yet.
#[derive(Debug)]
pub(crate) struct QueuedGrad {
    pub(crate) state: Weak<Mutex<GradState>>,
    /// The tensor that [`whole`](crate::Sharded::whole) was called on and the call, for the ranks to compare.
    pub(crate) item: TensorDescription,
    pub(crate) at: CallSite,
}

/// A gradient on its way.
#[derive(Debug)]
pub(crate) enum GradState {
    /// The gradient, still in the queue.
    Queued(Raw),
    /// Sent: the elements from `start` on, in `shape`, of a block's sum.
    Sent {
        block: Arc<Block>,
        start: usize,
        shape: Vec<usize>,
    },
}

/// Gradients that are summed together.
#[derive(Debug)]
pub(crate) struct Block(pub(crate) Mutex<Sum>);

#[derive(Debug)]
pub(crate) enum Sum {
    Started(Ticket),
    Done(Result<Raw>),
}

impl Block {
    pub(crate) fn wait(&self) -> Result<Raw> {
        let mut sum = lock(&self.0);
        let lost = Error::new(ErrorKind::Mesh, "whole", "the sum was already taken");
        let found = match mem::replace(&mut *sum, Sum::Done(Err(lost))) {
            Sum::Started(ticket) => ticket.wait_for_one(),
            Sum::Done(found) => found,
        };
        *sum = Sum::Done(found.clone());
        found
    }
}
