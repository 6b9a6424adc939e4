//! Nodes: what computed a tensor, and how a gradient goes back through it.

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

/// The gradients of a rule's operands: as many as there are edges, absent ones of zero.
pub(crate) type OperandGrads = SmallVec<[Option<Raw>; 2]>;

/// The gradients of an operator's results: absent ones of zero.
pub(crate) type ResultGrads = SmallVec<[Option<Raw>; 1]>;

/// How a gradient goes back through an operator. What this holds is what was saved for it.
pub(crate) trait Rule: Send + Sync {
    /// The operator, for errors.
    fn op(&self) -> &'static str;

    /// The gradient of each operand that `run` wants.
    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads>;

    /// The same without computing it: where this rule is elementwise, what is to be computed for the result goes on into what
    /// is to be computed for each operand. What came is given back where the rule is not.
    ///
    /// # Errors
    /// As [`Rule::backward`].
    fn extend(&self, given: Incoming, _: &Run<'_>) -> Result<Extended> {
        Ok(Extended::Not(given))
    }

    /// Which part of its only operand the result is, where it has fewer elements: a gradient can then be added where it belongs.
    fn part(&self) -> Option<&View> {
        None
    }
}

/// A gradient that is still to be computed, in one pass over its elements.
pub(crate) trait Chain: Any {
    /// A tensor of its sizes, dtype and device.
    fn like(&self) -> &Raw;

    /// Itself, for whoever knows which one it is.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;

    /// Computes it.
    fn compute(&self) -> Result<Raw>;

    /// The sum with another gradient.
    fn plus(&mut self, other: Raw);
}

/// The gradients of a rule's operands that are still to be computed: as many as there are edges.
pub(crate) type Chains = SmallVec<[Option<Box<dyn Chain>>; 2]>;

/// The gradient of an operator's only result.
pub(crate) enum Incoming {
    Computed(Raw),
    Chain(Box<dyn Chain>),
}

/// What became of a gradient.
pub(crate) enum Extended {
    /// It was not looked at.
    Not(Incoming),
    /// The gradients of the operands.
    Chains(Chains),
}

impl Incoming {
    /// A tensor of its sizes, dtype and device.
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

/// Which result of an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Results {
    /// The only one.
    One,
    /// One of several, from 0 on.
    Several(usize),
}

/// One time that a gradient goes back through a node.
pub(crate) struct Run<'a> {
    node: &'a Node,
    /// Whether what is computed is recorded.
    records: bool,
    /// The addresses of the nodes whose gradients are asked for; all where there are none.
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

    /// Whether a gradient of this operand is asked for.
    pub(crate) fn wants(&self, operand: usize) -> bool {
        let edge = self.node.edges.get(operand).and_then(Option::as_ref);
        edge.is_some_and(|edge| self.wanted.is_none_or(|all| all.contains(&edge.address())))
    }

    /// The nodes of the operands.
    pub(crate) fn edges(&self) -> &'a [Option<NodeRef>] {
        self.node.edges()
    }

    /// Whether what is computed is recorded.
    pub(crate) fn records(&self) -> bool {
        self.records
    }

    /// A result that a rule saved, which is without its node there, so that no node holds itself.
    ///
    /// # Errors
    /// When there is no memory for a node.
    pub(crate) fn result(&self, saved: &Raw, of: Results) -> Result<Raw> {
        let saved = saved.clone();
        let node = NodeRef::of(self.node);
        Ok(match (self.records, of) {
            (false, _) => saved,
            (true, Results::One) => saved.computed_by(node),
            (true, Results::Several(at)) => saved.computed_by(NodeRef::output(node, at)?),
        })
    }
}

/// A node. Its rule lies behind it in one block of memory.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Node {
    count: AtomicUsize,
    /// Later than that of every node behind an edge.
    clock: u64,
    /// The nodes of the operands.
    edges: SmallVec<[Option<NodeRef>; 2]>,
    /// Of an operator with several results, which one this is; its only edge is the operator's node.
    output: Option<NonZeroU32>,
    /// The number of the thread that made it.
    pub(crate) thread: u32,
    /// The number of traces that had begun on any thread. Clocks of nodes that different threads made cannot be compared; this can.
    pub(crate) epoch: u64,
    rule: Mutex<Held>,
    extras: OnceLock<Box<Extras>>,
    /// The next one of those that are dropped together.
    next: Cell<Option<NonNull<Node>>>,
    /// The block that this and its rule lie in: the last field, which is dropped last.
    _home: Block,
}

