//! Graphs: nodes, values, constants.

mod branch;
mod placement;
mod read;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use nomina::DynTensor;
use nomina_core::{DType, Error, ErrorKind, Result};
use nomina_runtime::call::PreparedWeight;

use crate::names::flow::Flow;
use crate::proto::READ;
use crate::value::{Spare, Value, Values};

pub use placement::Placement;
pub use read::Reader;

/// The index of a value in its graph.
pub type ValueId = usize;

/// A size in the type of a value, as the file states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StatedSize {
    /// A number.
    Fixed(usize),
    /// A symbol, `dim_param`.
    Symbol(String),
    /// Nothing.
    #[default]
    Unknown,
}

/// The type of a value, as far as the file states it.
#[derive(Clone, Debug, Default)]
pub struct ValueType {
    /// The dtype; `None` for a value that is no tensor.
    pub dtype: Option<DType>,
    /// The sizes; `None` if the rank is unknown.
    pub sizes: Option<Vec<StatedSize>>,
    /// The dtype's spelling in ONNX.
    pub spelling: String,
}

/// An attribute of a node.
#[allow(
    clippy::large_enum_variant,
    reason = "a model has few attributes, and they live as long as it does"
)]
#[derive(Clone, Debug)]
pub enum Attribute {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f32),
    /// A text.
    Text(String),
    /// A tensor.
    Tensor(DynTensor),
    /// A graph, of `If`, `Loop` and `Scan`.
    Graph(Box<Graph>),
    /// Integers.
    Ints(Vec<i64>),
    /// Floats.
    Floats(Vec<f32>),
    /// Texts.
    Texts(Vec<String>),
    /// A chain of elementwise operators, of a fused node.
    Program(Box<crate::fuse::Program>),
    /// An attribute of another kind, and why it cannot be read.
    Unread(String),
}

/// An operator, as a graph knows it; the table has its rows.
pub trait Operator: fmt::Debug + Sync {
    /// Returns the operator's name in ONNX.
    fn name(&self) -> &'static str;

    /// Returns how dims flow from inputs to outputs.
    fn flow(&self) -> Flow;

    /// Returns whether it may be computed when the model is opened: its result depends on its inputs alone.
    fn is_foldable(&self) -> bool;

    /// Computes the outputs of a node; `values` are all values of its graph, for graphs inside.
    ///
    /// # Errors
    /// If an input or attribute is missing or does not fit.
    fn run<'a>(
        &self,
        node: &'a Node,
        inputs: Vec<Option<&'a Value>>,
        values: &'a Values,
    ) -> Result<Vec<Value>>;
}

/// A call of an operator.
#[derive(Clone, Debug)]
pub struct Node {
    /// The node's name in the file, which may be empty.
    pub name: String,
    /// The operator's name.
    pub op: String,
    /// The operator's domain; empty for ONNX's own.
    pub domain: String,
    /// The operator's row for the model's opset.
    pub row: Option<&'static dyn Operator>,
    /// The opset of the domain.
    pub opset: i64,
    /// The inputs; `None` for one that is left out.
    pub inputs: Vec<Option<ValueId>>,
    /// The outputs; `None` for one that nobody asks for.
    pub outputs: Vec<Option<ValueId>>,
    /// The attributes.
    pub attributes: Vec<(String, Attribute)>,
    /// Where it runs, for values on a device.
    pub placement: Placement,
    /// The constant weight of a convolution that runs on the host.
    pub prepared: Option<Arc<PreparedWeight>>,
}

impl Node {
    /// Returns an attribute.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|a| a.0 == name).map(|a| &a.1)
    }

    /// Returns the graphs among the attributes.
    pub fn graphs(&self) -> impl Iterator<Item = &Graph> {
        self.attributes.iter().filter_map(|a| match &a.1 {
            Attribute::Graph(graph) => Some(&**graph),
            _ => None,
        })
    }
}

/// Formats where a node is: its name, or its operator and first output.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_empty() {
            write!(f, "a node without a name")
        } else {
            write!(f, "node `{}`", self.name)
        }
    }
}

