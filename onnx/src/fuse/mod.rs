//! Fusions: several nodes of a graph become one call of a kernel that computes them together.
//!
//! A node is only fused if its result is needed by nothing else: no other node, no graph inside, and no output. All fusions are for
//! `f32`, of which the reader of a graph knows by [`View::is_f32`].

mod chain;
mod patterns;
mod rows;
mod weights;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use nomina::{DType, DynTensor};

use crate::graph::{Attribute, Graph, Node, ValueId};
use crate::names::trace::Trace;
use crate::placement::Placement;

pub use chain::Program;

/// The number of fusions of each kind.
pub type Counts = BTreeMap<&'static str, usize>;

/// A graph with the results of one pass over it: who makes and who needs each value.
pub struct View<'a> {
    /// The graph.
    pub graph: &'a Graph,
    trace: Trace<'a>,
    made: Vec<Option<usize>>,
    /// The nodes that need a value; `usize::MAX` for outputs and graphs inside.
    uses: Vec<Vec<usize>>,
    f32: Vec<bool>,
    /// Transposed weights, by the address and sizes of the weight: layers may share one.
    turned: RefCell<HashMap<(usize, Vec<usize>), DynTensor>>,
}

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

/// Operators whose first result has the dtype of their first operand.
const KEEPS_DTYPE: &[&str] = &[
    "Conv",
    "ConvTranspose",
    "MatMul",
    "Gemm",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Pow",
    "Sqrt",
    "Exp",
    "Log",
    "Erf",
    "Tanh",
    "Sigmoid",
    "Relu",
    "LeakyRelu",
    "Clip",
    "Neg",
    "Abs",
    "Reciprocal",
    "HardSigmoid",
    "HardSwish",
    "Gelu",
    "Silu",
    "Elu",
    "PRelu",
    "Softplus",
    "Transpose",
    "Reshape",
    "Squeeze",
    "Unsqueeze",
    "Flatten",
    "Concat",
    "Slice",
    "Split",
    "Pad",
    "Expand",
    "Identity",
    "MaxPool",
    "AveragePool",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "BatchNormalization",
    "InstanceNormalization",
    "LayerNormalization",
    "Softmax",
    "LogSoftmax",
    "ReduceMean",
    "ReduceSum",
    "ReduceMax",
    "ReduceMin",
    "ReduceL2",
    "Gather",
    "Resize",
    "Upsample",
    "LSTM",
    "GRU",
    "RNN",
    "Sum",
    "Max",
    "Min",
    "Mean",
    "LRN",
    "Dropout",
    "Tile",
    "LayerNorm",
    "Attention",
    "Linear",
    "ConvActivation",
    "ConvTransposeActivation",
    "Chain",
    "Einsum",
];

impl<'a> View<'a> {
    /// Looks at a graph, whose stated types must be those of its inputs alone.
    pub fn new(graph: &'a Graph) -> Self {
        let count = graph.values.len();
        let (mut made, mut uses, mut f32) = (
            vec![None; count],
            vec![Vec::new(); count],
            vec![false; count],
        );
        for &id in &graph.inputs {
            f32[id] = graph.types.get(&id).and_then(|kind| kind.dtype) == Some(DType::F32);
        }
        for (&id, tensor) in &graph.constants {
            f32[id] = tensor.dtype() == DType::F32;
        }
        for (at, node) in graph.nodes.iter().enumerate() {
            for &id in node.inputs.iter().flatten() {
                uses[id].push(at);
            }
            for (captured, _) in node.graphs().flat_map(|graph| &graph.captures) {
                uses[*captured].push(usize::MAX);
            }
            for &id in node.outputs.iter().flatten() {
                made[id] = Some(at);
            }
            let first = node.inputs.first().copied().flatten();
            let keeps = node.row.is_some()
                && KEEPS_DTYPE.contains(&&node.op[..])
                && first.is_some_and(|id| f32[id]);
            let casts =
                node.op == "Cast" && matches!(node.attribute("to"), Some(Attribute::Int(1)));
            let count = if node.op == "Split" { usize::MAX } else { 1 };
            for id in node.outputs.iter().take(count).flatten() {
                f32[*id] = keeps || casts;
            }
        }
        for &id in &graph.outputs {
            uses[id].push(usize::MAX);
        }
        Self {
            graph,
            trace: Trace::new(graph, &[]),
            made,
            uses,
            f32,
            turned: RefCell::default(),
        }
    }

    /// Returns whether a value is known to be of `f32`.
    pub fn is_f32(&self, id: ValueId) -> bool {
        self.f32[id]
    }

    /// Returns the index of the node that makes a value.
    pub fn maker(&self, id: ValueId) -> Option<usize> {
        self.made[id]
    }

    /// Returns the index of the node that makes a value, if it is an ONNX operator or a fused one called `op`.
    pub fn made_by(&self, id: ValueId, op: &str) -> Option<usize> {
        self.made[id].filter(|&at| self.graph.nodes[at].op == op)
    }

