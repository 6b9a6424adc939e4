//! The backward pass through a graph.

use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::sync::MutexGuard;

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use crate::SmallVec;
use crate::call::{Arg, add_part, pointwise, pointwise_owned, to_dtype};
use crate::raw::Raw;
use crate::raw::graph::{
    Chain, Chains, Extended, Incoming, Node, NodeRef, OperandGrads, ResultGrads, Rule, Run, View,
    lock, switched, trace,
};

use super::reach::{Reach, pull, put, targets};

/// What is left of a graph afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackwardOptions {
    /// The graph stays, and can be gone through again.
    pub retain_graph: bool,
    /// Gradients are recorded, and have gradients; the graph stays.
    ///
    /// A gradient that [`backward`] leaves at a leaf then holds its graph, which holds the leaf: a cycle that is not freed with the
    /// last tensor, but by [`Raw::take_grad`], by [`Raw::set_grad`], or by a later `backward` without this option. [`gradients`]
    /// leaves nothing at leaves, and makes no such cycle.
    pub create_graph: bool,
}

/// The number of additions from which a sum of gradients is accumulated in `f64`.
const MANY: u32 = 64;

/// Like [`MANY`], but for parts of a tensor, most of which do not overlap.
const MANY_PARTS: u32 = 4096;

/// What has come for a node so far.
struct Pending {
    node: NodeRef,
    given: ResultGrads,
    /// What is still to be computed for its only result; nothing else has come then.
    chain: Option<Box<dyn Chain>>,
    /// The outputs whose sums in `given` are wider than their gradients, and the dtypes of these.
    widened: SmallVec<[(usize, DType); 1]>,
    /// The number of additions so far.
    additions: u32,
}

impl Pending {
    fn new(node: &NodeRef) -> Self {
        Self {
            node: NodeRef::of(node),
            given: ResultGrads::new(),
            chain: None,
            widened: SmallVec::new(),
            additions: 0,
        }
    }

    /// Computes what is still to be computed.
    fn settle(&mut self) -> Result<()> {
        if let Some(chain) = self.chain.take() {
            self.given.push(Some(chain.compute()?));
        }
        Ok(())
    }

    /// Whether a sum of gradients of this dtype is accumulated in a wider one.
    fn widens(&self, dtype: DType) -> bool {
        sum_dtype(dtype, self.additions >= MANY) != dtype
    }

    /// Adds to what has come for an output.
    fn add(&mut self, output: usize, grad: Raw) -> Result<()> {
        while self.given.len() <= output {
            self.given.push(None);
        }
        let sum = match self.given[output].take() {
            None => grad,
            Some(before) => {
                self.additions = self.additions.saturating_add(1);
                let before = self.widen(output, before, MANY)?;
                added(before, &grad)?
            }
        };
        self.given[output] = Some(sum);
        Ok(())
    }

    /// A sum in the dtype in which it is accumulated further.
    fn widen(&mut self, output: usize, sum: Raw, many: u32) -> Result<Raw> {
        let wide = sum_dtype(sum.dtype(), self.additions >= many);
        if wide == sum.dtype() {
            return Ok(sum);
        }
        if self.widened.iter().all(|(at, _)| *at != output) {
            self.widened.push((output, sum.dtype()));
        }
        to_dtype(&sum, wide)
    }

    /// Rounds sums that were accumulated in a wider dtype.
    fn round(&mut self) -> Result<()> {
        for (output, dtype) in self.widened.drain(..) {
            if let Some(Some(sum)) = self.given.get_mut(output) {
                *sum = to_dtype(sum, dtype)?;
            }
        }
        Ok(())
    }
}

/// The dtype in which a sum of gradients is accumulated: 16 bits stop at a few hundred equal summands.
fn sum_dtype(dtype: DType, many: bool) -> DType {
    match dtype {
        DType::F16 | DType::BF16 if !many => DType::F32,
        DType::F16 | DType::BF16 | DType::F32 if many => DType::F64,
        DType::C64 if many => DType::C128,
        other => other,
    }
}