/// A graph, with nodes in an order in which each follows those it needs.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The names of all values.
    pub values: Vec<String>,
    /// The values that a caller gives.
    pub inputs: Vec<ValueId>,
    /// The results.
    pub outputs: Vec<ValueId>,
    /// The types that the file states.
    pub types: HashMap<ValueId, ValueType>,
    /// Weights and other constants.
    pub constants: HashMap<ValueId, DynTensor>,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// Values of the graph around this one, and their index here.
    pub captures: Vec<(ValueId, ValueId)>,
    /// The values, other than constants, that nobody needs after each node.
    pub unused_after: Vec<Vec<ValueId>>,
    /// The constants as values, once the graph has run.
    pub spare: Spare,
}

impl Graph {
    /// Returns the path of a node: its name, or that of its first result.
    pub fn path_of<'a>(&'a self, node: &'a Node) -> &'a str {
        match node.outputs.iter().flatten().next() {
            Some(&id) if node.name.is_empty() => &self.values[id],
            _ => &node.name,
        }
    }

    /// Removes nodes and constants that no output needs.
    pub fn remove_dead(&mut self) {
        let mut needed = vec![false; self.values.len()];
        for &id in &self.outputs {
            needed[id] = true;
        }
        let mut live = vec![false; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().rev() {
            live[at] = node.outputs.iter().flatten().any(|&id| needed[id]);
            if live[at] {
                let captured = node.graphs().flat_map(|g| g.captures.iter().map(|c| c.0));
                for id in node.inputs.iter().flatten().copied().chain(captured) {
                    needed[id] = true;
                }
            }
        }
        let mut live = live.into_iter();
        self.nodes.retain(|_| live.next().unwrap_or(false));
        for node in &mut self.nodes {
            for output in &mut node.outputs {
                *output = output.filter(|&id| needed[id]);
            }
        }
        self.constants.retain(|&id, _| needed[id]);
        let mut kept = vec![false; self.values.len()];
        let constants = self.constants.keys();
        (self.outputs.iter().chain(constants)).for_each(|&id| kept[id] = true);
        self.unused_after = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().rev() {
            let captured = node.graphs().flat_map(|g| g.captures.iter().map(|c| c.0));
            let own = node.inputs.iter().chain(&node.outputs).flatten().copied();
            for id in own.chain(captured) {
                if !std::mem::replace(&mut kept[id], true) {
                    self.unused_after[at].push(id);
                }
            }
        }
    }

    /// Visits the nodes of this graph and of those inside.
    pub fn visit<'a>(&'a self, each: &mut dyn FnMut(&'a Node)) {
        for node in &self.nodes {
            each(node);
            for graph in node.graphs() {
                graph.visit(each);
            }
        }
    }

    /// Checks that every operator has a row.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`], which names the first that is missing, its node, and how many nodes need it.
    pub fn require_operators(&self) -> Result<()> {
        let (mut first, mut counts) = (None, HashMap::<(String, String), usize>::new());
        self.visit(&mut |node| {
            if node.row.is_none() {
                first.get_or_insert(node);
                *counts
                    .entry((node.domain.clone(), node.op.clone()))
                    .or_default() += 1;
            }
        });
        let Some(node) = first else { return Ok(()) };
        let count = counts[&(node.domain.clone(), node.op.clone())];
        let domain = if node.domain.is_empty() {
            "ai.onnx"
        } else {
            &node.domain
        };
        let nodes = if count == 1 {
            "1 node needs it".into()
        } else {
            format!("{count} nodes need it")
        };
        let mut what = format!(
            "the operator `{}` of {domain} opset {} is not supported ({node}; {nodes})",
            node.op, node.opset
        );
        if counts.len() > 1 {
            let others: Vec<_> = counts
                .keys()
                .filter(|k| k.1 != node.op)
                .map(|k| format!("`{}`", k.1))
                .collect();
            let mut others = others;
            others.sort();
            what.push_str(&format!("; also missing: {}", others.join(", ")));
        }
        Err(Error::new(ErrorKind::Argument, READ, what))
    }
}
