//! Fusions: several nodes of a graph become one call of a kernel that computes them together.
//!
//! A node is only fused if its result is needed by nothing else: no other node, no graph inside, and no output. All fusions are for
//! `f32`, of which the reader of a graph knows by [`View::is_f32`].

mod chain;
mod patterns;
mod program;
mod rows;
mod view;
mod weights;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use nomina::{DType, DynTensor};
use nomina_runtime::call::PreparedWeight;

use crate::fold::fold;
use crate::graph::{Attribute, Graph, Node, Placement, StatedSize, ValueId, ValueType};

pub use program::Program;
pub use view::View;

/// The number of fusions of each kind.
pub type Counts = BTreeMap<&'static str, usize>;

/// Nodes to replace by one at the place of the last.
pub struct Fusion {
    /// The kind, as counted.
    pub kind: &'static str,
    /// The nodes, by index; the first is the last of them in the graph, whose result the new node makes.
    pub nodes: Vec<usize>,
    /// The operator's row.
    pub op: &'static str,
    /// The operands: values, or constants that are new.
    pub inputs: Vec<Operand>,
    /// The attributes.
    pub attributes: Vec<(String, Attribute)>,
}

/// An operand of a fused node.
#[allow(
    clippy::large_enum_variant,
    reason = "there are few, and none lives long"
)]
pub enum Operand {
    /// A value of the graph.
    Value(ValueId),
    /// A new constant.
    Constant(DynTensor),
    /// Nothing.
    None,
}

/// Returns a graph in which nodes that have a common kernel are one node, and how many of each kind.
pub fn fuse(graph: &Graph) -> (Graph, Counts) {
    let (mut graph, mut counts) = (graph.clone(), Counts::new());
    fuse_into(&mut graph, &mut counts);
    (graph, counts)
}

/// Prepares the constant weights of convolutions, which the first run packs.
pub fn prepare(graph: &mut Graph) {
    for node in &mut graph.nodes {
        for (_, attribute) in &mut node.attributes {
            if let Attribute::Graph(inner) = attribute {
                prepare(inner);
            }
        }
        let weight = node.inputs.get(1).copied().flatten();
        let weight = weight.and_then(|id| graph.constants.get(&id));
        node.prepared = weight
            .filter(|_| matches!(&node.op[..], "Conv" | "ConvActivation"))
            .map(|weight| Arc::new(PreparedWeight::new(weight.raw().clone())));
    }
}