/// Nodes that something has come for, the latest last.
type Waiting = BTreeMap<(u64, usize), Pending>;

thread_local! {
    /// An empty one, which keeps the block that its first nodes lie in.
    static WAITING: Cell<Waiting> = const { Cell::new(Waiting::new()) };
}

/// Gradients that are left somewhere, most often few.
type Left = SmallVec<[(NodeRef, Raw); 4]>;

/// A backward pass.
pub(super) struct Pass<'a> {
    options: BackwardOptions,
    /// The nodes that it goes through; all where there are none.
    through: Option<&'a HashSet<usize>>,
    pending: Waiting,
}

impl<'a> Pass<'a> {
    pub(super) fn new(options: BackwardOptions, through: Option<&'a HashSet<usize>>) -> Self {
        Self {
            options,
            through,
            // A value of another thread-local variable may go back when it is dropped, after this one is.
            pending: WAITING.try_with(Cell::take).unwrap_or_default(),
        }
    }

    fn pending(&mut self, node: &NodeRef) -> Option<&mut Pending> {
        let outside = |all: &HashSet<usize>| !all.contains(&node.address());
        if self.through.is_some_and(outside) {
            return None;
        }
        let place = self.pending.entry((node.clock(), node.address()));
        Some(place.or_insert_with(|| Pending::new(node)))
    }

    /// Adds to what has come for an output of a node.
    pub(super) fn give(&mut self, node: &NodeRef, output: usize, grad: Raw) -> Result<()> {
        let Some(pending) = self.pending(node) else {
            return Ok(());
        };
        if let Some(chain) = &mut pending.chain {
            let dtype = chain.like().dtype();
            if sum_dtype(dtype, pending.additions >= MANY) == dtype {
                pending.additions += 1;
                chain.plus(grad);
                return Ok(());
            }
            pending.settle()?;
        }
        pending.add(output, grad)
    }

    /// The same of the only output of a node, and what is still to be computed.
    fn give_chain(&mut self, node: &NodeRef, mut chain: Box<dyn Chain>) -> Result<()> {
        let Some(pending) = self.pending(node) else {
            return Ok(());
        };
        pending.settle()?;
        if matches!(pending.given.first(), Some(Some(_))) && pending.widens(chain.like().dtype()) {
            return pending.add(0, chain.compute()?);
        }
        if let Some(Some(before)) = pending.given.pop() {
            pending.additions += 1;
            chain.plus(before);
        }
        pending.chain = Some(chain);
        Ok(())
    }

    /// Adds the gradient of a part of an operand to what has come for the operand; false where nothing has, or nothing yet.
    fn add_part(&mut self, node: &Node, part: &View, pending: &mut Pending) -> Result<bool> {
        pending.settle()?;
        if let (Some(Some(edge)), Some(Some(grad))) = (node.edges().first(), pending.given.first())
            && let Some(whole) = self.pending(edge)
            && whole.chain.is_none()
            && let Some(sum) = whole.given.first_mut()
            && let Some(before) = sum.take()
        {
            whole.additions = whole.additions.saturating_add(1);
            let before = whole.widen(0, before, MANY_PARTS)?;
            whole.given[0] = Some(add_part(before, grad, part)?);
            return Ok(true);
        }
        Ok(false)
    }

    /// Goes back. `reached` gets each node that `asks` for it with its gradient, which its hooks have seen, and says whether to go
    /// on from there.
    pub(super) fn run(
        mut self,
        asks: impl Fn(&Node) -> bool,
        mut reached: impl FnMut(&NodeRef, &ResultGrads) -> Result<bool>,
    ) -> Result<()> {
        let records = self.options.create_graph;
        switched(records, || {
            while let Some((_, mut pending)) = self.pending.pop_last() {
                let mut goes_on = true;
                pending.round()?;
                let node = &pending.node;
                if node.extras().is_some() || asks(node) {
                    pending.settle()?;
                    pending.given = hooked(&pending.node, pending.given)?;
                    goes_on = reached(&pending.node, &pending.given)?;
                }
                if goes_on && self.goes_on(&pending.node) {
                    self.pass(pending)?;
                }
            }
            // Without the block where the thread ends.
            let _ = WAITING.try_with(|waiting| waiting.set(self.pending));
            Ok(())
        })
    }

