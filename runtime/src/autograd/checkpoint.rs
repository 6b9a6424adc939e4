//! Checkpoints: functions that are computed again during the backward pass, so that their intermediate results are not saved.

use std::sync::Arc;

use nomina_core::{Error, ErrorKind, Result};

use super::backward::check_seed;
use super::function::argument;
use super::pass::BackwardOptions;
use super::reach::{Reach, is_computed_of, pull, targets};
use crate::random::replay::{self, RecordedDraws};
use crate::raw::Raw;
use crate::raw::graph::{
    Node, NodeRef, OperandGrads, ResultGrads, Rule, Run, is_grad_enabled, switched, trace,
};
use crate::tape::has_gradient;

const OP: &str = "checkpoint";

/// A function that the backward pass computes again.
pub type Segment = Arc<dyn Fn(&[Raw]) -> Result<Raw> + Send + Sync>;

/// The rule of a checkpoint.
struct Checkpoint {
    f: Segment,
    inputs: Vec<Raw>,
    drawn: RecordedDraws,
}

/// Returns the result of `f` without recording its operators: the backward pass computes `f` again, with the same random numbers.
///
/// Random numbers are repeated for every generator from which `f` draws on this thread. Computations of `f` on other threads are
/// repeated there.
///
/// # Errors
/// Returns the errors of `f`, and an error if memory is missing or if `f` computes on other threads that draw random numbers, which
/// could not be repeated. `backward` fails if `f` draws different random numbers the second time, or uses other recorded tensors.
pub fn checkpoint(f: Segment, inputs: &[&Raw]) -> Result<Raw> {
    let inputs: Vec<Raw> = inputs.iter().copied().cloned().collect();
    // An outer checkpoint computes this one again as a whole.
    if !is_grad_enabled() || trace::is_on() {
        return f(&inputs);
    }
    let arguments = arguments(&inputs)?;
    let (traced, drawn) = replay::recorded(|| trace::traced(|| f(&arguments)));
    let trace::Traced {
        result: y,
        node: stands_in,
        mut reached,
    } = traced?;
    let Some(last) = y.node() else {
        return Ok(y);
    };
    let is_last = |x: &Raw| x.node().is_some_and(|node| std::ptr::eq(node, last));
    if let Some(at) = arguments.iter().position(is_last) {
        // The result is an argument: its gradient is the input's.
        return Ok(match inputs[at].node() {
            Some(node) => y.detach().computed_by(NodeRef::from_node(node)),
            None => y.detach(),
        });
    }
    if last.is_leaf() || !reached.is_made_meanwhile(last) {
        return Ok(y);
    }
    if !has_gradient(y.dtype()) {
        return Ok(y.detach());
    }
    reached.add(&NodeRef::from_node(last), &stands_in)?;
    if drawn
        .elsewhere
        .iter()
        .any(|thread| reached.threads.contains(thread))
    {
        let what = "the closure computes on threads that drew random numbers: they would differ in the recomputation";
        return Err(Error::new(ErrorKind::Gradient, OP, what).hint(
            "draw on the thread that calls `checkpoint`, and pass the numbers to the others",
        ));
    }
    let own: Vec<usize> = nodes(&arguments).map(Node::address).collect();
    let captured = reached.nodes.into_iter();
    let captured = captured
        .filter(|node| !own.contains(&node.address()))
        .map(Some);
    let edges = inputs.iter().map(|x| x.node().map(NodeRef::from_node));
    let edges = edges.chain(captured).collect();
    let node = NodeRef::new(edges, Checkpoint { f, inputs, drawn })?;
    Ok(y.computed_by(node))
}

/// Returns the error of a closure that is a different function the second time.
#[cold]
fn differs(what: &str) -> Error {
    let what = format!("recomputed, the closure {what}");
    Error::new(ErrorKind::Gradient, OP, what)
        .hint("let it depend only on its arguments and captured tensors")
}

/// Returns the arguments of the closure. Recorded tensors get new nodes.
fn arguments(inputs: &[Raw]) -> Result<Vec<Raw>> {
    let own = |x: &Raw| {
        if x.requires_grad() {
            argument(OP, x)
        } else {
            Ok(x.clone())
        }
    };
    inputs.iter().map(own).collect()
}

fn nodes(tensors: &[Raw]) -> impl Iterator<Item = &Node> {
    tensors.iter().filter_map(Raw::node)
}

impl Rule for Checkpoint {
    fn op(&self) -> &'static str {
        OP
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let Some(Some(seed)) = given.first() else {
            return Ok(OperandGrads::new());
        };
        let arguments = arguments(&self.inputs)?;
        let since = trace::begin_epoch();
        let (y, is_same) = switched(true, || {
            replay::repeated(&self.drawn, || (self.f)(&arguments))
        });
        let y = y?;
        if !is_same {
            return Err(differs("draws other random numbers"));
        }
        check_seed(OP, &y, seed)?;
        let captured = run.edges().iter().skip(arguments.len());
        let captured = captured.map(|edge| edge.as_deref());
        let targets = targets(arguments.iter().map(Raw::node).chain(captured))?;
        if !is_computed_of(&y, &targets, since)? {
            return Err(differs("uses other recorded tensors, or none"));
        }
        let reach = Reach::new(&[&y], &targets, true, since)?;
        let options = BackwardOptions {
            create_graph: run.records(),
            ..BackwardOptions::default()
        };
        let found = pull([(&y, seed.clone())], &reach, options)?;
        Ok(found.into_iter().collect())
    }
}
