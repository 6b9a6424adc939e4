//! Names from the roles of dims in operators: channels, rows, heads, positions of a sequence.

use std::collections::HashSet;

use super::classes::{Dim, Source};
use super::trace::Trace;
use super::weights::parameter_path;
use crate::graph::{Node, ValueId};

/// The names of roles, which say something in any model.
pub const ROLES: &[&str] = &[
    "Batch",
    "Channel",
    "Time",
    "H",
    "W",
    "Depth",
    "KH",
    "KW",
    "K",
    "Feature",
    "Sequence",
    "Query",
    "Key",
    "Head",
    "HeadSize",
    "GateBias",
    "Hidden",
    "Direction",
    "Gate",
    "Vocabulary",
    "Class",
];

impl Trace<'_> {
    /// Proposes a role, and with the path of the node where another class has the same role.
    pub(super) fn role(&mut self, node: &Node, dim: &Dim, source: Source, name: &str) {
        let mut path = parameter_path(&node.name).unwrap_or_default();
        path.push(name.to_owned());
        self.classes.hint_path(dim.class, source, path);
    }

    /// Names the dims of an operand of convolutions and pools.
    pub(super) fn name_image(&mut self, node: &Node, x: &[Dim]) {
        let names: &[&str] = match x.len() {
            3 => &["Batch", "Channel", "Time"],
            4 => &["Batch", "Channel", "H", "W"],
            5 => &["Batch", "Channel", "Depth", "H", "W"],
            _ => &[],
        };
        for (dim, name) in x.iter().zip(names) {
            self.role(node, dim, Source::Role, name);
        }
    }

    /// Names the kernel dims of a weight, which all convolutions with the same number of dims share.
    pub(super) fn name_kernel(&mut self, node: &Node, w: &[Dim]) {
        let names: &[&str] = match w.len() {
            3 => &["K"],
            4 => &["KH", "KW"],
            _ => &["K", "KH", "KW"],
        };
        let weight = node.inputs.get(1).copied().flatten();
        let is_weight = weight.is_some_and(|id| self.weights[id]);
        for (at, (dim, name)) in w[2..].iter().zip(names).enumerate() {
            self.role(node, dim, Source::Role, name);
            if is_weight {
                let shared = *self.kernels.entry((w.len(), at)).or_insert(dim.class);
                self.classes.join(shared, dim.class);
            }
        }
    }

    /// Names the dims of the left operand of a product with a weight, or of attention.
    pub(super) fn name_rows(&mut self, node: &Node, x: &[Dim], w: &[Dim]) {
        let weight = node.inputs.get(1).copied().flatten();
        let is_weight = weight.is_some_and(|id| self.weights[id]);
        let names: &[&str] = match (x.len(), is_weight) {
            (2, true) => &["Batch", "Feature"],
            (3, true) => &["Batch", "Sequence", "Feature"],
            (4, false) => &["Batch", "Head", "Query", "HeadSize"],
            (3, false) => &["Batch", "Query", "Feature"],
            _ => &[],
        };
        for (dim, name) in x.iter().zip(names) {
            self.role(node, dim, Source::Position, name);
        }
        if let (false, true, Some(key)) = (is_weight, x.len() > 2, w.last()) {
            self.classes.hint(
                key.class,
                Source::Position,
                if x.len() == 4 { "Key" } else { "Feature" },
            );
        }
    }

    /// Names the two dims that a dim is split into by a reshape.
    pub(super) fn name_heads(&mut self, node: &Node, rank: usize, heads: &Dim, size: &Dim) {
        if rank == 4 {
            self.role(node, heads, Source::Position, "Head");
            self.role(node, size, Source::Position, "HeadSize");
        }
    }

    /// Names the first dim of an embedding's weight, and the last one of the indices.
    pub(super) fn name_embedding(&mut self, node: &Node, weight: &[Dim], index: &[Dim]) {
        let id = node.inputs.first().copied().flatten();
        if let ([rows, _], true) = (weight, id.is_some_and(|id| self.weights[id])) {
            self.role(node, rows, Source::Role, "Vocabulary");
            if let [.., last] = index
                && index.len() == 2
            {
                self.role(node, last, Source::Role, "Sequence");
            }
        }
    }

    /// Joins the classes that nothing names and whose dims have size 1: all are `One`.
    pub(super) fn join_ones(&mut self, values: &[ValueId]) {
        let (mut wide, mut all) = (HashSet::new(), Vec::new());
        for dim in values
            .iter()
            .filter_map(|&id| self.dims[id].as_ref())
            .flatten()
        {
            let root = self.classes.root(dim.class);
            all.push(root);
            if dim.size.known() != Some(1) {
                wide.insert(root);
            }
        }
        let is_free = |root: &usize| !wide.contains(root) && self.classes.hinted(*root).is_none();
        let ones: Vec<usize> = all.into_iter().filter(is_free).collect();
        for &one in &ones {
            self.classes.join(ones[0], one);
        }
        if let Some(&one) = ones.first() {
            self.classes.hint(one, Source::Position, "One");
        }
    }
}