    /// Whether a gradient is asked for behind a node.
    fn goes_on(&self, node: &Node) -> bool {
        let mut edges = node.edges().iter().flatten();
        match self.through {
            None => !node.is_leaf(),
            Some(all) => edges.any(|edge| all.contains(&edge.address())),
        }
    }

    /// Lets a gradient through a node to those of its operands.
    fn pass(&mut self, mut pending: Pending) -> Result<()> {
        let records = self.options.create_graph;
        let last = !(self.options.retain_graph || records);
        let node = NodeRef::of(&pending.node);
        if let (Some(output), Some(Some(operator))) = (node.output(), node.edges().first()) {
            pending.settle()?;
            return match pending.given.into_iter().next() {
                Some(Some(grad)) => self.give(operator, output, grad),
                _ => Ok(()),
            };
        }
        let run = Run::new(&node, records, self.through);
        let found = node.through(last, |rule| {
            let added = match rule.part().filter(|_| !records) {
                Some(part) => self.add_part(&node, part, &mut pending),
                None => Ok(false),
            };
            added.and_then(|added| match added {
                true => Ok(Passed::default()),
                false => passed(rule, pending, &run),
            })
        });
        let Passed { computed, chains } = found.ok_or_else(used)??;
        for (edge, grad) in node.edges().iter().zip(computed) {
            if let (Some(edge), Some(grad)) = (edge, grad) {
                self.give(edge, 0, grad)?;
            }
        }
        for (edge, chain) in node.edges().iter().zip(chains) {
            if let (Some(edge), Some(chain)) = (edge, chain) {
                self.give_chain(edge, chain)?;
            }
        }
        Ok(())
    }
}

/// The gradients of a rule's operands: all of one kind.
#[derive(Default)]
struct Passed {
    computed: OperandGrads,
    chains: Chains,
}

fn passed(rule: &dyn Rule, mut pending: Pending, run: &Run<'_>) -> Result<Passed> {
    let incoming = match (pending.chain.take(), &mut pending.given[..]) {
        (Some(chain), _) => Some(Incoming::Chain(chain)),
        (None, [grad]) if !run.records() => grad.take().map(Incoming::Computed),
        _ => None,
    };
    if let Some(incoming) = incoming {
        match rule.extend(incoming, run)? {
            Extended::Chains(chains) => {
                let computed = OperandGrads::new();
                return Ok(Passed { computed, chains });
            }
            Extended::Not(incoming) => {
                pending.given.clear();
                pending.given.push(Some(incoming.compute()?));
            }
        }
    }
    let (computed, chains) = (rule.backward(&pending.given, run)?, Chains::new());
    Ok(Passed { computed, chains })
}

/// What a node's hooks make of its gradient.
fn hooked(node: &Node, mut given: ResultGrads) -> Result<ResultGrads> {
    if let (Some(extras), Some(grad)) = (node.extras(), given.first_mut())
        && let Some(before) = grad.take()
    {
        *grad = Some(extras.hooks.run(before)?);
    }
    Ok(given)
}

/// A sum, in the buffer of the first where nobody shares it.
fn added(before: Raw, grad: &Raw) -> Result<Raw> {
    pointwise_owned(Op::Add, before, &[Arg::Tensor(grad)])
}

#[cold]
fn used() -> Error {
    Error::new(
        ErrorKind::Gradient,
        "backward",
        "an earlier `backward` used up the graph",
    )
    .hint("keep it with `retain_graph`")
}

