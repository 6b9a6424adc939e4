//! Names of dims: classes of dims that an operator identifies, each with one name.

mod arithmetic;
pub mod classes;
pub mod flow;
mod follow;
mod reshape;
mod roles;
pub mod trace;
pub mod user;
mod weights;

use std::collections::{HashMap, HashSet};

use nomina_core::{Error, ErrorKind, Name, Names, Result};

use crate::graph::{Graph, ValueId};
use classes::{Source, camel};
use trace::Trace;
use user::DimNames;

pub use classes::DimClass;

/// The names of all values of a graph.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// The names of each value's dims, where its rank is known.
    pub values: Vec<Option<Names>>,
    /// The classes, in order of first use.
    pub classes: Vec<DimClass>,
}

const OP: &str = "onnx names";

#[cold]
fn fail(what: String, hint: &str) -> Error {
    Error::new(ErrorKind::NameNotFound, OP, what).hint(hint.to_owned())
}

/// Infers the names of a graph; `wanted` are those of the user.
///
/// # Errors
/// If a place of the user is not there, or one class gets two names.
pub fn infer(graph: &Graph, wanted: &DimNames) -> Result<Named> {
    let mut trace = Trace::new(graph, &wanted.splits);
    apply_wanted(&mut trace, wanted)?;
    hint_positions(&mut trace);
    Ok(name_classes(&mut trace))
}

/// Gives classes the names of the user, and joins those that get the same.
fn apply_wanted(trace: &mut Trace<'_>, wanted: &DimNames) -> Result<()> {
    let graph = trace.graph;
    let ids: HashMap<&str, ValueId> = graph.values.iter().map(|v| &v[..]).zip(0..).collect();
    let mut named = Vec::new();
    for (place, name) in &wanted.names {
        let found = place.rsplit_once('.').and_then(|(value, at)| {
            let dims = trace.dims[*ids.get(value)?].as_ref()?;
            Some(dims.get(at.parse::<usize>().ok()?)?.class)
        });
        let class = found.ok_or_else(|| {
            fail(
                format!("the model has no dim `{place}`"),
                "`Model::names_toml` lists the dims, as `value.position`",
            )
        })?;
        trace.classes.hint(class, Source::User, &name[..]);
        named.push((class, name, place));
    }
    for (at, split) in wanted.splits.iter().enumerate() {
        let made = trace.splits.iter().find(|s| s.0 == at).copied();
        let Some((_, before, after)) = made else {
            let what = format!(
                "no node `{}` has dim {} in result {}",
                split.node, split.dim, split.output
            );
            return Err(fail(
                what,
                "`node` is the name of a node, or of its result; nodes of inner graphs and of constants are not split",
            ));
        };
        if trace.classes.root(before) == trace.classes.root(after) {
            let what = format!(
                "the split at `{}` has no effect: the classes meet again",
                split.node
            );
            return Err(fail(what, "split at the other nodes that lead there, too"));
        }
        named.push((after, &split.name, &split.node));
    }
    let mut first = HashMap::<&str, usize>::new();
    for (class, name, _) in &named {
        let other = *first.entry(&name[..]).or_insert(*class);
        trace.classes.join(*class, other);
    }
    for (class, name, place) in &named {
        let own = trace
            .classes
            .hinted(*class)
            .map_or("", |hint| &hint.path[hint.path.len() - 1][..]);
        if own != &name[..] {
            let what =
                format!("`{place}` is of the class that is called `{own}`, and cannot be `{name}`");
            return Err(fail(what, "give one name, or begin a class by `[[split]]`"));
        }
    }
    Ok(())
}

/// Proposes names for the dims of inputs and outputs.
fn hint_positions(trace: &mut Trace<'_>) {
    let graph = trace.graph;
    for (at, &id) in graph.inputs.iter().chain(&graph.outputs).enumerate() {
        let is_input = at < graph.inputs.len();
        let is_index = graph
            .types
            .get(&id)
            .and_then(|kind| kind.dtype)
            .is_some_and(|d| d.is_integral());
        let Some(dims) = trace.dims[id].clone() else {
            continue;
        };
        let images = ["Batch", "Channel", "H", "W"];
        for (at, dim) in dims.iter().enumerate() {
            let name = match (at, dims.len()) {
                (0, 2..) if is_input => "Batch".into(),
                (_, 4) if is_input => images[at].into(),
                (1, 2) if is_input && is_index => "Sequence".into(),
                _ => format!("{}{at}", short(&graph.values[id])),
            };
            trace.classes.hint(dim.class, Source::Position, name);
        }
    }
}

/// The last part of a value's path, as a name.
fn short(value: &str) -> String {
    let path = value.split(':').next().unwrap_or(value);
    camel(
        path.split('/')
            .rfind(|part| !part.is_empty())
            .unwrap_or(path),
    )
}

/// The values that remain after folding: inputs, outputs, and what nodes take and make, without sizes and axes.
fn used(trace: &Trace<'_>) -> Vec<bool> {
    let graph = trace.graph;
    let mut used = vec![false; graph.values.len()];
    let is_size = |id: &ValueId| {
        let constant = graph.constants.get(id);
        trace.is_size(*id)
            || constant.is_some_and(|tensor| tensor.rank() < 2 && tensor.dtype().is_integral())
    };
    let values = graph
        .nodes
        .iter()
        .flat_map(|node| node.inputs.iter().chain(&node.outputs));
    let own = values.flatten().filter(|id| !is_size(id));
    graph
        .inputs
        .iter()
        .chain(&graph.outputs)
        .chain(own)
        .for_each(|&id| used[id] = true);
    used
}

