//! Nodes of the graph: the operator that computed a tensor, and its backward rule.

use std::any::Any;
use std::cell::Cell;
use std::collections::HashSet;
use std::mem::ManuallyDrop;
use std::num::NonZeroU32;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use nomina_core::Result;

use super::hook::Extras;
use super::switch::is_grad_enabled;
use super::trace;
use super::view::View;
use crate::SmallVec;
use crate::config::thread_number;
use crate::memory::{Block, refused};
use crate::raw::Raw;

/// The gradients of a rule's operands, one per edge; an absent one is zero.
pub(crate) type OperandGrads = SmallVec<[Option<Raw>; 2]>;

/// The nodes of an operator's operands.
type Edges = SmallVec<[Option<NodeRef>; 2]>;

/// The gradients of an operator's results; an absent one is zero.
pub(crate) type ResultGrads = SmallVec<[Option<Raw>; 1]>;

/// The backward rule of an operator, which holds the saved tensors.
pub(crate) trait Rule: Send + Sync {
    /// Returns the operator, for errors.
    fn op(&self) -> &'static str;

    /// Computes the gradient of each operand that `run` wants.
    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads>;

    /// Like [`backward`](Self::backward), but lazy: if this rule is elementwise, the pending computation of the
    /// result's gradient is extended to that of each operand. Otherwise `given` is returned unchanged.
    ///
    /// # Errors
    /// The errors of [`Rule::backward`].
    fn extend(&self, given: Incoming, _: &Run<'_>) -> Result<Extended> {
        Ok(Extended::Not(given))
    }

    /// Returns the part of its only operand that the result is, if it has fewer elements. A gradient can then be
    /// accumulated in place.
    fn part(&self) -> Option<&View> {
        None
    }
}

/// A gradient that is not computed yet, in one pass over its elements.
pub(crate) trait Chain: Any {
    /// Returns a tensor with the gradient's sizes, dtype and device.
    fn like(&self) -> &Raw;

    /// Converts to `Any`, for a downcast to the concrete type.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;

    /// Computes the gradient.
    fn compute(&self) -> Result<Raw>;

    /// Adds another gradient.
    fn plus(&mut self, other: Raw);
}

/// The pending gradients of a rule's operands, one per edge.
pub(crate) type Chains = SmallVec<[Option<Box<dyn Chain>>; 2]>;

/// The gradient of an operator's only result.
pub(crate) enum Incoming {
    Computed(Raw),
    Chain(Box<dyn Chain>),
}

/// The result of [`Rule::extend`].
pub(crate) enum Extended {
    /// The gradient is returned unchanged.
    Not(Incoming),
    /// The gradients of the operands.
    Chains(Chains),
}

impl Incoming {
    /// Returns a tensor with the gradient's sizes, dtype and device.
    pub(crate) fn like(&self) -> &Raw {
        match self {
            Self::Computed(raw) => raw,
            Self::Chain(chain) => chain.like(),
        }
    }

    pub(crate) fn compute(self) -> Result<Raw> {
        match self {
            Self::Computed(raw) => Ok(raw),
            Self::Chain(chain) => chain.compute(),
        }
    }
}

/// Selects a result of an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Results {
    /// The only result.
    One,
    /// One of several results, from 0 on.
    Several(usize),
}

