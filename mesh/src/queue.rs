//! Buckets of gradients that are summed over the ranks of an axis during backward: gradients are queued as they are
//! computed, sent in blocks, and waited for when they are read.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use nomina::{DynTensor, Error, ErrorKind, Name, Names, Result};
use nomina_core::mesh::Combine;
use nomina_runtime::Raw;

use crate::check::{Description, TensorDescription};
use crate::mesh::Shared;
use crate::metadata::{CallSite, Metadata};
use crate::ranks::{Job, Ticket};

/// The default bucket size in bytes: 25 MiB, as `bucket_cap_mb` of PyTorch's data-parallel module.
pub(crate) const DEFAULT_BUCKET_CAP: usize = 25 << 20;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The gradients of an axis that are not sent yet.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    grads: Vec<QueuedGrad>,
    bytes: usize,
}

/// A gradient that is not sent yet.
#[derive(Debug)]
struct QueuedGrad {
    state: Weak<Mutex<GradState>>,
    /// The tensor that [`whole`](crate::Sharded::whole) was called on and the call, for the ranks to compare.
    item: TensorDescription,
    at: CallSite,
}

/// A gradient on its way.
#[derive(Debug)]
enum GradState {
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
struct Block(Mutex<Sum>);

#[derive(Debug)]
enum Sum {
    Started(Ticket),
    Done(Result<Raw>),
}

impl Block {
    fn wait(&self) -> Result<Raw> {
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

/// Adds a gradient to the queue of an axis. The returned closure waits for its sum.
pub(crate) fn add(
    metadata: &Metadata,
    axis: usize,
    grad: &Raw,
    at: CallSite,
) -> Result<impl FnOnce() -> Result<Raw> + use<>> {
    let shared = &metadata.shared;
    let grad = grad.clone().detach();
    let (bytes, cap) = (grad.nbytes(), shared.bucket_cap());
    let has_other_dtype = |state: &Arc<Mutex<GradState>>| match &*lock(state) {
        GradState::Queued(raw) => raw.dtype() != grad.dtype(),
        GradState::Sent { .. } => false,
    };
    let mut queue = lock(&shared.axes[axis].queue);
    let first = queue.grads.iter().find_map(|grad| grad.state.upgrade());
    if queue.bytes.saturating_add(bytes) > cap || first.is_some_and(|first| has_other_dtype(&first))
    {
        send(shared, axis, &mut queue)?;
    }
    let item = TensorDescription {
        role: "gradient",
        names: metadata.names.to_vec(),
        sizes: metadata.sizes.clone(),
        places: metadata.places.clone(),
        dtype: Some(grad.dtype()),
        origin: Some(metadata.origin),
        at: Some(at),
        extra: String::new(),
    };
    let state = Arc::new(Mutex::new(GradState::Queued(grad)));
    queue.grads.push(QueuedGrad {
        state: Arc::downgrade(&state),
        item,
        at,
    });
    queue.bytes += bytes;
    if queue.bytes >= cap {
        send(shared, axis, &mut queue)?;
    }
    drop(queue);
    let shared = Arc::clone(shared);
    Ok(move || {
        if matches!(*lock(&state), GradState::Queued(_)) {
            // Backward has reached the point where gradients are read, so the queues are complete. All ranks get here
            // with the same queues.
            for (index, axis) in shared.axes.iter().enumerate() {
                send(&shared, index, &mut lock(&axis.queue))?;
            }
        }
        let state = lock(&state);
        match &*state {
            GradState::Queued(_) => Err(Error::new(ErrorKind::Mesh, "whole", "no sum was started")),
            GradState::Sent {
                block,
                start,
                shape,
            } => {
                let len = shape.iter().product();
                block.wait()?.narrow(0, *start, len)?.reshape(shape)
            }
        }
    })
}

/// Starts the sum of the gradients in a queue.
fn send(shared: &Shared, axis: usize, queue: &mut Queue) -> Result<()> {
    let Queue { grads, .. } = mem::take(queue);
    // The first gradient's call names the block, even if that gradient is no longer wanted.
    let Some(at) = grads.first().map(|first| first.at) else {
        return Ok(());
    };
    // A gradient whose backward pass failed is no longer wanted.
    let wanted = grads
        .into_iter()
        .filter_map(|grad| Some((grad.state.upgrade()?, grad.item)));
    let (states, items): (Vec<_>, Vec<_>) = wanted.unzip();
    if states.is_empty() {
        return Ok(());
    }
    let (mut rows, mut sizes) = (Vec::new(), Vec::new());
    for state in &states {
        if let GradState::Queued(grad) = &*lock(state) {
            let row = grad.reshape(&[grad.numel()])?;
            rows.push(DynTensor::from_parts(row, Names::unnamed(1))?);
            sizes.push(grad.numel());
        }
    }
    let piece = match &rows[..] {
        [one] => one.raw().clone(),
        all => {
            DynTensor::cat(&all.iter().collect::<Vec<_>>(), 0)?
                .into_parts()
                .0
        }
    };
    drop(rows);
    let names: Vec<Option<Name>> = vec![None; sizes.len()];
    let combine = Combine::Add;
    let description = Description {
        names: &names,
        sizes: &sizes,
        dtype: Some(piece.dtype()),
        combine: Some(combine),
        items,
        ..Description::new("whole", at)
    };
    let ticket = shared.start_ahead(axis, description, Job::AllReduce { piece, combine })?;
    let block = Arc::new(Block(Mutex::new(Sum::Started(ticket))));
    let mut start = 0;
    for state in &states {
        let mut state = lock(state);
        if let GradState::Queued(grad) = &*state {
            let shape = grad.shape().to_vec();
            let len = grad.numel();
            *state = GradState::Sent {
                block: Arc::clone(&block),
                start,
                shape,
            };
            start += len;
        }
    }
    Ok(())
}
