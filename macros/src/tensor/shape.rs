//! Checks that rows have equal lengths, and are as deep as there are dims.

use std::collections::HashMap;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, Type};

use super::tree::{Node, Value};
use crate::errors::Errors;

/// The sizes, as far as the macro knows them.
#[derive(Clone, Default)]
pub struct Shape {
    pub sizes: Vec<RowLength>,
    /// Whether the values are expressions, which may be arrays themselves.
    pub open: bool,
}

/// The length of a row.
#[derive(Clone)]
pub enum RowLength {
    Known(usize),
    /// `[x; LEN]`
    Const(TokenStream),
}

impl ToTokens for RowLength {
    fn to_tokens(&self, out: &mut TokenStream) {
        match self {
            Self::Known(len) => proc_macro2::Literal::usize_unsuffixed(*len).to_tokens(out),
            Self::Const(len) => out.extend(len.clone()),
        }
    }
}

impl RowLength {
    fn known(&self) -> Option<usize> {
        match self {
            Self::Known(len) => Some(*len),
            Self::Const(_) => None,
        }
    }
}

/// Computes the shape of `node`, and records errors for rows that differ from their neighbours.
pub fn infer(node: &Node, errors: &mut Errors) -> Shape {
    match node {
        Node::Value { value, .. } => Shape {
            sizes: Vec::new(),
            open: matches!(value, Value::Other | Value::Wrong),
        },
        Node::Repeat { item, len, .. } => row(length(len), infer(item, errors)),
        Node::Row { items, .. } => {
            let shapes: Vec<Shape> = items.iter().map(|item| infer(item, errors)).collect();
            let usual = usual(&shapes);
            for (item, shape) in items.iter().zip(&shapes) {
                if let Some(problem) = difference(shape, &usual) {
                    errors.span(span(item), problem);
                }
            }
            row(RowLength::Known(items.len()), usual)
        }
    }
}

fn row(len: RowLength, item: Shape) -> Shape {
    Shape {
        sizes: [len].into_iter().chain(item.sizes).collect(),
        open: item.open,
    }
}

fn length(len: &Expr) -> RowLength {
    if let Expr::Lit(ExprLit {
        lit: Lit::Int(literal),
        ..
    }) = len
        && let Ok(len) = literal.base10_parse()
    {
        return RowLength::Known(len);
    }
    RowLength::Const(len.to_token_stream())
}

/// Returns the shape of most items, so that the odd one is reported; in a tie, the first. It is
/// open if all items are expressions, and that of a value if there are no items.
fn usual(shapes: &[Shape]) -> Shape {
    let key = |shape: &Shape| -> Vec<Option<usize>> {
        shape.sizes.iter().map(RowLength::known).collect()
    };
    let mut counts: HashMap<Vec<Option<usize>>, usize> = HashMap::new();
    for shape in shapes {
        *counts.entry(key(shape)).or_default() += 1;
    }
    // A bare expression matches any other item, and does not determine the shape.
    let says = |shape: &&Shape| !shape.open || !shape.sizes.is_empty();
    let most = shapes
        .iter()
        .filter(says)
        .map(|shape| counts[&key(shape)])
        .max();
    let found = shapes
        .iter()
        .filter(says)
        .find(|shape| Some(counts[&key(shape)]) == most);
    found.or(shapes.first()).cloned().unwrap_or_default()
}

/// Returns the reason why an item of shape `shape` cannot be next to items of shape `usual`.
fn difference(shape: &Shape, usual: &Shape) -> Option<String> {
    for (len, usual_len) in shape.sizes.iter().zip(&usual.sizes) {
        if let (Some(len), Some(usual_len)) = (len.known(), usual_len.known())
            && len != usual_len
        {
            return Some(format!(
                "this row has {}, the other rows have {usual_len}",
                values(len)
            ));
        }
    }
    let (deep, usual_deep) = (shape.sizes.len(), usual.sizes.len());
    // The less deep one may still be an array.
    let may_be_deeper = if deep < usual_deep {
        shape.open
    } else {
        usual.open
    };
    (deep != usual_deep && !may_be_deeper)
        .then(|| format!("{} is mixed with {}", kind(deep), plural(usual_deep)))
}

fn values(len: usize) -> String {
    if len == 1 {
        "1 value".into()
    } else {
        format!("{len} values")
    }
}

fn kind(depth: usize) -> &'static str {
    match depth {
        0 => "a single value",
        1 => "a row of values",
        _ => "a row of rows",
    }
}

fn plural(depth: usize) -> &'static str {
    match depth {
        0 => "single values",
        1 => "rows of values",
        _ => "rows of rows",
    }
}

pub fn span(node: &Node) -> Span {
    match node {
        Node::Row { span, .. } | Node::Repeat { span, .. } => *span,
        Node::Value { tokens, .. } => tokens.span(),
    }
}

/// Records an error if the number of dims differs from the depth of the rows.
pub fn check_rank(shape: &Shape, data: &Node, dims: &[Type], errors: &mut Errors) {
    let depth = shape.sizes.len();
    if depth == dims.len() || (shape.open && depth < dims.len()) {
        return;
    }
    let list: Vec<String> = dims
        .iter()
        .map(|dim| dim.to_token_stream().to_string())
        .collect();
    let names = match dims.len() {
        0 => "no dim is named".into(),
        1 => format!("1 dim is named: {}", list[0]),
        count => format!("{count} dims are named: {}", list.join(", ")),
    };
    let data_is = match depth {
        0 => "the data are a single value".into(),
        1 => "the data are 1 row of values, that is 1 dim".into(),
        _ => format!("the data are nested {depth} deep, that is {depth} dims"),
    };
    let fix = match (depth, dims.len()) {
        (_, 0) => "; name each after a semicolon, `Wild` for none",
        (0, 1) => "; a dtype without dims is written `tensor!(1; ; f64)`",
        _ => "",
    };
    let message = format!("{data_is}, but {names}{fix}");
    if dims.is_empty() {
        errors.span(span(data), message);
    } else {
        errors.at(quote!(#(#dims),*), message);
    }
}