/// One pass of a gradient through a node.
pub(crate) struct Run<'a> {
    node: &'a Node,
    /// Whether the computation of gradients is recorded.
    records: bool,
    /// The addresses of the nodes whose gradients are wanted; `None` for all nodes.
    wanted: Option<&'a HashSet<usize>>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(node: &'a Node, records: bool, wanted: Option<&'a HashSet<usize>>) -> Self {
        Self {
            node,
            records,
            wanted,
        }
    }

    /// Returns whether the gradient of this operand is wanted.
    pub(crate) fn wants(&self, operand: usize) -> bool {
        let edge = self.node.edges.get(operand).and_then(Option::as_ref);
        edge.is_some_and(|edge| self.wanted.is_none_or(|all| all.contains(&edge.address())))
    }

    /// Returns the nodes of the operands.
    pub(crate) fn edges(&self) -> &'a [Option<NodeRef>] {
        self.node.edges()
    }

    /// Returns whether the computation of gradients is recorded.
    pub(crate) fn records(&self) -> bool {
        self.records
    }

    /// Returns a saved result together with its node. It is saved without the node, so that no node refers to itself.
    ///
    /// # Errors
    /// If there is no memory for a node.
    pub(crate) fn result(&self, saved: &Raw, of: Results) -> Result<Raw> {
        let saved = saved.clone();
        let node = NodeRef::from_node(self.node);
        Ok(match (self.records, of) {
            (false, _) => saved,
            (true, Results::One) => saved.computed_by(node),
            (true, Results::Several(at)) => saved.computed_by(NodeRef::output(node, at)?),
        })
    }
}

/// A node of the graph. Its rule follows it in the same block of memory.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Node {
    count: AtomicUsize,
    /// Later than the clocks of all nodes that the edges lead to.
    clock: u64,
    /// The nodes of the operands.
    edges: Edges,
    /// The number of this result, if the operator has several; its only edge is then the operator's node.
    output: Option<NonZeroU32>,
    /// The number of the thread that created it.
    pub(crate) thread: u32,
    /// The number of traces that had begun on any thread. Unlike clocks, epochs of nodes that different threads created
    /// can be compared.
    pub(crate) epoch: u64,
    rule: Mutex<Held>,
    extras: OnceLock<Box<Extras>>,
    /// The next node in the list of nodes to drop.
    next: Cell<Option<NonNull<Node>>>,
    /// The block that contains this node and its rule. It must be the last field, which is dropped last.
    _home: Block,
}

/// A rule and its current users.
#[derive(Debug)]
struct Held {
    /// `None` for a leaf, and once the rule is no longer needed.
    rule: Option<RulePtr>,
    /// The number of gradients that are passing through it now.
    users: u32,
    /// Whether one of them is the last.
    used_up: bool,
}

/// A rule within its node's block.
#[derive(Debug)]
struct RulePtr(NonNull<dyn Rule>);

// SAFETY: it owns the rule, which is `Send`.
unsafe impl Send for RulePtr {}

impl Drop for RulePtr {
    fn drop(&mut self) {
        // SAFETY: written when the node was created, and dropped only here; the block belongs to the node.
        unsafe { self.0.drop_in_place() }
    }
}

thread_local! {
    /// The clock of the latest node that this thread created.
    static CLOCK: Cell<u64> = const { Cell::new(0) };
    /// Nodes to be dropped after the one that is being dropped.
    static DROPPED: Cell<Option<NonNull<Node>>> = const { Cell::new(None) };
    static DROPS: Cell<bool> = const { Cell::new(false) };
}

/// A counted reference to a node.
#[derive(Debug)]
pub(crate) struct NodeRef(NonNull<Node>);

// SAFETY: the count is atomic, only the last owner uses `next`, and the rest may be sent and shared.
unsafe impl Send for NodeRef {}
// SAFETY: as above.
unsafe impl Sync for NodeRef {}

impl NodeRef {
    /// Creates a leaf.
    pub(crate) fn leaf(op: &'static str) -> Result<Self> {
        let node = Self::write(op, SmallVec::new(), None, 0)?;
        node.keep_grad();
        Ok(node)
    }

