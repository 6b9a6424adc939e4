//! Names of dims: classes of dims that an operator identifies, each with one name.

pub mod classes;
pub mod flow;
mod trace;
mod weights;

use std::collections::{BTreeMap, HashMap, HashSet};

use nomina_core::{Name, Names, Result};

use crate::graph::{Graph, ValueId};
use classes::{Source, camel};
use trace::Trace;

/// A class of dims that have one name.
#[derive(Clone, Debug)]
pub struct DimClass {
    /// The name.
    pub name: String,
    /// Its source: `names.toml`, `dim_param`, `parameter` or `position`.
    pub source: String,
    /// The sizes that dims of this class have, where the file states them.
    pub sizes: Vec<usize>,
    /// Where the class occurs, as `value.position`, at most 8 places.
    pub places: Vec<String>,
}

/// The names of all values of a graph.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// The names of each value's dims, where its rank is known.
    pub values: Vec<Option<Names>>,
    /// The classes, in order of first use.
    pub classes: Vec<DimClass>,
}

/// Infers the names of a graph; `wanted` are those of the user, by `value.position`.
///
/// # Errors
/// If a name of the user is not an identifier.
pub fn infer(graph: &Graph, wanted: &BTreeMap<String, String>) -> Result<Named> {
    let mut trace = Trace::new(graph);
    for (id, value) in graph.values.iter().enumerate() {
        let Some(dims) = trace.dims[id].clone() else {
            continue;
        };
        for (at, dim) in dims.iter().enumerate() {
            if let Some(name) = wanted.get(&format!("{value}.{at}")) {
                Name::new(name)?;
                trace.classes.hint(dim.class, Source::User, name.clone());
            }
        }
    }
    let ends = graph.inputs.iter().chain(&graph.outputs);
    for &id in ends {
        let Some(dims) = trace.dims[id].clone() else {
            continue;
        };
        let images = ["Batch", "Channel", "H", "W"];
        for (at, dim) in dims.iter().enumerate() {
            let name = match (at, dims.len()) {
                (0, 2..) if graph.inputs.contains(&id) => "Batch".into(),
                (_, 4) if graph.inputs.contains(&id) => images[at].into(),
                _ => format!("{}{at}", short(&graph.values[id])),
            };
            trace.classes.hint(dim.class, Source::Position, name);
        }
    }
    Ok(name_classes(&trace))
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
fn used(graph: &Graph) -> Vec<bool> {
    let mut used = vec![false; graph.values.len()];
    let is_size = |id: &ValueId| {
        let constant = graph.constants.get(id);
        constant.is_some_and(|tensor| tensor.rank() < 2 && tensor.dtype().is_integral())
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

/// Gives each class its name, and a number where two classes propose the same.
fn name_classes(trace: &Trace<'_>) -> Named {
    let graph = trace.graph;
    let mut named = Named {
        values: vec![None; graph.values.len()],
        classes: Vec::new(),
    };
    let (mut places, mut taken) = (HashMap::<usize, usize>::new(), HashSet::<String>::new());
    let ends: HashSet<_> = graph.inputs.iter().chain(&graph.outputs).copied().collect();
    let first = graph.inputs.iter().chain(&graph.outputs).copied();
    let used = used(graph);
    let order: Vec<_> = first
        .chain((0..graph.values.len()).filter(|id| used[*id] && !ends.contains(id)))
        .collect();
    let (mut roots, mut wide) = (Vec::new(), HashSet::new());
    for &id in &order {
        for dim in trace.dims[id].iter().flatten() {
            let root = trace.classes.root(dim.class);
            if dim.size.known() != Some(1) {
                wide.insert(root);
            }
            places.entry(root).or_insert_with(|| {
                roots.push(root);
                roots.len() - 1
            });
        }
    }
    // Better sources choose first.
    let mut by_source: Vec<_> = roots
        .iter()
        .map(|&root| {
            (
                trace.classes.hinted(root).map_or(Source::Position, |h| h.0),
                places[&root],
                root,
            )
        })
        .collect();
    by_source.sort_unstable();
    let mut counts = HashMap::<String, usize>::new();
    let mut classes: Vec<Option<DimClass>> = vec![None; roots.len()];
    for (source, place, root) in by_source {
        let unnamed = if wide.contains(&root) { "D" } else { "One" };
        let hint = trace.classes.hinted(root);
        let proposed = hint.map_or_else(|| unnamed.to_owned(), |hint| hint.1.clone());
        let valid = Name::new(&proposed).is_ok();
        let proposed = if valid { proposed } else { "D".to_owned() };
        let number = counts
            .entry(proposed.clone())
            .or_insert(usize::from(proposed != "D"));
        let mut name = if proposed == "D" {
            "D0".to_owned()
        } else {
            proposed.clone()
        };
        while !taken.insert(name.clone()) {
            *number += 1;
            name = format!("{proposed}{number}");
        }
        classes[place] = Some(DimClass {
            name,
            source: source.to_string(),
            sizes: Vec::new(),
            places: Vec::new(),
        });
    }
    named.classes = classes.into_iter().flatten().collect();
    for &id in &order {
        let Some(dims) = &trace.dims[id] else {
            continue;
        };
        let mut names = Vec::with_capacity(dims.len());
        for (at, dim) in dims.iter().enumerate() {
            let class = &mut named.classes[places[&trace.classes.root(dim.class)]];
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