/// Fuses the nodes of a graph and of those inside it.
fn fuse_into(graph: &mut Graph, counts: &mut Counts) {
    // A run computes all constants, so that there is no need of a budget.
    fold(graph, usize::MAX);
    // A file may be wrong about the types of results.
    let known: HashSet<ValueId> = graph
        .inputs
        .iter()
        .copied()
        .chain(graph.captures.iter().map(|c| c.1))
        .collect();
    graph.types.retain(|id, _| known.contains(id));
    capture_known(graph);
    for node in &mut graph.nodes {
        for (_, attribute) in &mut node.attributes {
            if let Attribute::Graph(inner) = attribute {
                fuse_into(inner, counts);
            }
        }
    }
    fold_sizes(graph);
    let passes: [fn(&View<'_>, usize) -> Option<Fusion>; 7] = [
        patterns::match_norm,
        patterns::match_activation,
        weights::match_affine,
        weights::match_scale,
        weights::match_residual,
        weights::match_layer,
        patterns::match_attention,
    ];
    for pass in passes {
        // A pass may make room for itself: a convolution takes a factor, and then a bias.
        while apply(graph, pass, counts) {}
    }
    apply(graph, chain::match_chain, counts);
}

/// Gives graphs inside the constants of this one, and the dtypes and sizes of other values that they capture.
fn capture_known(graph: &mut Graph) {
    if graph
        .nodes
        .iter()
        .all(|node| node.graphs().next().is_none())
    {
        return;
    }
    let (mut nodes, view) = (graph.nodes.clone(), View::new(graph));
    for node in &mut nodes {
        for (_, attribute) in &mut node.attributes {
            let Attribute::Graph(inner) = attribute else {
                continue;
            };
            for (outside, inside) in std::mem::take(&mut inner.captures) {
                inner.types.remove(&inside);
                if let Some(constant) = view.constant(outside) {
                    inner.constants.insert(inside, constant.clone());
                    continue;
                }
                inner.captures.push((outside, inside));
                if !view.is_f32(outside) {
                    continue;
                }
                let sizes = view.sizes(outside).map(|sizes| {
                    let size =
                        |size: Option<usize>| size.map_or(StatedSize::Unknown, StatedSize::Fixed);
                    sizes.into_iter().map(size).collect()
                });
                let kind = ValueType {
                    dtype: Some(DType::F32),
                    sizes,
                    spelling: String::new(),
                };
                inner.types.insert(inside, kind);
            }
        }
    }
    drop(view);
    graph.nodes = nodes;
}

/// Replaces sizes that are known by constants, so that the nodes that compute them are not needed.
fn fold_sizes(graph: &mut Graph) {
    let symbolic = graph.types.clone();
    // Two inputs may have different sizes for one symbol.
    for kind in graph.types.values_mut() {
        for size in kind.sizes.iter_mut().flatten() {
            if let crate::graph::StatedSize::Symbol(_) = size {
                *size = crate::graph::StatedSize::Unknown;
            }
        }
    }
    let view = View::new(graph);
    let mut new = Vec::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        for (place, id) in node
            .inputs
            .iter()
            .enumerate()
            .filter_map(|(at, id)| Some((at, (*id)?)))
        {
            if graph.constants.contains_key(&id) || view.maker(id).is_none() {
                continue;
            }
            let rank = view.rank(id);
            let mut values = view.ints(id);
            if node.op == "Reshape"
                && place == 1
                && !matches!(node.attribute("allowzero"), Some(Attribute::Int(1)))
            {
                // One size that is not known is what remains.
                if let Some(values) = &mut values
                    && values.iter().filter(|value| value.is_none()).count() == 1
                    && values.iter().flatten().all(|&value| value > 0)
                {
                    values
                        .iter_mut()
                        .filter(|value| value.is_none())
                        .for_each(|value| *value = Some(-1));
                }
            }
            let Some(values) = values.and_then(|all| all.into_iter().collect::<Option<Vec<i64>>>())
            else {
                continue;
            };
            // The dtype of other integers is not known.
            let takes_i64 = matches!(
                (&node.op[..], place),
                ("Reshape" | "Expand" | "Tile", 1) | ("ConstantOfShape", 0) | ("Slice", 1..=4)
            );
            let shape: &[usize] = match rank {
                Some(1) => &[values.len()],
                _ => continue,
            };
            if takes_i64 && let Ok(tensor) = DynTensor::from_vec(values.clone(), shape, ()) {
                new.push((at, place, tensor));
            }
        }
    }
    drop(view);
    graph.types = symbolic;
    // All bounds of a slice have one dtype.
    let folded: HashSet<(usize, usize)> = new.iter().map(|(at, place, _)| (*at, *place)).collect();
    let fits = |graph: &Graph, at: usize, id: Option<ValueId>, place: usize| {
        id.is_none_or(|id| {
            folded.contains(&(at, place))
                || graph
                    .constants
                    .get(&id)
                    .is_some_and(|c| c.dtype() == DType::I64)
        })
    };
    let new: Vec<_> = new
        .into_iter()
        .filter(|(at, _, _)| {
            let node = &graph.nodes[*at];
            node.op != "Slice"
                || (1..node.inputs.len()).all(|place| fits(graph, *at, node.inputs[place], place))
        })
        .collect();
    for (at, place, tensor) in new {
        let id = add_constant(graph, tensor);
        graph.nodes[at].inputs[place] = Some(id);
    }
    graph.remove_dead();
}

fn add_constant(graph: &mut Graph, tensor: DynTensor) -> ValueId {
    let id = graph.values.len();
    graph.values.push(format!("fused.{id}"));
    graph.constants.insert(id, tensor);
    id
}

/// Applies a pass to all nodes; returns whether it found one.
fn apply(
    graph: &mut Graph,
    pass: fn(&View<'_>, usize) -> Option<Fusion>,
    counts: &mut Counts,
) -> bool {
    let view = View::new(graph);
    let (mut taken, mut found) = (HashSet::new(), Vec::new());
    // From the back, so that a pattern is found at its last node.
    for at in (0..graph.nodes.len()).rev() {
        if taken.contains(&at) {
            continue;
        }
        if let Some(fusion) = pass(&view, at)
            && fusion.nodes.iter().all(|node| !taken.contains(node))
            && view.is_closed(&fusion.nodes)
            && let Some(row) = rows::row(fusion.op)
        {
            taken.extend(fusion.nodes.iter().copied());
            found.push((fusion, row));
        }
    }
    drop(view);
    let any = !found.is_empty();
    let mut gone = vec![false; graph.nodes.len()];
    for (fusion, row) in found {
        *counts.entry(fusion.kind).or_default() += 1;
        let root = fusion.nodes[0];
        fusion.nodes[1..].iter().for_each(|&node| gone[node] = true);
        let inputs = fusion.inputs.into_iter().map(|operand| match operand {
            Operand::Value(id) => Some(id),
            Operand::Constant(tensor) => Some(add_constant(graph, tensor)),
            Operand::None => None,
        });
        let inputs = inputs.collect();
        let node = &mut graph.nodes[root];
        let outputs = vec![node.outputs[0]];
        *node = Node {
            name: std::mem::take(&mut node.name),
            op: fusion.op.to_owned(),
            domain: rows::DOMAIN.to_owned(),
            row: Some(row),
            opset: node.opset,
            inputs,
            outputs,
            attributes: fusion.attributes,
            placement: Placement::default(),
            prepared: None,
        };
    }
    let mut gone = gone.into_iter();
    graph.nodes.retain(|_| !gone.next().unwrap_or(false));
    graph.remove_dead();
    any
}
