//! The part of a graph between tensors and those that they were computed from.

use std::collections::{HashMap, HashSet};

use nomina_core::Result;
use smallvec::Array;

use super::pass::{BackwardOptions, Pass};
use crate::SmallVec;
use crate::memory::{refused, scratch};
use crate::raw::Raw;
use crate::raw::graph::{Node, NodeRef};

/// A value for each of some nodes.
type Nodes<T> = SmallVec<[T; 8]>;

/// Appends an element. Graphs may be large, so that missing memory is an error.
///
/// # Errors
/// If memory is missing.
pub(super) fn try_push<A: Array>(all: &mut SmallVec<A>, item: A::Item) -> Result<()> {
    let bytes = size_of::<A::Item>().saturating_mul(all.len());
    all.try_reserve(1).map_err(|_| refused("backward", bytes))?;
    all.push(item);
    Ok(())
}

/// Inserts the address of a node; returns whether it was absent.
fn try_insert(all: &mut HashSet<usize>, node: usize) -> Result<bool> {
    let bytes = size_of::<usize>().saturating_mul(all.len());
    all.try_reserve(1).map_err(|_| refused("backward", bytes))?;
    Ok(all.insert(node))
}

/// Collects nodes.
pub(super) fn targets<'n>(
    nodes: impl IntoIterator<Item = Option<&'n Node>>,
) -> Result<Vec<Option<&'n Node>>> {
    scratch::collect(nodes).map_err(|error| error.in_op("backward"))
}

/// The nodes through which gradients pass from some tensors, the roots, to others, the targets.
pub(super) struct Reach {
    /// The node of each target.
    targets: Nodes<Option<usize>>,
    /// The addresses of the targets and of the nodes that were computed from them.
    on_way: HashSet<usize>,
    /// Whether gradients stop at targets, even if one was computed from another.
    stops: bool,
    /// Whether the roots were also computed from older recorded tensors that are not targets.
    pub(super) leads_out: bool,
}

impl Reach {
    /// Finds the nodes between roots and targets. A node is later than those behind its edges, so nodes older than all targets are
    /// skipped. A leaf is older than the closure if its epoch is before `since`.
    ///
    /// # Errors
    /// If memory is missing.
    pub(super) fn new(
        roots: &[&Raw],
        targets: &[Option<&Node>],
        stops: bool,
        since: u64,
    ) -> Result<Self> {
        let (mut addresses, mut ends) = (Nodes::new(), HashSet::new());
        for node in targets {
            let address = node.map(Node::address);
            try_push(&mut addresses, address)?;
            if let Some(address) = address {
                try_insert(&mut ends, address)?;
            }
        }
        let oldest = targets.iter().flatten().map(|node| node.clock()).min();
        let oldest = oldest.unwrap_or(u64::MAX);

        let mut seen = HashSet::new();
        let (mut leads_out, mut behind) = (false, Nodes::<&NodeRef>::new());
        let (mut nodes, mut open) = (Nodes::<&Node>::new(), Nodes::<&Node>::new());
        for node in roots.iter().filter_map(|root| root.node()) {
            if try_insert(&mut seen, node.address())? {
                try_push(&mut open, node)?;
            }
        }
        while let Some(node) = open.pop() {
            try_push(&mut nodes, node)?;
            let is_end = ends.contains(&node.address());
            // The clock does not order leaves of other threads: they may be later than the targets.
            leads_out |= node.is_leaf() && !is_end && node.epoch < since;
            let ends = stops && is_end;
            for edge in node.edges().iter().flatten() {
                if ends {
                    try_push(&mut behind, edge)?;
                } else if try_insert(&mut seen, edge.address())? {
                    if edge.clock() < oldest {
                        leads_out = true;
                    } else {
                        try_push(&mut open, edge)?;
                    }
                }
            }
        }
        for edge in behind {
            leads_out |= !seen.contains(&edge.address());
        }
        nodes.sort_unstable_by_key(|node| node.clock());
        let mut on_way = HashSet::new();
        for node in nodes {
            let mut edges = node.edges().iter().flatten();
            let own = ends.contains(&node.address());
            if own || edges.any(|edge| on_way.contains(&edge.address())) {
                try_insert(&mut on_way, node.address())?;
            }
        }
        let mut starts = roots.iter().filter_map(|root| root.node());
        leads_out |= starts.any(|node| !on_way.contains(&node.address()));
        Ok(Self {
            targets: addresses,
            on_way,
            stops,
            leads_out,
        })
    }
}

/// Computes the gradients of targets from those of roots; `None` for a target from which no root was computed.
pub(super) fn pull<'r>(
    roots: impl IntoIterator<Item = (&'r Raw, Raw)>,
    reach: &Reach,
    options: BackwardOptions,
) -> Result<Vec<Option<Raw>>> {
    let missing = |count: usize| refused("backward", count.saturating_mul(size_of::<Raw>()));
    let mut found: HashMap<usize, Option<Raw>> = HashMap::new();
    let count = reach.targets.len();
    found.try_reserve(count).map_err(|_| missing(count))?;
    let ends = reach.targets.iter().flatten();
    found.extend(ends.map(|&address| (address, None)));
    let mut pass = Pass::new(options, Some(&reach.on_way));
    for (root, grad) in roots {
        if let Some(node) = root.node() {
            pass.give(&NodeRef::from_node(node), 0, grad)?;
        }
    }
    let mut targets = HashSet::new();
    for &address in found.keys() {
        try_insert(&mut targets, address)?;
    }
    let asks = |node: &Node| targets.contains(&node.address());
    pass.run(asks, |node, given| match found.get_mut(&node.address()) {
        None => Ok(true),
        Some(found) => {
            *found = given.first().cloned().flatten();
            Ok(!reach.stops)
        }
    })?;
    let gradient = |target: &Option<usize>| found.get(&(*target)?).cloned().flatten();
    scratch::collect(reach.targets.iter().map(gradient)).map_err(|error| error.in_op("backward"))
}

/// Returns whether a recorded tensor was computed only from targets and from tensors recorded since the epoch `since`.
pub(super) fn is_computed_of(y: &Raw, targets: &[Option<&Node>], since: u64) -> Result<bool> {
    let mut seen = HashSet::new();
    for target in targets.iter().flatten() {
        try_insert(&mut seen, target.address())?;
    }
    let Some(node) = y.node() else {
        return Ok(false);
    };
    let mut open = Nodes::new();
    if try_insert(&mut seen, node.address())? {
        try_push(&mut open, node)?;
    }
    while let Some(node) = open.pop() {
        let mut ends = true;
        for edge in node.edges().iter().flatten() {
            ends = false;
            if try_insert(&mut seen, edge.address())? {
                try_push(&mut open, &**edge)?;
            }
        }
        if ends && node.epoch < since {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the nodes of epochs before `since` from which later nodes computed a tensor.
pub(super) fn older(x: &Raw, since: u64) -> Result<SmallVec<[Option<NodeRef>; 2]>> {
    let mut seen = HashSet::new();
    let mut found = SmallVec::new();
    let mut open: Nodes<NodeRef> = x.node().map(NodeRef::from_node).into_iter().collect();
    while let Some(node) = open.pop() {
        if !try_insert(&mut seen, node.address())? {
            continue;
        }
        if node.epoch < since {
            try_push(&mut found, Some(node))?;
            continue;
        }
        for edge in node.edges().iter().flatten() {
            try_push(&mut open, NodeRef::from_node(edge))?;
        }
    }
    Ok(found)
}
