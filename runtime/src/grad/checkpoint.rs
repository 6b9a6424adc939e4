//! Checkpoints: functions whose forward pass is computed again during the backward pass, so that nothing of it is kept till then.

use std::sync::Arc;

use nomina_core::Result;

use super::BackwardOptions;
use super::function::argument;
use super::reach::{Reach, pull, targets};
use crate::call::has_gradient;
use crate::random::replay::{self, Drawn};
use crate::raw::Raw;
use crate::raw::graph::{
    NodeRef, OperandGrads, ResultGrads, Rule, Run, is_grad_enabled, switched, trace,
};

/// A function that is computed again.
pub type Segment = Arc<dyn Fn(&[Raw]) -> Result<Raw> + Send + Sync>;

struct Checkpoint {
    f: Segment,
    inputs: Vec<Raw>,
    drawn: Drawn,
}

/// What `f` gives, without a graph of how: it is computed again, with the same random numbers, when a gradient goes back.
///
/// # Errors
/// Those of `f`, and when memory is missing.
pub fn checkpoint(f: Segment, inputs: &[&Raw]) -> Result<Raw> {
    let inputs: Vec<Raw> = inputs.iter().copied().cloned().collect();
    // What is traced already is computed again as a whole.
    if !is_grad_enabled() || trace::is_on() {
        return f(&inputs);
    }
    let arguments = arguments(&inputs)?;
    let (result, drawn) = replay::recorded(|| trace::traced(|| f(&arguments)));
    let (y, traced, reached) = result?;
    if y.node()
        .is_none_or(|node| node.address() != traced.address())
    {
        return Ok(y);
    }
    if !has_gradient(y.dtype()) {
        return Ok(y.detach());
    }
    let own: Vec<usize> = nodes(&arguments).map(|node| node.address()).collect();
    let captured = reached.nodes.into_iter();
    let captured = captured
        .filter(|node| !own.contains(&node.address()))
        .map(Some);
    let edges = inputs.iter().map(|x| x.node().map(NodeRef::of));
    let edges = edges.chain(captured).collect();
    let node = NodeRef::new(edges, Checkpoint { f, inputs, drawn })?;
    Ok(y.computed_by(node))
}

/// What a closure is called with: results of their own of recorded tensors, and others as they are.
fn arguments(inputs: &[Raw]) -> Result<Vec<Raw>> {
    let own = |x: &Raw| match x.requires_grad() {
        true => argument("checkpoint", x),
        false => Ok(x.clone()),
    };
    inputs.iter().map(own).collect()
}

fn nodes(tensors: &[Raw]) -> impl Iterator<Item = &crate::raw::graph::Node> {
    tensors.iter().filter_map(Raw::node)
}

impl Rule for Checkpoint {
    fn op(&self) -> &'static str {
        "checkpoint"
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let Some(Some(seed)) = given.first() else {
            return Ok(OperandGrads::new());
        };
        let arguments = arguments(&self.inputs)?;
        let again = || replay::repeated(&self.drawn, || (self.f)(&arguments));
        let y = switched(true, again)?;
        super::backward::check("checkpoint", &y, seed)?;
        let captured = run.edges().iter().skip(arguments.len());
        let captured = captured.map(|edge| edge.as_deref());
        let targets = targets(arguments.iter().map(Raw::node).chain(captured))?;
        let reach = Reach::new(&[&y], &targets, true)?;
        let options = BackwardOptions {
            create_graph: run.records(),
            ..BackwardOptions::default()
        };
        let found = pull([(&y, seed.clone())], &reach, options)?;
        Ok(found.into_iter().collect())
    }
}