    /// Creates a node whose edges lead to the nodes of its operands.
    pub(crate) fn new<R: Rule + 'static>(edges: Edges, rule: R) -> Result<Self> {
        const { assert!(align_of::<R>() <= align_of::<Node>()) };
        if let Some(node) = trace::stands_for(&edges)? {
            return Ok(node);
        }
        let node = Self::write(rule.op(), edges, None, size_of::<R>())?;
        // SAFETY: the block has room for a rule after the node, and a node's size is a multiple of the rule's alignment.
        // Nobody else has the node yet.
        unsafe {
            let room = node.0.add(1).cast::<R>();
            room.write(rule);
            let held = (*node.0.as_ptr()).rule.get_mut();
            held.unwrap_or_else(PoisonError::into_inner).rule = Some(RulePtr(room));
        }
        Ok(node)
    }

    /// Creates a node without a rule, which no gradient passes.
    pub(super) fn bare(op: &'static str) -> Result<Self> {
        Self::write(op, std::iter::once(None).collect(), None, 0)
    }

    /// Creates the node of one result of an operator with several.
    fn output(operator: Self, at: usize) -> Result<Self> {
        if trace::is_of(&operator) {
            return Ok(operator);
        }
        let edges = std::iter::once(Some(operator)).collect();
        // Counted from 1, so that `None` takes no extra space.
        let output = u32::try_from(at)
            .ok()
            .and_then(|at| NonZeroU32::MIN.checked_add(at));
        let output = output.ok_or_else(|| refused("backward", at))?;
        Self::write("backward", edges, Some(output), 0)
    }

    /// Creates a node without a rule, in a block with `more` bytes after the node.
    fn write(
        op: &'static str,
        edges: Edges,
        output: Option<NonZeroU32>,
        more: usize,
    ) -> Result<Self> {
        let bytes = size_of::<Node>() + more;
        let home = Block::new(bytes, false).ok_or_else(|| refused(op, bytes))?;
        let node = home.as_ptr().cast::<Node>();
        let behind = edges.iter().flatten().map(|edge| edge.clock).max();
        let clock = 1 + CLOCK.get().max(behind.unwrap_or(0));
        CLOCK.set(clock);
        let made = Node {
            count: AtomicUsize::new(1),
            clock,
            edges,
            output,
            thread: thread_number(),
            epoch: trace::epoch(),
            rule: Mutex::new(Held {
                rule: None,
                users: 0,
                used_up: false,
            }),
            extras: OnceLock::new(),
            next: Cell::new(None),
            _home: home,
        };
        // SAFETY: blocks are aligned to a cache line, like nodes, and this one is not shared.
        unsafe { node.write(made) };
        Ok(Self(node))
    }

    /// Returns another reference to a node.
    pub(crate) fn from_node(node: &Node) -> Self {
        node.count.fetch_add(1, Ordering::Relaxed);
        Self(NonNull::from(node))
    }

    /// Returns the address, which keeps this reference's count.
    pub(crate) fn into_ptr(self) -> NonNull<Node> {
        ManuallyDrop::new(self).0
    }

    /// Takes over the reference of an address.
    ///
    /// # Safety
    /// The address comes from [`NodeRef::into_ptr`], and its count is taken over only once.
    pub(crate) unsafe fn from_ptr(node: NonNull<Node>) -> Self {
        Self(node)
    }
}

impl Deref for NodeRef {
    type Target = Node;
    fn deref(&self) -> &Node {
        // SAFETY: the node lives as long as there are references to it.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for NodeRef {
    fn drop(&mut self) {
        if self.count.fetch_sub(1, Ordering::Release) == 1 {
            // A load instead of a fence, which ThreadSanitizer does not support.
            self.count.load(Ordering::Acquire);
            drop_all(self.0);
        }
    }
}

/// Drops a node without references, and then iteratively all nodes that only it refers to: a graph may be deeper than
/// the stack.
fn drop_all(node: NonNull<Node>) {
    struct ReleaseNode;
    impl Drop for ReleaseNode {
        fn drop(&mut self) {
            DROPS.set(false);
        }
    }
    // SAFETY: this is the last owner.
    unsafe { node.as_ref() }.next.set(DROPPED.get());
    DROPPED.set(Some(node));
    if DROPS.replace(true) {
        return;
    }
    let _ends = ReleaseNode;
    while let Some(node) = DROPPED.get() {
        // SAFETY: its last owner put it there.
        DROPPED.set(unsafe { node.as_ref() }.next.get());
        // SAFETY: as above; its block is freed after everything else in it.
        drop(unsafe { node.read() });
    }
}

impl Node {
    pub(crate) fn clock(&self) -> u64 {
        self.clock
    }

