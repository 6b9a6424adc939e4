//! The part of a graph that lies between tensors and what they were computed of.

use std::collections::{HashMap, HashSet};

use nomina_core::Result;

use super::BackwardOptions;
use super::backward::Way;
use crate::SmallVec;
use crate::raw::Raw;
use crate::raw::graph::{Node, NodeRef};

/// The nodes through which gradients of some tensors, the roots, come to others, the targets.
pub(super) struct Reach<'a> {
    /// For each target its node.
    targets: Vec<Option<usize>>,
    /// The addresses of nodes that were computed of a target, and of the targets.
    on_way: HashSet<usize>,
    /// Whether gradients end at targets, also where one was computed of another.
    stops: bool,
    /// Nodes that the roots were computed of, and that are none of these.
    pub(super) outside: Vec<&'a NodeRef>,
    /// Whether a root has a node that no target leads to.
    pub(super) beside: bool,
}

impl<'a> Reach<'a> {
    /// No node is older than those behind its edges, so that what is older than all targets is not looked at: `outside` is
    /// where it begins.
    pub(super) fn new(roots: &[&'a Raw], targets: &[Option<&Node>], stops: bool) -> Self {
        let addresses: Vec<_> = targets
            .iter()
            .map(|node| Some((*node)?.address()))
            .collect();
        let ends: HashSet<usize> = addresses.iter().flatten().copied().collect();
        let oldest = targets.iter().flatten().map(|node| node.clock()).min();
        let oldest = oldest.unwrap_or(u64::MAX);

        let mut seen = HashSet::new();
        let (mut outside, mut behind): (Vec<&'a NodeRef>, Vec<&'a NodeRef>) = Default::default();
        let mut nodes: Vec<&'a Node> = Vec::new();
        let starts = roots.iter().filter_map(|root| root.node());
        let mut open: Vec<&'a Node> = starts.filter(|node| seen.insert(node.address())).collect();
        while let Some(node) = open.pop() {
            nodes.push(node);
            let edges = node.edges().iter().flatten();
            if stops && ends.contains(&node.address()) {
                behind.extend(edges);
                continue;
            }
            for edge in edges.filter(|edge| seen.insert(edge.address())) {
                match edge.clock() < oldest {
                    true => outside.push(edge),
                    false => open.push(edge),
                }
            }
        }
        outside.extend(
            behind
                .into_iter()
                .filter(|edge| seen.insert(edge.address())),
        );
        nodes.sort_unstable_by_key(|node| node.clock());
        let mut on_way = HashSet::new();
        for node in nodes {
            let mut edges = node.edges().iter().flatten();
            let own = ends.contains(&node.address());
            if own || edges.any(|edge| on_way.contains(&edge.address())) {
                on_way.insert(node.address());
            }
        }
        let mut starts = roots.iter().filter_map(|root| root.node());
        let beside = starts.any(|node| !on_way.contains(&node.address()));
        Self {
            targets: addresses,
            on_way,
            stops,
            outside,
            beside,
        }
    }

    /// Whether the roots were computed of other recorded tensors, too.
    pub(super) fn leads_out(&self) -> bool {
        self.beside || !self.outside.is_empty()
    }
}

/// The gradients of targets, where those of roots are given; none for a target that no root was computed of.
pub(super) fn pull<'r>(
    roots: impl IntoIterator<Item = (&'r Raw, Raw)>,
    reach: &Reach<'_>,
    options: BackwardOptions,
) -> Result<Vec<Option<Raw>>> {
    let mut found: HashMap<usize, Option<Raw>> = HashMap::new();
    found.extend(
        reach
            .targets
            .iter()
            .flatten()
            .map(|&address| (address, None)),
    );
    let mut way = Way::new(options, Some(&reach.on_way));
    for (root, grad) in roots {
        if let Some(node) = root.node() {
            way.give(&NodeRef::of(node), 0, grad)?;
        }
    }
    let targets: HashSet<usize> = found.keys().copied().collect();
    let asks = |node: &Node| targets.contains(&node.address());
    way.run(asks, |node, given| match found.get_mut(&node.address()) {
        None => true,
        Some(found) => {
            *found = given.first().cloned().flatten();
            !reach.stops
        }
    })?;
    let of = |target: &Option<usize>| found.get(&(*target)?).cloned().flatten();
    Ok(reach.targets.iter().map(of).collect())
}

/// The nodes of up to a time that a tensor was computed of by later ones.
pub(super) fn older(x: &Raw, since: u64) -> SmallVec<[Option<NodeRef>; 2]> {
    let mut seen = HashSet::new();
    let mut found = SmallVec::new();
    let mut open: Vec<NodeRef> = x.node().map(NodeRef::of).into_iter().collect();
    while let Some(node) = open.pop() {
        if !seen.insert(node.address()) {
            continue;
        }
        match node.clock() <= since {
            true => found.push(Some(node)),
            false => open.extend(node.edges().iter().flatten().map(|edge| NodeRef::of(edge))),
        }
    }
    found
}
