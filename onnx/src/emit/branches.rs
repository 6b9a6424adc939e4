//! Branches of `If` that sizes choose, and the sizes on which the choice depends.

use std::collections::{BTreeSet, HashMap};

use nomina::DynTensor;
use nomina_core::{Error, ErrorKind, Result};

use super::options::ImportOptions;
use super::sample::{Guard, Samples};
use crate::call::{Value, Values, from_ints, ints};
use crate::draft::Draft;
use crate::fold::truth;
use crate::graph::{Graph, Node, StatedSize, ValueId};
use crate::model::Model;
use crate::proto::READ;
use crate::run::call;

/// The branches that were chosen.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The sizes that chose.
    pub guards: Vec<Guard>,
    /// The nodes, and which branch.
    pub branches: Vec<String>,
}

/// Sets inputs, and replaces each `If` whose condition follows from sizes by its branch.
///
/// # Errors
/// If an input is not there, or the model does not run.
pub fn choose(draft: &mut Draft, options: &ImportOptions) -> Result<Choice> {
    for (name, &value) in &options.values {
        let tensor = constant(&draft.graph, name, value)?;
        draft.set_input(name, tensor)?;
    }
    let (mut guards, mut branches) = (BTreeSet::new(), Vec::new());
    while draft.graph.nodes.iter().any(|node| node.op == "If") {
        let model = Model::new(draft.clone(), Default::default())?;
        let samples = Samples::take(&draft.graph, model.inputs(), &options.sizes)?;
        let sources = sources(&draft.graph, &samples);
        let chosen = |id: ValueId| {
            let value = samples.values[id].as_ref()?.tensor();
            truth(value.filter(|_| samples.is_from_sizes(id))?)
        };
        for node in draft.graph.nodes.iter().filter(|node| node.op == "If") {
            let Some(condition) = node.inputs.first().copied().flatten() else {
                continue;
            };
            let Some(holds) = chosen(condition) else {
                continue;
            };
            let axes = sources.get(&condition).into_iter().flatten().flatten();
            guards.extend(axes.map(|&(id, axis)| Guard {
                id,
                axis,
                size: samples.shape(id)[axis],
            }));
            let branch = if holds { "then" } else { "else" };
            let path = draft.graph.path_of(node);
            branches.push(format!("`{path}`: {branch}_branch"));
        }
        if draft.graph.take_branches(|_, id| chosen(id)) == 0 {
            break;
        }
        draft.fold();
    }
    Ok(Choice {
        guards: guards.into_iter().collect(),
        branches,
    })
}

/// Returns an input as a constant that has one number everywhere.
fn constant(graph: &Graph, name: &str, value: f64) -> Result<DynTensor> {
    let fail = |what: String| Err(Error::new(ErrorKind::Argument, READ, what));
    let id = graph.inputs.iter().find(|&&id| graph.values[id] == name);
    let kind = id.and_then(|id| graph.types.get(id));
    let Some(dtype) = kind.and_then(|kind| kind.dtype) else {
        return fail(format!("there is no input `{name}` of a known dtype"));
    };
    let sizes = kind.and_then(|kind| kind.sizes.clone()).unwrap_or_default();
    let fixed = sizes.iter().map(|size| match size {
        StatedSize::Fixed(size) => Some(*size),
        _ => None,
    });
    let Some(shape) = fixed.collect::<Option<Vec<_>>>() else {
        return fail(format!(
            "the input `{name}` has sizes that are not fixed, and cannot become a constant"
        ));
    };
    DynTensor::full(&shape, value, ())?.to_dtype(dtype)
}

/// The sizes on which each element of a value depends, as values and dims.
type Sources = Vec<BTreeSet<(ValueId, usize)>>;

/// Follows sizes through the values that are computed from sizes alone.
fn sources(graph: &Graph, samples: &Samples) -> HashMap<ValueId, Sources> {
    let mut all = HashMap::<ValueId, Sources>::new();
    let ranks: BTreeSet<ValueId> = graph
        .nodes
        .iter()
        .filter(|node| node.op == "Shape")
        .filter_map(|node| node.outputs.first().copied().flatten())
        .collect();
    let mut values = samples.values.clone();
    for node in &graph.nodes {
        for &output in node.outputs.iter().flatten() {
            let count = samples.shape(output).iter().product();
            if samples.is_from_sizes(output) && count <= MOST_ELEMENTS {
                let own = node_sources(node, count, samples, &ranks, &all, &mut values);
                all.insert(output, own);
            }
        }
    }
    all
}

