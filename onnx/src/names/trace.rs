//! Follows dims and shape arithmetic through a graph.

use std::collections::HashMap;

use nomina::DynTensor;

use super::classes::{Classes, Dim, Size, Source};
use super::flow::Flow;
use super::user::Split;
use crate::call::ints;
use crate::graph::{Attribute, Graph, Node, StatedSize, ValueId, ValueType};

/// The most elements of a tensor that is followed as sizes.
pub(super) const MOST_SIZES: usize = 64;

/// The dims of every value of a graph.
pub struct Trace<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The classes of dims.
    pub classes: Classes,
    /// The dims of each value, where its rank is known.
    pub dims: Vec<Option<Vec<Dim>>>,
    /// Values that are sizes: vectors and scalars of integers.
    sizes: HashMap<ValueId, Vec<Size>>,
    /// Whether a value depends on no input: constants, and results of constants.
    pub weights: Vec<bool>,
    /// The kernel dims of all convolutions, by their number and position.
    pub(super) kernels: HashMap<(usize, usize), usize>,
    /// The dims that a user splits, and the class of each before and after.
    pub splits: Vec<(usize, usize, usize)>,
    wanted: &'a [Split],
}

impl<'a> Trace<'a> {
    /// Follows dims through `graph`, and splits classes where a user wants it.
    pub fn new(graph: &'a Graph, wanted: &'a [Split]) -> Self {
        let mut trace = Self {
            graph,
            classes: Classes::default(),
            dims: vec![None; graph.values.len()],
            sizes: HashMap::new(),
            weights: vec![false; graph.values.len()],
            kernels: HashMap::new(),
            splits: Vec::new(),
            wanted,
        };
        // In the order of the file, so that the same file has the same names.
        for id in 0..graph.values.len() {
            if let Some(tensor) = graph.constants.get(&id) {
                trace.set_constant(id, tensor);
                trace.weights[id] = true;
            }
        }
        // Types of captured values are known only if fusing has stated them.
        let captured = graph.captures.iter().map(|capture| capture.1);
        for id in graph.inputs.iter().copied().chain(captured) {
            let dims = graph.types.get(&id).and_then(|kind| trace.stated(kind));
            trace.dims[id] = dims;
        }
        for node in &graph.nodes {
            trace.node(node);
        }
        trace
    }

    fn set_constant(&mut self, id: ValueId, tensor: &DynTensor) {
        let sizes = tensor.shape().iter().map(|&size| Size::fixed(size as i64));
        self.dims[id] = Some(sizes.map(|size| self.classes.dim(size)).collect());
        if tensor.rank() < 2
            && tensor.numel() <= MOST_SIZES
            && tensor.dtype().is_integral()
            && let Ok(values) = ints(tensor)
        {
            self.sizes
                .insert(id, values.into_iter().map(Size::fixed).collect());
        }
    }

    /// Returns whether a value holds sizes and no data.
    pub fn is_size(&self, id: ValueId) -> bool {
        self.sizes.contains_key(&id)
    }

    /// Returns the integers in a value, as sizes.
    pub fn sizes_of(&self, id: Option<ValueId>) -> Option<Vec<Size>> {
        self.sizes.get(&id?).cloned()
    }

    fn stated(&mut self, kind: &ValueType) -> Option<Vec<Dim>> {
        let sizes = kind.sizes.as_ref()?;
        let dim = |size: &StatedSize| match size {
            StatedSize::Fixed(size) => self.classes.dim(Size::fixed(*size as i64)),
            StatedSize::Symbol(text) => self.classes.symbol(text),
            StatedSize::Unknown => self.classes.unknown_dim(),
        };
        Some(sizes.iter().map(dim).collect())
    }

    fn node(&mut self, node: &Node) {
        if let (Some(Attribute::Tensor(tensor)), "Constant", Some(Some(id))) = (
            node.attributes.first().map(|a| &a.1),
            &node.op[..],
            node.outputs.first(),
        ) {
            self.set_constant(*id, tensor);
            return;
        }
        let is_weight = |id: Option<ValueId>| id.is_none_or(|id| self.weights[id]);
        let constant = node.graphs().next().is_none()
            && node.row.is_some_and(|row| row.is_foldable())
            && node.inputs.iter().all(|&id| is_weight(id));
        for id in node.outputs.iter().flatten() {
            self.weights[*id] = constant;
        }
        let flow = node.row.map_or(Flow::Fresh, |row| row.flow());
        let all = self.flow(node, flow);
        for (output, dims) in node.outputs.iter().zip(all) {
            let Some(id) = *output else { continue };
            let stated = self.graph.types.get(&id).cloned();
            let stated = stated.and_then(|kind| self.stated(&kind));
            self.dims[id] = match (dims, stated) {
                (Some(mut dims), Some(stated)) if dims.len() == stated.len() => {
                    self.agree(&mut dims, &stated);
                    Some(dims)
                }
                (dims, stated) => dims.or(stated),
            };
        }
        self.split(node);
        if let Some(Some(id)) = node.outputs.first()
            && let Some(sizes) = self.arithmetic(node)
        {
            if self.dims[*id].is_none() {
                let scalar = node.op == "Size";
                let dims = if scalar {
                    Vec::new()
                } else {
                    vec![self.classes.dim(Size::fixed(sizes.len() as i64))]
                };
                self.dims[*id] = Some(dims);
            }
            self.sizes.insert(*id, sizes);
        }
    }

    /// Begins a class at the dims of this node's results that a user splits.
    fn split(&mut self, node: &Node) {
        for (at, split) in self.wanted.iter().enumerate() {
            let output = node.outputs.get(split.output).copied().flatten();
            let Some(id) = output.filter(|&id| split.is_at(&node.name, &self.graph.values[id]))
            else {
                continue;
            };
            if let Some(dim) = self.dims[id]
                .as_mut()
                .and_then(|dims| dims.get_mut(split.dim))
            {
                let before = std::mem::replace(&mut dim.class, self.classes.fresh());
                let after = dim.class;
                self.classes.hint(after, Source::User, &split.name[..]);
                self.splits.push((at, before, after));
            }
        }
    }

    /// Adds what the file states about a value: sizes, and names of dims.
    fn agree(&mut self, dims: &mut [Dim], stated: &[Dim]) {
        for (dim, stated) in dims.iter_mut().zip(stated) {
            let named = self.classes.hinted(stated.class).is_some();
            // A class that a user splits off is not the one that the file states.
            let split = self
                .classes
                .hinted(dim.class)
                .is_some_and(|hint| hint.source == Source::User);
            if named && !split && dim.size.known().is_none() {
                self.classes.join(dim.class, stated.class);
            }
            if stated.size.known().is_some() && dim.size.known().is_none() {
                dim.size = stated.size.clone();
            }
        }
    }
}
