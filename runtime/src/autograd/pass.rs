//! The engine of a backward pass, which takes the latest node first.

use std::cell::Cell;
use std::collections::HashSet;

use nomina_core::{Error, ErrorKind, Result};

use super::pending::{Pending, Waiting, sum_dtype};
use super::rules::add_part;
use crate::dispatch::accumulator;
use crate::raw::Raw;
use crate::raw::graph::{
    Chain, Chains, Extended, Incoming, Node, NodeRef, OperandGrads, ResultGrads, Rule, Run, View,
    switched,
};

/// Options for the graph after a backward pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackwardOptions {
    /// The graph is kept and can be used again.
    pub retain_graph: bool,
    /// Gradients are recorded, so that they have gradients; the graph is kept.
    ///
    /// The gradient that [`backward`](super::backward) stores in a leaf then holds its graph, which holds the leaf. This cycle is not
    /// freed with the last tensor, but by [`Raw::take_grad`], by [`Raw::set_grad`], or by a later `backward` without this option.
    /// [`gradients`](super::gradients) stores nothing in leaves and makes no cycle.
    pub create_graph: bool,
}

/// The number of additions of parts of a tensor, most of which do not overlap, from which the sum is kept in `f64`.
const MANY_PARTS: u32 = 4096;

thread_local! {
    /// No nodes, with the blocks of the last pass for the next.
    static WAITING: Cell<Option<Waiting>> = const { Cell::new(None) };
}

/// A backward pass.
pub(super) struct Pass<'a> {
    options: BackwardOptions,
    /// The addresses of the nodes to pass through; `None` for all.
    through: Option<&'a HashSet<usize>>,
    pending: Waiting,
}

impl<'a> Pass<'a> {
    pub(super) fn new(options: BackwardOptions, through: Option<&'a HashSet<usize>>) -> Self {
        Self {
            options,
            through,
            // A destructor of another thread-local variable may run a backward pass after this variable was dropped.
            pending: WAITING
                .try_with(Cell::take)
                .ok()
                .flatten()
                .unwrap_or_default(),
        }
    }

    fn pending(&mut self, node: &NodeRef) -> Result<Option<&mut Pending>> {
        let outside = |all: &HashSet<usize>| !all.contains(&node.address());
        if self.through.is_some_and(outside) {
            return Ok(None);
        }
        self.pending.entry(node).map(Some)
    }

    /// Adds to the gradient of an output of a node.
    pub(super) fn give(&mut self, node: &NodeRef, output: usize, grad: Raw) -> Result<()> {
        let Some(pending) = self.pending(node)? else {
            return Ok(());
        };
        if let Some(chain) = &mut pending.chain {
            let dtype = chain.like().dtype();
            if sum_dtype(dtype) == dtype {
                chain.plus(grad);
                if pending.ends_run() {
                    pending.settle()?;
                    if let Some(sum) = pending.given[0].take() {
                        pending.given[0] = pending.carry(0, sum)?;
                    }
                }
                return Ok(());
            }
            pending.settle()?;
        }
        pending.add(output, grad)
    }

    /// Like [`Pass::give`], but adds a deferred gradient to that of the only output.
    fn give_chain(&mut self, node: &NodeRef, mut chain: Box<dyn Chain>) -> Result<()> {
        let Some(pending) = self.pending(node)? else {
            return Ok(());
        };
        pending.settle()?;
        if let Some(Some(before)) = pending.given.pop() {
            let dtype = chain.like().dtype();
            if sum_dtype(dtype) != dtype {
                pending.given.push(Some(before));
                return pending.add(0, chain.compute()?);
            }
            chain.plus(before);
            if pending.ends_run() {
                let sum = pending.carry(0, chain.compute()?)?;
                pending.given.push(sum);
                return Ok(());
            }
        }
        pending.chain = Some(chain);
        Ok(())
    }

