//! Sums of gradients over the ranks of an axis during backward: gradients are queued as they are computed, sent in
//! blocks, and waited for when they are read.

use std::mem;
use std::sync::{Arc, Mutex};

use nomina::{DynTensor, Error, ErrorKind, Name, Names, Result};
use nomina_core::mesh::Combine;
use nomina_runtime::Raw;

use crate::check::{Description, TensorDescription};
use crate::origin::CallSite;
use crate::queue::{Block, GradState, Queue, QueuedGrad, Sum, lock};
use crate::ranks::Job;
use crate::shared::Shared;

/// Adds a gradient to the queue of an axis. The ranks compare `item` and `at`. The returned closure waits for the
/// gradient's sum.
pub(crate) fn add(
    shared: &Arc<Shared>,
    axis: usize,
    grad: &Raw,
    item: TensorDescription,
    at: CallSite,
) -> Result<impl FnOnce() -> Result<Raw> + use<>> {
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
