//! Paths of parameters and names of variables, from the names in the file.

use crate::graph::{Graph, Node, ValueId};

/// Parts of paths that say nothing.
const NOISE: &[&str] = &[
    "",
    "StatefulPartitionedCall",
    "ReadVariableOp",
    "resource",
    "Constant",
    "value",
];

/// Returns the path of a parameter: by its own name, or by its node and its position if nobody named it.
pub fn parameter(graph: &Graph, id: ValueId, node: &Node, at: usize) -> Vec<String> {
    let own = &graph.values[id];
    let anonymous = own.starts_with("onnx::")
        || own.contains("Constant")
        || own.contains("_output_")
        || own.to_ascii_lowercase().contains("const_fold")
        || !own.contains(|c: char| c.is_ascii_alphabetic());
    let mut path = split(own);
    if anonymous || path.is_empty() {
        path = split(graph.path_of(node));
        let role = match (&node.op[..], at) {
            ("Conv" | "ConvTranspose" | "Gemm", 1) | ("MatMul" | "Gather", _) => "weight",
            ("BatchNormalization" | "LayerNormalization" | "GroupNormalization", 1) => "weight",
            ("BatchNormalization", 3) => "running_mean",
            ("BatchNormalization", 4) => "running_var",
            ("LSTM" | "GRU", 1) => "weight_ih",
            ("LSTM" | "GRU", 2) => "weight_hh",
            ("LSTM" | "GRU", 3) => "bias",
            ("Conv" | "ConvTranspose" | "Gemm", 2) | (_, 2) => "bias",
            _ => "constant",
        };
        path.push(role.to_owned());
    }
    path
}

/// Splits a path at dots and slashes; numbers stay parts of their own.
fn split(name: &str) -> Vec<String> {
    let name = name.strip_suffix(":0").unwrap_or(name);
    let parts = name
        .split(['.', '/', ':', ';'])
        .filter(|part| !NOISE.contains(part));
    let mut path: Vec<String> = parts.map(snake).filter(|part| !part.is_empty()).collect();
    if path
        .first()
        .is_some_and(|part| part.bytes().all(|b| b.is_ascii_digit()))
    {
        path[0].insert_str(0, "part_");
    }
    path
}

/// Returns the name of the variable for a value.
pub fn variable(value: &str) -> String {
    let end = value.find("_output_").unwrap_or(value.len());
    let parts = split(&value[..end]);
    let tail = parts[parts.len().saturating_sub(2)..].join("_");
    let long = tail.len() > 32;
    let mut name = if long {
        parts.last().cloned().unwrap_or_default()
    } else {
        tail
    };
    if name.len() > 32 {
        name = name[name.len() - 24..]
            .trim_start_matches(|c: char| c == '_' || c.is_ascii_digit())
            .to_owned();
    }
    word(name)
}

/// Spells a part of a path as an identifier or a number.
fn snake(part: &str) -> String {
    let mut text = String::with_capacity(part.len() + 4);
    let mut before = '_';
    for c in part.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            text.push('_');
        }
        if c != '_' || before != '_' {
            text.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    let text = text.trim_matches('_').to_owned();
    if text.is_empty() || text.bytes().all(|b| b.is_ascii_digit()) {
        text
    } else {
        word(text)
    }
}

/// Makes a text an identifier that is no keyword.
fn word(mut text: String) -> String {
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, 'v');
    }
    while syn::parse_str::<syn::Ident>(&text).is_err() {
        text.push('_');
    }
    text
}