/// The values that count as activations: results of at least two dims that depend on an input.
fn activations(trace: &Trace<'_>) -> HashSet<ValueId> {
    let results = trace
        .graph
        .nodes
        .iter()
        .filter_map(|node| node.outputs.first().copied().flatten());
    results
        .filter(|&id| {
            let rank = trace.dims[id].as_ref().map_or(0, Vec::len);
            rank > 1 && !trace.weights[id] && !trace.is_size(id)
        })
        .collect()
}

/// A choice of names: those that are taken, and the next number of each.
#[derive(Default)]
struct Taken {
    names: HashSet<String>,
    counts: HashMap<String, usize>,
}

impl Taken {
    /// Takes the first of `proposed` that is free, or the first with a number. Returns the name and whether it has no number.
    fn take(&mut self, proposed: &[String]) -> (String, bool) {
        let valid = |name: &&String| Name::new(name).is_ok();
        for name in proposed.iter().filter(valid) {
            if self.names.insert(name.clone()) {
                return (name.clone(), true);
            }
        }
        let base = proposed.iter().find(valid).map_or("D", |name| &name[..]);
        let number = self
            .counts
            .entry(base.to_owned())
            .or_insert(usize::from(base != "D"));
        loop {
            let name = format!("{base}{number}");
            *number += 1;
            if base != "D" && *number < 3 {
                continue;
            }
            if self.names.insert(name.clone()) {
                return (name, false);
            }
        }
    }
}

/// Gives each class its name: better sources choose first.
fn name_classes(trace: &mut Trace<'_>) -> Named {
    let graph = trace.graph;
    let ends: HashSet<_> = graph.inputs.iter().chain(&graph.outputs).copied().collect();
    let first = graph.inputs.iter().chain(&graph.outputs).copied();
    let used = used(trace);
    let order: Vec<_> = first
        .chain((0..graph.values.len()).filter(|id| used[*id] && !ends.contains(id)))
        .collect();
    trace.join_ones(&order);
    let (mut roots, mut places) = (Vec::new(), HashMap::<usize, usize>::new());
    for &id in &order {
        for dim in trace.dims[id].iter().flatten() {
            let root = trace.classes.root(dim.class);
            places.entry(root).or_insert_with(|| {
                roots.push(root);
                roots.len() - 1
            });
        }
    }
    // Roles and positions are equal; the dims of inputs come first.
    let mut by_source: Vec<_> = (roots.iter())
        .map(|&root| {
            let hint = trace.classes.hinted(root);
            let source = hint.map_or(Source::Position, |h| h.source);
            let derived = hint.is_none() && !trace.classes.merged(root).is_empty();
            (
                source.min(Source::Role),
                derived,
                places[&root],
                source,
                root,
            )
        })
        .collect();
    by_source.sort_unstable();
    let mut taken = Taken::default();
    let mut classes: Vec<Option<DimClass>> = vec![None; roots.len()];
    for (_, _, place, source, root) in by_source {
        let hint = trace.classes.hinted(root);
        let parts: Option<Vec<&DimClass>> = (trace.classes.merged(root).iter())
            .map(|&part| classes[*places.get(&trace.classes.root(part))?].as_ref())
            .collect();
        let parts = parts.filter(|parts| {
            hint.is_none() && parts.len() > 1 && parts.iter().all(|p| p.meaningful)
        });
        let (proposed, mut source_text) = match (hint, &parts) {
            (Some(hint), _) => {
                let all = (1..=hint.path.len()).filter_map(|count| hint.name(count));
                (all.collect(), source.to_string())
            }
            (None, Some(parts)) => {
                let product: String = parts.iter().map(|part| &part.name[..]).collect();
                (vec![product], "product".to_owned())
            }
            (None, None) => (Vec::new(), source.to_string()),
        };
        let proposed: Vec<String> = proposed
            .into_iter()
            .filter(|name| name.len() <= 48)
            .collect();
        let (name, is_plain) = taken.take(&proposed);
        let meaningful = match source {
            Source::User | Source::Symbol | Source::Parameter => !proposed.is_empty(),
            Source::Role => is_plain,
            Source::Position => {
                is_plain
                    && (parts.is_some()
                        || hint
                            .and_then(|hint| hint.path.last())
                            .is_some_and(|last| roles::ROLES.contains(&&last[..])))
            }
        };
        if proposed.is_empty() {
            source_text = Source::Position.to_string();
        }
        classes[place] = Some(DimClass {
            name,
            source: source_text,
            sizes: Vec::new(),
            places: Vec::new(),
            occurrences: 0,
            activations: 0,
            meaningful,
        });
    }
    let mut named = Named {
        values: vec![None; graph.values.len()],
        classes: classes.into_iter().flatten().collect(),
    };
    let active = activations(trace);
    for &id in &order {
        let Some(dims) = &trace.dims[id] else {
            continue;
        };
        let mut names = Vec::with_capacity(dims.len());
        for (at, dim) in dims.iter().enumerate() {
            let class = &mut named.classes[places[&trace.classes.root(dim.class)]];
            class.occurrences += 1;
            class.activations += usize::from(active.contains(&id));
            if class.places.len() < 8 {
                class.places.push(format!("{}.{at}", graph.values[id]));
            }
            if let Some(size) = dim.size.known().and_then(|size| usize::try_from(size).ok())
                && !class.sizes.contains(&size)
            {
                class.sizes.push(size);
            }
            names.push(class.name.clone());
        }
        named.values[id] = primed(names);
    }
    named
}

/// Adds a prime to a name that occurs again.
fn primed(names: Vec<String>) -> Option<Names> {
    let mut seen = HashSet::new();
    let mut all = Vec::with_capacity(names.len());
    for mut name in names {
        while !seen.insert(name.clone()) {
            name.push('\'');
        }
        all.push(Some(Name::new(&name).ok()?));
    }
    Names::new(all).ok()
}
