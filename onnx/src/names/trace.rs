//! Follows dims and shape arithmetic through a graph.

use std::collections::HashMap;

use nomina::DynTensor;

use super::classes::{Classes, Dim, Size};
use super::flow::Flow;
use crate::call::ints;
use crate::graph::{Attribute, Graph, Node, StatedSize, ValueId, ValueType};
use crate::ops::slice_range;

/// The most elements of a tensor that is followed as sizes.
const MOST_SIZES: usize = 64;

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
}

impl<'a> Trace<'a> {
    /// Follows dims through `graph`.
    pub fn new(graph: &'a Graph) -> Self {
        let mut trace = Self {
            graph,
            classes: Classes::default(),
            dims: vec![None; graph.values.len()],
            sizes: HashMap::new(),
        };
        for (&id, tensor) in &graph.constants {
            trace.set_constant(id, tensor);
        }
        for &id in &graph.inputs {
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
        let flow = node.row.map_or(Flow::Fresh, |row| row.flow);
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

    /// Adds what the file states about a value: sizes, and names of dims.
    fn agree(&mut self, dims: &mut [Dim], stated: &[Dim]) {
        for (dim, stated) in dims.iter_mut().zip(stated) {
            let named = self.classes.hinted(stated.class).is_some();
            if named && dim.size.known().is_none() {
                self.classes.join(dim.class, stated.class);
            }
            if stated.size.known().is_some() && dim.size.known().is_none() {
                dim.size = stated.size.clone();
            }
        }
    }

    /// Computes a node whose result is sizes.
    fn arithmetic(&mut self, node: &Node) -> Option<Vec<Size>> {
        let input = |at: usize| node.inputs.get(at).copied().flatten();
        let int = |name: &str, default: i64| match node.attribute(name) {
            Some(Attribute::Int(value)) => *value,
            _ => default,
        };
        let x = self.sizes_of(input(0));
        match &node.op[..] {
            "Shape" => {
                let dims = self.dims[input(0)?].as_ref()?;
                let n = dims.len() as i64;
                let bound =
                    |at: i64| (if at < 0 { at.saturating_add(n) } else { at }).clamp(0, n) as usize;
                let part = dims.get(bound(int("start", 0))..bound(int("end", n)))?;
                Some(part.iter().map(|dim| dim.size.clone()).collect())
            }
            "Size" => {
                let dims = self.dims[input(0)?].as_ref()?;
                dims.iter()
                    .try_fold(Size::fixed(1), |all, dim| all.times(&dim.size))
                    .map(|size| vec![size])
            }
            "Cast" | "Identity" | "Squeeze" | "Unsqueeze" | "Reshape" => x,
            "Concat" => {
                let all: Option<Vec<_>> = node.inputs.iter().map(|&id| self.sizes_of(id)).collect();
                Some(all?.concat()).filter(|all| all.len() <= MOST_SIZES)
            }
            "Gather" => {
                let (x, index) = (x?, self.sizes_of(input(1))?);
                let n = x.len() as i64;
                index
                    .iter()
                    .map(|i| {
                        let i = i.known()?;
                        x.get(usize::try_from(if i < 0 { i + n } else { i }).ok()?)
                            .cloned()
                    })
                    .collect()
            }
            "Slice" => {
                let bound = |trace: &Self, at: usize| {
                    trace.sizes_of(input(at)).and_then(|s| s.first()?.known())
                };
                let (x, start, end) = (x?, bound(self, 1)?, bound(self, 2)?);
                let step = if input(4).is_some() {
                    bound(self, 4)?
                } else {
                    1
                };
                let (from, count) = slice_range(x.len() as i64, start, end, step)?;
                (0..count as i64)
                    .map(|i| x.get(usize::try_from(from + i * step).ok()?).cloned())
                    .collect()
            }
            "Mul" | "Div" | "Add" | "Sub" => {
                let (a, b) = (x?, self.sizes_of(input(1))?);
                let n = a.len().max(b.len());
                (0..n)
                    .map(|at| {
                        let pick = |s: &[Size]| {
                            if s.len() == 1 {
                                s.first().cloned()
                            } else {
                                s.get(at).cloned()
                            }
                        };
                        let (a, b) = (pick(&a)?, pick(&b)?);
                        match (&node.op[..], a.known(), b.known()) {
                            ("Mul", ..) => a.times(&b),
                            ("Div", Some(a), Some(b)) => a.checked_div(b).map(Size::fixed),
                            ("Div", ..) => a.over(&b),
                            ("Add", Some(a), Some(b)) => a.checked_add(b).map(Size::fixed),
                            ("Sub", Some(a), Some(b)) => a.checked_sub(b).map(Size::fixed),
                            _ => Some(self.classes.unknown()),
                        }
                    })
                    .collect()
            }
            _ => None,
        }
    }
}