    /// Returns the number of this result, if the operator has several; its only edge is then the operator's node.
    pub(crate) fn output(&self) -> Option<usize> {
        self.output.map(|at| at.get() as usize - 1)
    }

    /// Returns the nodes of the operands.
    pub(crate) fn edges(&self) -> &[Option<NodeRef>] {
        &self.edges
    }

    /// Returns whether no operator computed it.
    pub(crate) fn is_leaf(&self) -> bool {
        self.edges.is_empty()
    }

    /// Returns the number of references to it.
    pub(crate) fn references(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Returns its address, which is unique while this node lives.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Returns the rarely used fields, if this node has any.
    pub(crate) fn extras(&self) -> Option<&Extras> {
        self.extras.get().map(Box::as_ref)
    }

    /// Returns the rarely used fields, and creates them if needed.
    pub(crate) fn extras_mut(&self) -> &Extras {
        self.extras.get_or_init(Box::default)
    }

    /// Returns the slot of its gradient, if the gradient is kept.
    pub(crate) fn slot(&self) -> Option<&Mutex<Option<Raw>>> {
        self.extras()?.slot.get()
    }

    /// Keeps its gradient from now on.
    pub(crate) fn keep_grad(&self) {
        self.extras_mut().slot.get_or_init(Mutex::default);
    }

    /// Calls `f` with the rule; returns `None` if the rule is used up. If this is the `last` time, the rule and its
    /// saved tensors are dropped.
    ///
    /// No lock is held meanwhile: a rule may call closures of the user, which may come back to this node.
    pub(crate) fn through<R>(&self, last: bool, f: impl FnOnce(&dyn Rule) -> R) -> Option<R> {
        let rule = {
            let mut held = lock(&self.rule);
            if held.used_up {
                return None;
            }
            let rule = held.rule.as_ref()?.0;
            held.users += 1;
            held.used_up = last;
            rule
        };
        // SAFETY: it lives in this node's block, until the last of its users takes it out.
        let found = f(unsafe { rule.as_ref() });
        let mut held = lock(&self.rule);
        held.users -= 1;
        let unused = if held.used_up && held.users == 0 {
            held.rule.take()
        } else {
            None
        };
        drop(held);
        drop(unused);
        Some(found)
    }
}

/// Locks a mutex and ignores poisoning: the guarded value is consistent at any moment.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether a result of these operands is to be recorded.
#[inline(always)]
pub(crate) fn is_wanted<'r>(operands: impl IntoIterator<Item = &'r Raw>) -> bool {
    operands.into_iter().any(Raw::requires_grad) && is_grad_enabled()
}

/// Returns a result with a node; `operands` are those of its rule, in order.
///
/// # Errors
/// If there is no memory for the node.
pub(crate) fn record<'r, R: Rule + 'static>(
    result: Raw,
    operands: impl IntoIterator<Item = Option<&'r Raw>>,
    rule: R,
) -> Result<Raw> {
    Ok(result.computed_by(NodeRef::new(edges(operands), rule)?))
}

/// Records several results of one operator; results that cannot have gradients are left unchanged.
///
/// # Errors
/// If there is no memory for the nodes.
pub(crate) fn record_all<'r, R: Rule + 'static>(
    results: &mut [Raw],
    operands: impl IntoIterator<Item = Option<&'r Raw>>,
    rule: R,
) -> Result<()> {
    let operator = NodeRef::new(edges(operands), rule)?;
    for (at, result) in results.iter_mut().enumerate() {
        if result.dtype().is_float() || result.dtype().is_complex() {
            let node = NodeRef::output(NodeRef::from_node(&operator), at)?;
            *result = result.clone().computed_by(node);
        }
    }
    Ok(())
}

/// Returns the nodes of operands.
fn edges<'r>(operands: impl IntoIterator<Item = Option<&'r Raw>>) -> Edges {
    let mut edges = SmallVec::new();
    for operand in operands {
        edges.push(operand.and_then(|raw| raw.tag.node_ref()));
    }
    edges
}