/// A rule, and who uses it.
#[derive(Debug)]
struct Held {
    /// None of a leaf, and where nobody needs it any more.
    rule: Option<RulePtr>,
    /// Gradients that are going through at this moment.
    users: u32,
    /// That one of them is the last.
    used_up: bool,
}

/// A rule within its node's block.
#[derive(Debug)]
struct RulePtr(NonNull<dyn Rule>);

// SAFETY: it owns what it points to, which is `Send`.
unsafe impl Send for RulePtr {}

impl Drop for RulePtr {
    fn drop(&mut self) {
        // SAFETY: written where the node was made, and dropped here alone; its block is its node's.
        unsafe { self.0.drop_in_place() }
    }
}

thread_local! {
    /// The clock of the latest node that this thread made.
    static CLOCK: Cell<u64> = const { Cell::new(0) };
    /// Nodes to be dropped, where one of them is being dropped.
    static DROPPED: Cell<Option<NonNull<Node>>> = const { Cell::new(None) };
    static DROPS: Cell<bool> = const { Cell::new(false) };
}

/// A counted reference to a node.
#[derive(Debug)]
pub(crate) struct NodeRef(NonNull<Node>);

// SAFETY: the count is atomic, `next` is used by the last owner alone, and the rest may be sent and shared.
unsafe impl Send for NodeRef {}
// SAFETY: as above.
unsafe impl Sync for NodeRef {}

impl NodeRef {
    /// A leaf.
    pub(crate) fn leaf(op: &'static str) -> Result<Self> {
        let node = Self::write(op, SmallVec::new(), None, 0, |_| None)?;
        node.keep_grad();
        Ok(node)
    }

    /// A node behind those of its operands.
    pub(crate) fn new<R: Rule + 'static>(
        edges: SmallVec<[Option<Self>; 2]>,
        rule: R,
    ) -> Result<Self> {
        const { assert!(align_of::<R>() <= align_of::<Node>()) };
        if let Some(node) = trace::stands_for(&edges)? {
            return Ok(node);
        }
        let op = rule.op();
        Self::write(op, edges, None, size_of::<R>(), |room| {
            let room = room.cast::<R>();
            // SAFETY: behind the node its block has room for a rule, and nodes end at its alignment.
            unsafe { room.write(rule) };
            Some(RulePtr(room))
        })
    }

    /// A node that no gradient goes through.
    pub(super) fn bare(op: &'static str) -> Result<Self> {
        Self::write(op, std::iter::once(None).collect(), None, 0, |_| None)
    }

    /// One result of an operator that has several.
    fn output(operator: Self, at: usize) -> Result<Self> {
        if trace::is_of(&operator) {
            return Ok(operator);
        }
        let edges = std::iter::once(Some(operator)).collect();
        // Counted from 1, so that an absent one takes no more room.
        let output = u32::try_from(at)
            .ok()
            .and_then(|at| NonZeroU32::MIN.checked_add(at));
        let output = output.ok_or_else(|| refused("backward", at))?;
        Self::write("backward", edges, Some(output), 0, |_| None)
    }

    fn write(
        op: &'static str,
        edges: SmallVec<[Option<Self>; 2]>,
        output: Option<NonZeroU32>,
        more: usize,
        rule: impl FnOnce(NonNull<u8>) -> Option<RulePtr>,
    ) -> Result<Self> {
        let bytes = size_of::<Node>() + more;
        let home = Block::new(bytes, false).ok_or_else(|| refused(op, bytes))?;
        let node = home.as_ptr().cast::<Node>();
        // SAFETY: the block is longer than a node.
        let room = unsafe { home.as_ptr().add(size_of::<Node>()) };
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
                rule: rule(room),
                users: 0,
                used_up: false,
            }),
            extras: OnceLock::new(),
            next: Cell::new(None),
            _home: home,
        };
        // SAFETY: blocks are aligned to a cache line, as nodes are, and this one is nobody else's.
        unsafe { node.write(made) };
        Ok(Self(node))
    }

    /// A reference to a node that somebody refers to.
    pub(crate) fn of(node: &Node) -> Self {
        node.count.fetch_add(1, Ordering::Relaxed);
        Self(NonNull::from(node))
    }

    /// Its address, which counts as this reference.
    pub(crate) fn into_ptr(self) -> NonNull<Node> {
        ManuallyDrop::new(self).0
    }

    /// # Safety
    /// The address is one of [`NodeRef::into_ptr`], which counts no longer.
    pub(crate) unsafe fn from_ptr(node: NonNull<Node>) -> Self {
        Self(node)
    }
}