    /// Returns an operand of a node.
    pub fn input(&self, node: usize, at: usize) -> Option<ValueId> {
        self.graph.nodes[node].inputs.get(at).copied().flatten()
    }

    /// Returns both operands of a node that has two.
    pub fn two(&self, node: usize) -> Option<[ValueId; 2]> {
        match self.graph.nodes[node].inputs[..] {
            [Some(a), Some(b)] => Some([a, b]),
            _ => None,
        }
    }

    /// Returns the result of a node.
    pub fn result(&self, node: usize) -> Option<ValueId> {
        self.graph.nodes[node].outputs.first().copied().flatten()
    }

    /// Returns a constant.
    pub fn constant(&self, id: ValueId) -> Option<&'a DynTensor> {
        self.graph.constants.get(&id)
    }

    /// Returns a matrix transposed and laid out by rows, which is the faster layout of linear layers.
    pub fn turned(&self, weight: &DynTensor) -> Option<DynTensor> {
        let turn = || weight.transpose(0, 1).ok()?.contiguous().ok();
        let Some(bytes) = weight.raw().as_bytes() else {
            return turn();
        };
        let key = (bytes.as_ptr() as usize, weight.shape().to_vec());
        if let Some(known) = self.turned.borrow().get(&key) {
            return Some(known.clone());
        }
        let new = turn()?;
        self.turned.borrow_mut().insert(key, new.clone());
        Some(new)
    }

    /// Returns the number of dims, if it is known.
    pub fn rank(&self, id: ValueId) -> Option<usize> {
        self.trace.dims[id].as_ref().map(Vec::len)
    }

    /// Returns whether two values are known to have the same sizes.
    pub fn have_same_sizes(&self, a: ValueId, b: ValueId) -> bool {
        match (&self.trace.dims[a], &self.trace.dims[b]) {
            (Some(a), Some(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.size == b.size)
            }
            _ => false,
        }
    }

    /// Returns the integers in a value that is known.
    pub fn known_ints(&self, id: ValueId) -> Option<Vec<i64>> {
        self.trace
            .sizes_of(Some(id))?
            .iter()
            .map(|size| size.known())
            .collect()
    }

    /// Returns the sizes in a value, where they are known.
    pub fn ints(&self, id: ValueId) -> Option<Vec<Option<i64>>> {
        Some(
            self.trace
                .sizes_of(Some(id))?
                .iter()
                .map(|size| size.known())
                .collect(),
        )
    }

    /// Returns the number in a constant of one element that does not add dims to `beside`.
    pub fn number(&self, id: ValueId, beside: ValueId) -> Option<f64> {
        let constant = self
            .constant(id)
            .filter(|c| c.numel() == 1 && c.dtype() == DType::F32)?;
        let fits = constant.rank() == 0
            || self
                .rank(beside)
                .is_some_and(|rank| constant.rank() <= rank);
        if fits {
            Some(constant.item().ok()?.to_f64())
        } else {
            None
        }
    }

    /// Returns whether the results of all nodes but the first are needed by these nodes alone, and no other result of them is needed.
    pub fn is_closed(&self, nodes: &[usize]) -> bool {
        let inside: HashSet<usize> = nodes.iter().copied().collect();
        nodes.iter().enumerate().all(|(at, &node)| {
            let outputs = &self.graph.nodes[node].outputs;
            let others = outputs
                .iter()
                .skip(1)
                .flatten()
                .all(|&id| self.uses[id].is_empty());
            let first = outputs
                .iter()
                .take(1)
                .flatten()
                .all(|&id| at == 0 || self.uses[id].iter().all(|user| inside.contains(user)));
            others && first
        })
    }
}

/// Returns a graph in which nodes that have a common kernel are one node, and how many of each kind.
pub fn fuse(graph: &Graph) -> (Graph, Counts) {
    let (mut graph, mut counts) = (graph.clone(), Counts::new());
    // A file may be wrong about the types of results.
    let inputs: HashSet<ValueId> = graph.inputs.iter().copied().collect();
    graph.types.retain(|id, _| inputs.contains(id));
    for node in &mut graph.nodes {
        for (_, attribute) in &mut node.attributes {
            if let Attribute::Graph(inner) = attribute {
                let (fused, inside) = fuse(inner);
                **inner = fused;
                inside
                    .into_iter()
                    .for_each(|(kind, count)| *counts.entry(kind).or_default() += count);
            }
        }
    }
    fold_sizes(&mut graph);
    let passes: [fn(&View<'_>, usize) -> Option<Fusion>; 5] = [
        patterns::match_norm,
        patterns::match_activation,
        weights::match_affine,
        weights::match_layer,
        patterns::match_attention,
    ];
    for pass in passes {
        // A pass may make room for itself: a convolution takes a factor, and then a bias.
        while apply(&mut graph, pass, &mut counts) {}
    }
    apply(&mut graph, chain::match_chain, &mut counts);
    (graph, counts)
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
        };
    }
    let mut gone = gone.into_iter();
    graph.nodes.retain(|_| !gone.next().unwrap_or(false));
    graph.remove_dead();
    any
}
