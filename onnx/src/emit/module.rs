//! The statements of a model, divided into functions.

use std::collections::{BTreeSet, HashMap};

use nomina_core::{Error, ErrorKind, Result};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::branches::Choice;
use super::expr::{Expr, Form};
use super::names::Spellings;
use super::options::{ImportOptions, Imported};
use super::params::{Params, tensor_type, unique};
use super::paths;
use super::sample::Samples;
use super::site::{Emitter, Site};
use super::text::{Function, OutputField, Text};
use crate::call::Call;
use crate::graph::{Graph, Node, ValueId};
use crate::model::Model;
use crate::ops::row;
use crate::port::Port;
use crate::proto::READ;

/// Variables of the loops of recurrent layers.
const RESERVED: &[&str] = &["x", "at", "hidden", "cell", "steps", "inputs", "a", "b"];

/// The most operators of a function.
const MOST_OPERATORS: usize = 120;

/// Writes a model.
///
/// # Errors
/// If an operator has no typed spelling, or the model does not run on the sizes in `options`.
pub fn write(
    model: &Model,
    file: &str,
    choice: Choice,
    options: &ImportOptions,
) -> Result<Imported> {
    let graph = model.graph();
    let samples = Samples::take(graph, model.inputs(), &options.sizes)?;
    let mut names = Spellings::new(graph, model.named());
    names.merge(&super::params::same_blocks(graph, &names));
    let mut emitter = Emitter {
        graph,
        samples: &samples,
        names,
        params: Params::default(),
        variables: HashMap::new(),
        aliases: HashMap::new(),
        own: BTreeSet::new(),
        taken: BTreeSet::new(),
        unspelled: HashMap::new(),
        guards: choice.guards,
        prelude: Vec::new(),
        identifiers: RESERVED.iter().map(|&name| name.to_owned()).collect(),
        measured: graph
            .nodes
            .iter()
            .filter(|node| node.op == "Shape")
            .filter_map(|node| node.inputs.first().copied().flatten())
            .collect(),
    };
    for &id in &graph.inputs {
        emitter.variable(id);
        if emitter.names.get(id, samples.shape(id).len()).is_none() {
            let dims = emitter.names.invented(samples.shape(id).len(), &[]);
            emitter.names.set(id, dims);
        }
    }
    let mut functions = Vec::new();
    let live: Vec<&Node> = graph
        .nodes
        .iter()
        .filter(|node| !is_known(node, &samples))
        .collect();
    for (at, part) in parts(graph, &live).into_iter().enumerate() {
        functions.push(function(&mut emitter, part, at)?);
    }
    emitter.require_no_guards()?;
    let outputs = outputs(&mut emitter, model.outputs())?;
    Text {
        model,
        file,
        emitter,
        functions,
        outputs,
        branches: choice.branches,
    }
    .module()
}

/// Whether all that a node computes is known without inputs.
fn is_known(node: &Node, samples: &Samples) -> bool {
    node.outputs
        .iter()
        .flatten()
        .all(|&id| samples.constant(id).is_some())
}

/// Divides nodes into parts of at most [`MOST_OPERATORS`], where their paths change if possible.
fn parts<'a>(graph: &Graph, nodes: &[&'a Node]) -> Vec<Vec<&'a Node>> {
    let path = |node: &Node| -> String {
        let parts: Vec<&str> = graph
            .path_of(node)
            .split(['/', '.'])
            .filter(|part| !part.is_empty())
            .collect();
        parts[..parts.len().saturating_sub(1).min(3)].join("/")
    };
    let mut all = Vec::new();
    let mut rest = nodes;
    while rest.len() > MOST_OPERATORS {
        let cut = (MOST_OPERATORS / 2..=MOST_OPERATORS)
            .rev()
            .find(|&at| path(rest[at - 1]) != path(rest[at]));
        let (part, after) = rest.split_at(cut.unwrap_or(MOST_OPERATORS));
        all.push(part.to_vec());
        rest = after;
    }
    all.push(rest.to_vec());
    all
}

