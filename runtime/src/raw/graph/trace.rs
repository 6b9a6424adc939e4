//! Which nodes a computation reaches, without a graph of it: one node stands for all that would be recorded.

use std::cell::RefCell;
use std::collections::HashSet;

use nomina_core::Result;

use super::node::{Node, NodeRef};
use super::switch::switched;
use crate::memory::refused;

/// A computation that is traced.
struct Trace {
    /// The node that stands for all of its nodes.
    node: NodeRef,
    reached: Reached,
}

/// The nodes from before that a computation reached, in order.
#[derive(Default)]
pub(crate) struct Reached {
    pub(crate) nodes: Vec<NodeRef>,
    addresses: HashSet<usize>,
}

impl Reached {
    fn add(&mut self, node: &NodeRef) -> Result<()> {
        let bytes = size_of::<NodeRef>().saturating_mul(self.nodes.len());
        let missing = |_| refused("checkpoint", bytes);
        self.addresses.try_reserve(1).map_err(missing)?;
        self.nodes.try_reserve(1).map_err(missing)?;
        if self.addresses.insert(node.address()) {
            self.nodes.push(NodeRef::of(node));
        }
        Ok(())
    }
}

thread_local! {
    static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
}

/// Whether this thread traces.
pub(crate) fn is_on() -> bool {
    TRACE.with_borrow(Option::is_some)
}

/// Whether a node is that which stands for what is traced.
pub(super) fn is_of(node: &Node) -> bool {
    TRACE.with_borrow(|trace| {
        let trace = trace.as_ref();
        trace.is_some_and(|trace| std::ptr::eq(&raw const *trace.node, node))
    })
}

/// The node of a result of operands with these nodes, where this thread traces.
///
/// # Errors
/// Missing memory.
pub(super) fn stands_for(edges: &[Option<NodeRef>]) -> Result<Option<NodeRef>> {
    TRACE.with_borrow_mut(|trace| {
        let Some(Trace { node, reached }) = trace else {
            return Ok(None);
        };
        for edge in edges.iter().flatten() {
            if edge.address() != node.address() {
                reached.add(edge)?;
            }
        }
        Ok(Some(NodeRef::of(node)))
    })
}

/// The trace of before, which returns also after a panic.
struct Restore(Option<Trace>);

impl Drop for Restore {
    fn drop(&mut self) {
        TRACE.set(self.0.take());
    }
}

/// Calls `f` without making a graph. Gives with its result the node of what would have been recorded, and what it reached.
///
/// # Errors
/// When there is no memory for a node, and those of `f`.
pub(crate) fn traced<R>(f: impl FnOnce() -> Result<R>) -> Result<(R, NodeRef, Reached)> {
    let node = NodeRef::bare("checkpoint")?;
    let trace = Trace {
        node: NodeRef::of(&node),
        reached: Reached::default(),
    };
    let restore = Restore(TRACE.replace(Some(trace)));
    let result = switched(true, f)?;
    let reached = TRACE.take().map(|trace| trace.reached).unwrap_or_default();
    drop(restore);
    Ok((result, node, reached))
}

/// Calls `f` with nodes of its own, also where this thread traces.
pub(crate) fn suspended<R>(f: impl FnOnce() -> R) -> R {
    let _restore = Restore(TRACE.take());
    f()
}