impl Deref for NodeRef {
    type Target = Node;
    fn deref(&self) -> &Node {
        // SAFETY: it lives as long as there are references to it.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for NodeRef {
    fn drop(&mut self) {
        if self.count.fetch_sub(1, Ordering::Release) == 1 {
            // A load and not a fence, which ThreadSanitizer does not see.
            self.count.load(Ordering::Acquire);
            drop_all(self.0);
        }
    }
}

/// Drops a node that nobody refers to, and those that only it refers to, one after the other: a graph may be deeper than a
/// stack.
fn drop_all(node: NonNull<Node>) {
    struct Ends;
    impl Drop for Ends {
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
    let _ends = Ends;
    while let Some(node) = DROPPED.get() {
        // SAFETY: it was put there by its last owner.
        DROPPED.set(unsafe { node.as_ref() }.next.get());
        // SAFETY: as above; its block is freed behind everything else in it.
        drop(unsafe { node.read() });
    }
}

impl Node {
    pub(crate) fn clock(&self) -> u64 {
        self.clock
    }

    /// Of an operator with several results, which one this is; its only edge is the operator's node.
    pub(crate) fn output(&self) -> Option<usize> {
        self.output.map(|at| at.get() as usize - 1)
    }

    /// The nodes of the operands.
    pub(crate) fn edges(&self) -> &[Option<NodeRef>] {
        &self.edges
    }

    /// Whether nothing computed it.
    pub(crate) fn is_leaf(&self) -> bool {
        self.edges.is_empty()
    }

    /// The number of references to it.
    pub(crate) fn references(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Its address, which no other node has while this one lives.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// What few nodes have, as far as this one has any of it.
    pub(crate) fn extras(&self) -> Option<&Extras> {
        self.extras.get().map(Box::as_ref)
    }

    /// What few nodes have, for something to be added.
    pub(crate) fn extras_mut(&self) -> &Extras {
        self.extras.get_or_init(Box::default)
    }

    /// Where its gradient is kept; none where it is not.
    pub(crate) fn slot(&self) -> Option<&Mutex<Option<Raw>>> {
        self.extras()?.slot.get()
    }

    /// From now on its gradient is kept.
    pub(crate) fn keep_grad(&self) {
        self.extras_mut().slot.get_or_init(Mutex::default);
    }

    /// Lets a gradient through by `f`; none where the rule is used up. Where this is the `last` time, what was saved is dropped.
    ///
    /// Nothing is locked meanwhile: a rule may call closures of the user, which come by here too.
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
        let unused = match held.used_up && held.users == 0 {
            true => held.rule.take(),
            false => None,
        };
        drop(held);
        drop(unused);
        Some(found)
    }
}

/// A lock, whoever panicked while holding it: what it guards is whole at any moment.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a result of these operands is to be recorded.
#[inline(always)]
pub(crate) fn is_wanted<'r>(operands: impl IntoIterator<Item = &'r Raw>) -> bool {
    operands.into_iter().any(Raw::requires_grad) && is_grad_enabled()
}

/// A result with a node: `operands` are those of its rule, in order.
///
/// # Errors
/// When there is no memory for the node.
pub(crate) fn record<'r, R: Rule + 'static>(
    result: Raw,
    operands: impl IntoIterator<Item = Option<&'r Raw>>,
    rule: R,
) -> Result<Raw> {
    Ok(result.computed_by(operator(operands, rule)?))
}

/// Several results of one operator; those that have no gradients stay as they are.
///
/// # Errors
/// When there is no memory for the nodes.
pub(crate) fn record_all<'r, R: Rule + 'static>(
    results: &mut [Raw],
    operands: impl IntoIterator<Item = Option<&'r Raw>>,
    rule: R,
) -> Result<()> {
    let operator = operator(operands, rule)?;
    for (at, result) in results.iter_mut().enumerate() {
        if result.dtype().is_float() || result.dtype().is_complex() {
            let node = NodeRef::output(NodeRef::of(&operator), at)?;
            *result = result.clone().computed_by(node);
        }
    }
    Ok(())
}

fn operator<'r, R: Rule + 'static>(
    operands: impl IntoIterator<Item = Option<&'r Raw>>,
    rule: R,
) -> Result<NodeRef> {
    let edges = operands.into_iter();
    let edges = edges.map(|operand| operand.and_then(|raw| raw.tag.node_ref()));
    NodeRef::new(edges.collect(), rule)
}