fn function<'a>(emitter: &mut Emitter<'a>, nodes: Vec<&'a Node>, at: usize) -> Result<Function> {
    emitter.own.clear();
    emitter.taken.clear();
    let mut statements = Vec::new();
    let mut operators = 0;
    for node in nodes {
        let count = statements.len();
        statement(emitter, node, &mut statements).map_err(|error| {
            let path = emitter.graph.path_of(node);
            let place = if node.name.is_empty() {
                format!("the node of `{path}`")
            } else {
                format!("node `{path}`")
            };
            error.within(format!(
                "{place}, operator `{}` of opset {}, cannot be imported",
                node.op, node.opset
            ))
        })?;
        operators += usize::from(statements.len() > count);
    }
    Ok(Function {
        name: format_ident!("part_{}", at + 1),
        statements,
        inputs: std::mem::take(&mut emitter.taken),
        own: std::mem::take(&mut emitter.own),
        operators,
    })
}

fn statement<'a>(
    emitter: &mut Emitter<'a>,
    node: &'a Node,
    statements: &mut Vec<TokenStream>,
) -> Result<()> {
    let samples = emitter.samples;
    let inputs = node
        .inputs
        .iter()
        .map(|id| id.and_then(|id| samples.values[id].as_ref()))
        .collect();
    let Some(row) = row(&node.domain, &node.op, node.opset) else {
        return Err(Error::new(
            ErrorKind::Argument,
            READ,
            "the operator is not supported",
        ));
    };
    let call = Call {
        node,
        op: row.name,
        inputs,
        values: &samples.values,
    };
    let mut site = Site { call, emitter };
    let spelled = row.emit.spell(&mut site);
    let only_sizes = node
        .outputs
        .iter()
        .flatten()
        .all(|&id| samples.is_from_sizes(id));
    let all = match spelled {
        Ok(all) => all,
        // Sizes are spelled where they are used.
        Err(error) if only_sizes => {
            let reason = error.to_string();
            let outputs = node.outputs.iter().flatten();
            outputs.for_each(|&id| drop(emitter.unspelled.insert(id, reason.clone())));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    statements.append(&mut site.emitter.prelude);
    for (output, expr) in node.outputs.iter().zip(all) {
        let Some(id) = *output else { continue };
        let rank = samples.shape(id).len();
        let expr = match site.emitter.names.get(id, rank) {
            Some(dims) => site.rename(expr, &dims)?,
            None => {
                site.call.require(
                    expr.dims.len() == rank,
                    "the result has another number of dims",
                )?;
                site.emitter.names.set(id, expr.dims.clone());
                expr
            }
        };
        let expr = converted(&site, expr, id);
        if matches!(expr.form, Form::Place | Form::Reference) {
            let same = node
                .inputs
                .first()
                .copied()
                .flatten()
                .filter(|&x| samples.constant(x).is_none());
            if let Some(x) = same {
                site.emitter.aliases.insert(id, x);
                site.emitter.guard(id, statements);
                continue;
            }
        }
        let kind = tensor_type(&mut site.emitter.names, &expr.dims, expr.dtype);
        let text = expr.owned();
        let variable = site.emitter.variable(id);
        site.emitter.own.insert(id);
        statements.push(quote!(let #variable: #kind = #text;));
        site.emitter.guard(id, statements);
    }
    Ok(())
}

/// Converts to the dtype that the model states.
fn converted(site: &Site<'_, '_>, expr: Expr, id: ValueId) -> Expr {
    let Some(dtype) = site
        .emitter
        .samples
        .dtype(id)
        .filter(|dtype| *dtype != expr.dtype)
    else {
        return expr;
    };
    let kind = super::params::dtype_ident(dtype);
    let mut expr = expr.then(quote!(.to::<#kind>()));
    expr.dtype = dtype;
    expr
}

fn outputs(emitter: &mut Emitter<'_>, ports: &[Port]) -> Result<Vec<OutputField>> {
    let mut taken = BTreeSet::new();
    let mut all = Vec::new();
    for (port, &id) in ports.iter().zip(&emitter.graph.outputs.clone()) {
        let field = format_ident!("{}", unique(&paths::variable(&port.name), &mut taken));
        let own = emitter.resolved(id);
        let Some(variable) = emitter.variables.get(&own) else {
            let what = format!("output `{}` does not depend on the inputs", port.name);
            return Err(Error::new(ErrorKind::Argument, READ, what));
        };
        let is_input = emitter.graph.inputs.contains(&own);
        let text = if is_input || ports.len() > 1 {
            quote!(#variable.clone())
        } else {
            quote!(#variable)
        };
        all.push(OutputField {
            field,
            id: own,
            text,
        });
    }
    Ok(all)
}
