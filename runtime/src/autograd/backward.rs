//! Gradients of recorded tensors.

use std::sync::MutexGuard;

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Names, Result};

use super::pass::{BackwardOptions, Pass};
use super::reach::{Reach, pull, targets, try_push};
use crate::SmallVec;
use crate::call::{Arg, pointwise};
use crate::raw::Raw;
use crate::raw::graph::{Node, NodeRef, lock, switched, trace};

/// Gradients to be stored, usually few.
type StoredGradients = SmallVec<[(NodeRef, Raw); 4]>;

#[cold]
fn unrecorded(op: &'static str, x: &Raw) -> Error {
    if trace::is_on() {
        let what = "within `checkpoint` there is no graph yet";
        return Error::new(ErrorKind::Gradient, op, what)
            .hint("use `nomina::grad::grad` there, or start at the result of `checkpoint`");
    }
    Error::new(ErrorKind::Gradient, op, "nothing was recorded")
        .operand(&Names::default(), x.shape())
        .hint("call `requires_grad_` on a leaf, outside of `no_grad`")
}

/// Adds gradients to the leaves that `x` was computed from; `seed` is the gradient of `x`.
///
/// # Errors
/// If `x` was not recorded, its graph is used up, an operator has no derivative, or memory is missing. No gradient has changed
/// then.
pub fn backward(x: &Raw, seed: Raw, options: BackwardOptions) -> Result<()> {
    let node = x.node().filter(|_| !trace::is_on());
    let node = node.ok_or_else(|| unrecorded("backward", x))?;
    check_seed("backward", x, &seed)?;
    let mut pass = Pass::new(options, None);
    pass.give(&NodeRef::from_node(node), 0, seed)?;
    let mut found = StoredGradients::new();
    let asks = |node: &Node| node.slot().is_some();
    pass.run(asks, |node, given| {
        if let (Some(_), Some(Some(grad))) = (node.slot(), given.first()) {
            try_push(&mut found, (NodeRef::from_node(node), grad.clone()))?;
        }
        Ok(true)
    })?;
    store(&mut found, options)?;
    for (node, sum) in &found {
        if let Some(extras) = node.extras() {
            extras.after.run(sum.clone())?;
        }
    }
    Ok(())
}

/// Adds gradients to their slots, and sets each to the sum.
fn store(found: &mut StoredGradients, options: BackwardOptions) -> Result<()> {
    // All slots are locked at once and in one order, so that two threads cannot deadlock.
    found.sort_unstable_by_key(|(node, _)| node.address());
    let mut slots: SmallVec<[(MutexGuard<'_, Option<Raw>>, &mut Raw); 4]> = SmallVec::new();
    for (node, grad) in found {
        let Some(slot) = node.slot() else { continue };
        let held = lock(slot);
        if let Some(before) = &*held {
            let both = [Arg::Tensor(before), Arg::Tensor(grad)];
            *grad = switched(options.create_graph, || pointwise(Op::Add, &both))?;
        }
        try_push(&mut slots, (held, grad))?;
    }
    for (slot, sum) in &mut slots {
        **slot = Some(sum.clone());
    }
    Ok(())
}

/// Checks that a seed has the sizes, dtype and device of `x`.
pub(super) fn check_seed(op: &'static str, x: &Raw, seed: &Raw) -> Result<()> {
    if x.shape() == seed.shape() && x.dtype() == seed.dtype() && x.device() == seed.device() {
        return Ok(());
    }
    let apart = x.shape().iter().zip(seed.shape()).position(|(a, b)| a != b);
    if let Some(dim) = apart.filter(|_| x.rank() == seed.rank()) {
        let (shapes, dims) = ([x.shape(), seed.shape()], [(0, dim), (1, dim)]);
        return Err(Error::sizes(op, shapes, dims).hint("a seed has its tensor's sizes"));
    }
    let what = "the seed's rank, dtype or device is wrong";
    Err(Error::new(ErrorKind::Shape, op, what)
        .operand(&Names::default(), x.shape())
        .operand(&Names::default(), seed.shape())
        .hint("use the tensor's"))
}

/// Returns the gradients of `x` with respect to each of `inputs`, without adding to any tensor; `None` for an input from which `x`
/// was not computed.
///
/// # Errors
/// Like [`backward`].
pub fn gradients(
    x: &Raw,
    seed: Raw,
    inputs: &[&Raw],
    options: BackwardOptions,
) -> Result<Vec<Option<Raw>>> {
    if x.node().is_none() || trace::is_on() {
        return Err(unrecorded("gradients", x));
    }
    check_seed("gradients", x, &seed)?;
    let reach = Reach::new(
        &[x],
        &targets(inputs.iter().map(|input| input.node()))?,
        false,
        0,
    )?;
    pull([(x, seed)], &reach, options)
}