/// The most elements of a value whose sources are told apart.
const MOST_ELEMENTS: usize = 1 << 12;

fn node_sources(
    node: &Node,
    count: usize,
    samples: &Samples,
    ranks: &BTreeSet<ValueId>,
    all: &HashMap<ValueId, Sources>,
    values: &mut Values,
) -> Sources {
    let data = node.inputs.first().copied().flatten();
    if let ("Shape" | "Size", Some(x)) = (&node.op[..], data) {
        // The sizes of a shape are the rank of a value, which no size changes.
        let rank = samples.shape(x).len();
        let axes = (0..rank).filter(|_| !ranks.contains(&x) && samples.constant(x).is_none());
        let axes = axes.map(|axis| (x, axis));
        let whole = node.op == "Shape" && count == rank;
        return if whole && axes.clone().count() == count {
            axes.map(|axis| [axis].into()).collect()
        } else {
            vec![axes.collect(); count]
        };
    }
    let inputs = || node.inputs.iter().flatten();
    let known = |id: &ValueId| {
        all.get(id)
            .map_or(0, |own| own.iter().map(BTreeSet::len).sum())
    };
    let moves = match &node.op[..] {
        "Gather" | "Slice" | "Squeeze" | "Unsqueeze" | "Reshape" | "Identity" | "Cast" => 1,
        "Concat" => node.inputs.len(),
        _ => 0,
    };
    if moves > 0
        && inputs().skip(moves).all(|id| known(id) == 0)
        && let Some(order) = order(node, moves, samples, values)
        && order.len() == count
    {
        let empty = BTreeSet::new();
        let elements: Vec<_> = inputs()
            .take(moves)
            .flat_map(|id| {
                let own = all.get(id);
                let numel = samples.shape(*id).iter().product::<usize>();
                (0..numel).map(move |at| own.and_then(|own| own.get(at)))
            })
            .collect();
        let pick = |at: usize| {
            elements
                .get(at)
                .copied()
                .flatten()
                .unwrap_or(&empty)
                .clone()
        };
        return order.into_iter().map(pick).collect();
    }
    let union: BTreeSet<_> = inputs()
        .filter_map(|id| all.get(id))
        .flatten()
        .flatten()
        .copied()
        .collect();
    vec![union; count]
}

/// Returns which element of the first `moves` inputs each element of a node's result is.
fn order(node: &Node, moves: usize, samples: &Samples, values: &mut Values) -> Option<Vec<usize>> {
    let ids: Vec<ValueId> = node
        .inputs
        .iter()
        .take(moves)
        .copied()
        .collect::<Option<_>>()?;
    let mut start = 0;
    for &id in &ids {
        let shape = samples.shape(id);
        let end = start + shape.iter().product::<usize>();
        let numbers = (start..end).map(|n| n as i64).collect();
        values[id] = Some(Value::Tensor(from_ints(numbers, shape).ok()?));
        start = end;
    }
    let moved = match &node.op[..] {
        "Cast" | "Identity" => values[ids[0]].clone(),
        _ => call(node, values)
            .ok()
            .and_then(|all| all.into_iter().next()),
    };
    for &id in &ids {
        values[id].clone_from(&samples.values[id]);
    }
    let numbers = ints(moved?.tensor()?).ok()?;
    numbers
        .into_iter()
        .map(|n| usize::try_from(n).ok())
        .collect()
}

/// Returns the inputs whose values a value depends on.
pub fn inputs_behind(graph: &Graph, id: ValueId) -> Vec<&str> {
    let mut needed = vec![false; graph.values.len()];
    needed[id] = true;
    for node in graph.nodes.iter().rev() {
        if node.outputs.iter().flatten().any(|&id| needed[id])
            && !matches!(&node.op[..], "Shape" | "Size")
        {
            node.inputs
                .iter()
                .flatten()
                .for_each(|&id| needed[id] = true);
        }
    }
    let inputs = graph.inputs.iter().filter(|id| needed[**id]);
    inputs.map(|&id| &graph.values[id][..]).collect()
}
