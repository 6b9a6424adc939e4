//! The part of a graph that lies between tensors and what they were computed of.

use std::collections::{HashMap, HashSet};

use nomina_core::Result;
use smallvec::Array;

use super::BackwardOptions;
use super::backward::Pass;
use crate::SmallVec;
use crate::memory::{refused, scratch};
use crate::raw::Raw;
use crate::raw::graph::{Node, NodeRef};

/// What there is of each of some nodes.
type Nodes<T> = SmallVec<[T; 8]>;

/// Puts an element behind the others: graphs are of any length, and so are lists of their nodes.
///
/// # Errors
/// Missing memory.
pub(super) fn put<A: Array>(all: &mut SmallVec<A>, item: A::Item) -> Result<()> {
    let bytes = size_of::<A::Item>().saturating_mul(all.len());
    all.try_reserve(1).map_err(|_| refused("backward", bytes))?;
    all.push(item);
    Ok(())
}

/// Puts the address of a node among others; whether it was not there.
fn note(all: &mut HashSet<usize>, node: usize) -> Result<bool> {
    let bytes = size_of::<usize>().saturating_mul(all.len());
    all.try_reserve(1).map_err(|_| refused("backward", bytes))?;
    Ok(all.insert(node))
}

/// A list of nodes.
pub(super) fn targets<'n>(
    nodes: impl IntoIterator<Item = Option<&'n Node>>,
) -> Result<Vec<Option<&'n Node>>> {
    scratch::collect(nodes).map_err(|error| error.in_op("backward"))
}

/// The nodes through which gradients of some tensors, the roots, come to others, the targets.
pub(super) struct Reach {
    /// For each target its node.
    targets: Nodes<Option<usize>>,
    /// The addresses of nodes that were computed of a target, and of the targets.
    on_way: HashSet<usize>,
    /// Whether gradients end at targets, also where one was computed of another.
    stops: bool,
    /// Whether the roots were computed of recorded tensors from before, too, that are no targets.
    pub(super) leads_out: bool,
}

impl Reach {
    /// No node is older than those behind its edges, so that what is older than all targets is not looked at. Leaves are from before
    /// where their epoch is one before `since`.
    ///
    /// # Errors
    /// Missing memory.
    pub(super) fn new(
        roots: &[&Raw],
        targets: &[Option<&Node>],
        stops: bool,
        since: u64,
    ) -> Result<Self> {
        let (mut addresses, mut ends) = (Nodes::new(), HashSet::new());
        for node in targets {
            let address = node.map(Node::address);
            put(&mut addresses, address)?;
            if let Some(address) = address {
                note(&mut ends, address)?;
            }
        }
        let oldest = targets.iter().flatten().map(|node| node.clock()).min();
        let oldest = oldest.unwrap_or(u64::MAX);

        let mut seen = HashSet::new();
        let (mut leads_out, mut behind) = (false, Nodes::<&NodeRef>::new());
        let (mut nodes, mut open) = (Nodes::<&Node>::new(), Nodes::<&Node>::new());
        for node in roots.iter().filter_map(|root| root.node()) {
            if note(&mut seen, node.address())? {
                put(&mut open, node)?;
            }
        }
        while let Some(node) = open.pop() {
            put(&mut nodes, node)?;
            let is_end = ends.contains(&node.address());
            // By its clock, a leaf that another thread made may be later than the targets.
            leads_out |= node.is_leaf() && !is_end && node.epoch < since;
            let ends = stops && is_end;
            for edge in node.edges().iter().flatten() {
                if ends {
                    put(&mut behind, edge)?;
                } else if note(&mut seen, edge.address())? {
                    if edge.clock() < oldest {
                        leads_out = true;
                    } else {
                        put(&mut open, edge)?;
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
                note(&mut on_way, node.address())?;
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

/// The gradients of targets, where those of roots are given; none for a target that no root was computed of.
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
    let mut way = Pass::new(options, Some(&reach.on_way));
    for (root, grad) in roots {
        if let Some(node) = root.node() {
            way.give(&NodeRef::of(node), 0, grad)?;
        }
    }
    let mut targets = HashSet::new();
    for &address in found.keys() {
        note(&mut targets, address)?;
    }
    let asks = |node: &Node| targets.contains(&node.address());
    way.run(asks, |node, given| match found.get_mut(&node.address()) {
        None => Ok(true),
        Some(found) => {
            *found = given.first().cloned().flatten();
            Ok(!reach.stops)
        }
    })?;
    let of = |target: &Option<usize>| found.get(&(*target)?).cloned().flatten();
    scratch::collect(reach.targets.iter().map(of)).map_err(|error| error.in_op("backward"))
}

/// Whether a recorded tensor was computed of targets and of tensors that began with it: of nothing else that is recorded and of an
/// epoch before `since`.
pub(super) fn is_computed_of(y: &Raw, targets: &[Option<&Node>], since: u64) -> Result<bool> {
    let mut seen = HashSet::new();
    for target in targets.iter().flatten() {
        note(&mut seen, target.address())?;
    }
    let Some(node) = y.node() else {
        return Ok(false);
    };
    let mut open = Nodes::new();
    if note(&mut seen, node.address())? {
        put(&mut open, node)?;
    }
    while let Some(node) = open.pop() {
        let mut ends = true;
        for edge in node.edges().iter().flatten() {
            ends = false;
            if note(&mut seen, edge.address())? {
                put(&mut open, &**edge)?;
            }
        }
        if ends && node.epoch < since {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The nodes of epochs before `since` that a tensor was computed of by later ones.
pub(super) fn older(x: &Raw, since: u64) -> Result<SmallVec<[Option<NodeRef>; 2]>> {
    let mut seen = HashSet::new();
    let mut found = SmallVec::new();
    let mut open: Nodes<NodeRef> = x.node().map(NodeRef::of).into_iter().collect();
    while let Some(node) = open.pop() {
        if !note(&mut seen, node.address())? {
            continue;
        }
        if node.epoch < since {
            put(&mut found, Some(node))?;
            continue;
        }
        for edge in node.edges().iter().flatten() {
            put(&mut open, NodeRef::of(edge))?;
        }
    }
    Ok(found)
}