    /// Adds the gradient of a part of an operand in place to that of the operand; returns false if that is absent or deferred.
    fn add_part(&mut self, node: &Node, part: &View, pending: &mut Pending) -> Result<bool> {
        pending.settle()?;
        if let (Some(Some(edge)), Some(Some(grad))) = (node.edges().first(), pending.given.first())
            && let Some(whole) = self.pending(edge)?
            && whole.chain.is_none()
            && let Some(sum) = whole.given.first_mut()
            && let Some(before) = sum.take()
        {
            let dtype = before.dtype();
            let wide = if whole.count_addition() >= MANY_PARTS {
                accumulator(dtype)
            } else {
                sum_dtype(dtype)
            };
            let before = whole.widen(0, before, wide)?;
            whole.given[0] = Some(add_part(before, grad, part)?);
            return Ok(true);
        }
        Ok(false)
    }

    /// Runs the pass. `reached` is called with each node that `asks` for it and its gradient, after its hooks, and returns whether to
    /// continue from there.
    pub(super) fn run(
        mut self,
        asks: impl Fn(&Node) -> bool,
        mut reached: impl FnMut(&NodeRef, &ResultGrads) -> Result<bool>,
    ) -> Result<()> {
        let records = self.options.create_graph;
        switched(records, || {
            while let Some(mut pending) = self.pending.pop_last() {
                let mut continues = true;
                pending.round()?;
                let node = &pending.node;
                if node.extras().is_some() || asks(node) {
                    pending.settle()?;
                    pending.given = run_hooks(&pending.node, pending.given)?;
                    continues = reached(&pending.node, &pending.given)?;
                }
                if continues && self.needs_operands(&pending.node) {
                    self.pass(pending)?;
                }
            }
            // If the thread is ending, the blocks are freed.
            let _ = WAITING.try_with(|waiting| waiting.set(self.pending.emptied()));
            Ok(())
        })
    }

    /// Whether a gradient of an operand of a node is needed.
    fn needs_operands(&self, node: &Node) -> bool {
        let mut edges = node.edges().iter().flatten();
        match self.through {
            None => !node.is_leaf(),
            Some(all) => edges.any(|edge| all.contains(&edge.address())),
        }
    }

    /// Passes a gradient through a node to its operands.
    fn pass(&mut self, mut pending: Pending) -> Result<()> {
        let records = self.options.create_graph;
        let last = !(self.options.retain_graph || records);
        let node = NodeRef::from_node(&pending.node);
        if let (Some(output), Some(Some(operator))) = (node.output(), node.edges().first()) {
            pending.settle()?;
            return match pending.given.into_iter().next() {
                Some(Some(grad)) => self.give(operator, output, grad),
                _ => Ok(()),
            };
        }
        let run = Run::new(&node, records, self.through);
        let found = node.through(last, |rule| {
            let is_added = match rule.part().filter(|_| !records) {
                Some(part) => self.add_part(&node, part, &mut pending),
                None => Ok(false),
            };
            if is_added? {
                return Ok(Passed::default());
            }
            apply_rule(rule, pending, &run)
        });
        let Passed { computed, chains } = found.ok_or_else(used_graph)??;
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

/// The gradients of a rule's operands, of which either all are computed or all are deferred.
#[derive(Default)]
struct Passed {
    computed: OperandGrads,
    chains: Chains,
}

/// Computes or defers the gradients of a rule's operands.
fn apply_rule(rule: &dyn Rule, mut pending: Pending, run: &Run<'_>) -> Result<Passed> {
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

/// Runs the hooks of a node on its gradient.
fn run_hooks(node: &Node, mut given: ResultGrads) -> Result<ResultGrads> {
    if let (Some(extras), Some(grad)) = (node.extras(), given.first_mut())
        && let Some(before) = grad.take()
    {
        *grad = Some(extras.hooks.run(before)?);
    }
    Ok(given)
}

#[cold]
fn used_graph() -> Error {
    Error::new(
        ErrorKind::Gradient,
        "backward",
        "an earlier `backward` used up the graph",
    )
    .hint("keep it with `retain_graph`")
}