#[cold]
fn unrecorded(op: &'static str, x: &Raw) -> Error {
    if trace::is_on() {
        let what = "within `checkpoint` there is no graph yet";
        return Error::new(ErrorKind::Gradient, op, what)
            .hint("take `nomina::grad::grad` there, or go back from the result of `checkpoint`");
    }
    Error::new(ErrorKind::Gradient, op, "nothing was recorded")
        .operand(&Names::default(), x.shape())
        .hint("call `requires_grad_` on a leaf, outside of `no_grad`")
}

/// Adds the gradients of the leaves that `x` was computed of to what they have; `seed` is the gradient of `x`.
///
/// # Errors
/// When `x` was not recorded, a graph is used up, an operator has no derivative, or memory is missing. No gradient has changed
/// then.
pub fn backward(x: &Raw, seed: Raw, options: BackwardOptions) -> Result<()> {
    let node = x.node().filter(|_| !trace::is_on());
    let node = node.ok_or_else(|| unrecorded("backward", x))?;
    check("backward", x, &seed)?;
    let mut way = Pass::new(options, None);
    way.give(&NodeRef::of(node), 0, seed)?;
    let mut found = Left::new();
    let asks = |node: &Node| node.slot().is_some();
    way.run(asks, |node, given| {
        if let (Some(_), Some(Some(grad))) = (node.slot(), given.first()) {
            put(&mut found, (NodeRef::of(node), grad.clone()))?;
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

/// Adds gradients to their slots; each becomes the sum that is there.
fn store(found: &mut Left, options: BackwardOptions) -> Result<()> {
    // All slots at once, always in one order, so that of two threads none waits for the other.
    found.sort_unstable_by_key(|(node, _)| node.address());
    let mut slots: SmallVec<[(MutexGuard<'_, Option<Raw>>, &mut Raw); 4]> = SmallVec::new();
    for (node, grad) in found {
        let Some(slot) = node.slot() else { continue };
        let held = lock(slot);
        if let Some(before) = &*held {
            let both = [Arg::Tensor(before), Arg::Tensor(grad)];
            *grad = switched(options.create_graph, || pointwise(Op::Add, &both))?;
        }
        put(&mut slots, (held, grad))?;
    }
    for (slot, sum) in &mut slots {
        **slot = Some(sum.clone());
    }
    Ok(())
}

/// Refuses a seed that is no gradient of `x`.
pub(super) fn check(op: &'static str, x: &Raw, seed: &Raw) -> Result<()> {
    if x.shape() == seed.shape() && x.dtype() == seed.dtype() && x.device() == seed.device() {
        return Ok(());
    }
    let apart = x.shape().iter().zip(seed.shape()).position(|(a, b)| a != b);
    if let Some(dim) = apart.filter(|_| x.rank() == seed.rank()) {
        let (shapes, dims) = ([x.shape(), seed.shape()], [(0, dim), (1, dim)]);
        return Err(Error::sizes(op, shapes, dims).hint("a seed has the sizes of its tensor"));
    }
    let what = "the gradient to start from has another rank, dtype or device";
    Err(Error::new(ErrorKind::Shape, op, what)
        .operand(&Names::default(), x.shape())
        .operand(&Names::default(), seed.shape())
        .hint("give one like the tensor"))
}

/// The gradients of `x` with respect to each of `inputs`, and no other: nothing is added to any tensor. None for an input
/// that `x` was not computed of.
///
/// # Errors
/// As [`backward`].
pub fn gradients(
    x: &Raw,
    seed: Raw,
    inputs: &[&Raw],
    options: BackwardOptions,
) -> Result<Vec<Option<Raw>>> {
    if x.node().is_none() || trace::is_on() {
        return Err(unrecorded("gradients", x));
    }
    check("gradients", x, &seed)?;
    let reach = Reach::new(
        &[x],
        &targets(inputs.iter().map(|input| input.node()))?,
        false,
        0,
    )?;
    pull([(x, seed)], &reach, options)
}
