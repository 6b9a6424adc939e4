//! One pass over a graph: who makes and who needs each value, and its dtype and sizes as far as they are known.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use nomina::{DType, DynTensor};

use crate::graph::{Attribute, Graph, ValueId};
use crate::names::classes::Dim;
use crate::names::trace::Trace;

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
    "Affine",
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
        let captured = graph.captures.iter().map(|capture| capture.1);
        for id in graph.inputs.iter().copied().chain(captured) {
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
            // The scale has the dtype of the tensor that is quantised.
            if node.op == "DynamicQuantizeLinear"
                && let Some(&Some(scale)) = node.outputs.get(1)
            {
                f32[scale] = first.is_some_and(|id| f32[id]);
            }
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

    /// Returns the sizes, where they are known, if the number of dims is.
    pub fn sizes(&self, id: ValueId) -> Option<Vec<Option<usize>>> {
        let known = |dim: &Dim| usize::try_from(dim.size.known()?).ok();
        Some(self.trace.dims[id].as_ref()?.iter().map(known).collect())
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
