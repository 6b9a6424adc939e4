//! Branches of `If` in place of their nodes.

use std::collections::HashMap;

use super::{Attribute, Graph, Node, Placement, ValueId};
use crate::ops::operator;

impl Graph {
    /// Replaces each `If` whose condition is known by the nodes of its branch. Returns the number of those; then
    /// [`Graph::remove_dead`] has to follow.
    pub fn take_branches(&mut self, condition: impl Fn(&Self, ValueId) -> Option<bool>) -> usize {
        let mut count = 0;
        for mut node in std::mem::take(&mut self.nodes) {
            let given = node.inputs.first().copied().flatten();
            let known = given
                .filter(|_| node.op == "If" && node.domain.is_empty())
                .and_then(|id| condition(self, id));
            match known.and_then(|holds| branch(&mut node, holds)) {
                Some(branch) => {
                    self.append(branch, &node);
                    count += 1;
                }
                None => self.nodes.push(node),
            }
        }
        count
    }

    /// Adds the nodes of a branch; its results become those of `node`.
    fn append(&mut self, branch: Self, node: &Node) {
        let captures = branch.captures.iter();
        let mut ids: HashMap<ValueId, ValueId> =
            captures.map(|&(outer, inner)| (inner, outer)).collect();
        // A result that comes from outside, is constant, or is a result twice, is copied.
        let mut copied = Vec::new();
        for (&inner, outer) in branch.outputs.iter().zip(&node.outputs) {
            let Some(outer) = *outer else { continue };
            if ids.contains_key(&inner) || branch.constants.contains_key(&inner) {
                copied.push((inner, outer));
            } else {
                ids.insert(inner, outer);
            }
        }
        for (inner, name) in branch.values.into_iter().enumerate() {
            ids.entry(inner).or_insert_with(|| {
                self.values.push(name);
                self.values.len() - 1
            });
        }
        let constants = branch.constants.into_iter();
        self.constants
            .extend(constants.map(|(inner, tensor)| (ids[&inner], tensor)));
        for (inner, kind) in branch.types {
            let own = self.types.entry(ids[&inner]).or_default();
            if own.sizes.is_none() {
                *own = kind;
            }
        }
        for mut inner in branch.nodes {
            let values = inner.inputs.iter_mut().chain(&mut inner.outputs).flatten();
            values.for_each(|id| *id = ids[id]);
            for (_, attribute) in &mut inner.attributes {
                if let Attribute::Graph(graph) = attribute {
                    let captures = graph.captures.iter_mut();
                    captures.for_each(|capture| capture.0 = ids[&capture.0]);
                }
            }
            self.nodes.push(inner);
        }
        let copies = copied.into_iter().map(|(inner, outer)| Node {
            name: node.name.clone(),
            op: "Identity".to_owned(),
            domain: String::new(),
            row: operator("", "Identity", node.opset),
            opset: node.opset,
            inputs: vec![Some(ids[&inner])],
            outputs: vec![Some(outer)],
            attributes: Vec::new(),
            placement: Placement::default(),
            prepared: None,
        });
        self.nodes.extend(copies);
    }
}

/// Takes a branch out of an `If`, if it has a result for each of the node's.
fn branch(node: &mut Node, holds: bool) -> Option<Graph> {
    let name = if holds { "then_branch" } else { "else_branch" };
    let wanted = node.outputs.len();
    let attribute = node.attributes.iter_mut().find(|a| a.0 == name);
    match attribute {
        Some((_, Attribute::Graph(graph)))
            if graph.outputs.len() >= wanted && graph.inputs.is_empty() =>
        {
            Some(std::mem::take(&mut **graph))
        }
        _ => None,
    }
}
