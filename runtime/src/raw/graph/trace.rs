//! Finds the nodes that a computation reaches without building its graph: a single node replaces all that would be
//! recorded.

use std::cell::RefCell;
use std::collections::HashSet;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};

use nomina_core::Result;

use super::node::{Node, NodeRef};
use super::switch::switched;
use crate::memory::refused;

/// A computation that is traced.
struct Trace {
    /// The node that replaces all of its nodes.
    node: NodeRef,
    reached: Reached,
}

/// The number of computations that were traced or repeated so far, on all threads.
static EPOCH: AtomicU64 = AtomicU64::new(0);

/// Returns the epoch of nodes created now.
#[inline(always)]
pub(super) fn epoch() -> u64 {
    // A thread that learns of a computation, by any synchronization, sees at least the epoch that the computation began
    // with.
    EPOCH.load(Ordering::Relaxed)
}

/// Begins and returns another epoch: nodes created as a consequence of later events have at least this epoch.
pub(crate) fn begin_epoch() -> u64 {
    EPOCH.fetch_add(1, Ordering::Relaxed) + 1
}

/// The earlier nodes that a computation reached, in order.
pub(crate) struct Reached {
    pub(crate) nodes: Vec<NodeRef>,
    addresses: HashSet<usize>,
    /// The epoch that the computation began.
    since: u64,
    /// The numbers of other, untraced threads that computed a part of it.
    pub(crate) threads: HashSet<u32>,
}

impl Reached {
    fn new() -> Self {
        Self {
            nodes: Vec::new(),
            addresses: HashSet::new(),
            since: begin_epoch(),
            threads: HashSet::new(),
        }
    }

    /// Returns whether a node was created by the computation, or during it.
    pub(crate) fn is_made_meanwhile(&self, node: &Node) -> bool {
        node.epoch >= self.since
    }

    /// Adds the earlier nodes that lead to `node`, which may itself be one. `stands_in` is the node of the traced
    /// computation.
    ///
    /// # Errors
    /// If there is no memory.
    pub(crate) fn add(&mut self, node: &NodeRef, stands_in: &Node) -> Result<()> {
        if !self.is_made_meanwhile(node) {
            return self.insert(node);
        }
        if std::ptr::eq(&raw const **node, stands_in) {
            return Ok(());
        }
        // Another thread computed it for this computation, and will do so again. A leaf is also created again.
        let (mut seen, mut open) = (HashSet::new(), vec![node]);
        while let Some(node) = open.pop() {
            self.threads.insert(node.thread);
            for edge in node.edges().iter().flatten() {
                if !self.is_made_meanwhile(edge) {
                    self.insert(edge)?;
                } else if seen.insert(edge.address()) {
                    open.push(edge);
                }
            }
        }
        Ok(())
    }

    fn insert(&mut self, node: &NodeRef) -> Result<()> {
        let bytes = size_of::<NodeRef>().saturating_mul(self.nodes.len());
        let missing = |_| refused("checkpoint", bytes);
        self.addresses.try_reserve(1).map_err(missing)?;
        self.nodes.try_reserve(1).map_err(missing)?;
        if self.addresses.insert(node.address()) {
            self.nodes.push(NodeRef::from_node(node));
        }
        Ok(())
    }
}

thread_local! {
    /// The current trace; `None` if nothing is traced. Without a destructor, so that values of other thread-local
    /// variables may compute when they are dropped.
    static TRACE: RefCell<ManuallyDrop<Option<Trace>>> = const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Returns whether this thread traces.
pub(crate) fn is_on() -> bool {
    TRACE.with_borrow(|trace| trace.is_some())
}

/// Returns whether a node is the one of the current trace.
pub(super) fn is_of(node: &Node) -> bool {
    TRACE.with_borrow(|trace| {
        let trace = trace.as_ref();
        trace.is_some_and(|trace| std::ptr::eq(&raw const *trace.node, node))
    })
}

/// Returns the node of a result of operands with these nodes, if this thread traces.
///
/// # Errors
/// If there is no memory.
pub(super) fn stands_for(edges: &[Option<NodeRef>]) -> Result<Option<NodeRef>> {
    TRACE.with_borrow_mut(|trace| {
        let Some(Trace { node, reached }) = &mut **trace else {
            return Ok(None);
        };
        for edge in edges.iter().flatten() {
            reached.add(edge, node)?;
        }
        Ok(Some(NodeRef::from_node(node)))
    })
}

/// Sets this thread's trace, and returns the previous one.
fn set(trace: Option<Trace>) -> Option<Trace> {
    ManuallyDrop::into_inner(TRACE.replace(ManuallyDrop::new(trace)))
}

/// Restores the previous trace, also after a panic.
struct RestoreTrace(Option<Trace>);

impl Drop for RestoreTrace {
    fn drop(&mut self) {
        set(self.0.take());
    }
}

/// A computation that was traced.
pub(crate) struct Traced<R> {
    pub(crate) result: R,
    /// The node of all that would have been recorded.
    pub(crate) node: NodeRef,
    pub(crate) reached: Reached,
}

/// Calls `f` without building a graph.
///
/// # Errors
/// If there is no memory for a node, and the errors of `f`.
pub(crate) fn traced<R>(f: impl FnOnce() -> Result<R>) -> Result<Traced<R>> {
    let reached = Reached::new();
    let node = NodeRef::bare("checkpoint")?;
    let trace = Trace {
        node: NodeRef::from_node(&node),
        reached,
    };
    let restore = RestoreTrace(set(Some(trace)));
    let result = switched(true, f)?;
    let reached = set(None).map(|trace| trace.reached);
    drop(restore);
    Ok(Traced {
        result,
        node,
        reached: reached.unwrap_or_else(Reached::new),
    })
}

/// Calls `f` with regular nodes, even if this thread traces.
pub(crate) fn suspended<R>(f: impl FnOnce() -> R) -> R {
    let _restore = RestoreTrace(set(None));
    f()
}
