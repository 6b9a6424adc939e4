//! The values as a tree of rows.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, ExprLit, ExprUnary, Lit, LitBool, LitFloat, LitInt, Token, UnOp};

use crate::errors::Errors;

/// A row of rows, a row of values, or a value.
pub enum Node {
    /// `[a, b, c]`
    Row { span: Span, items: Vec<Node> },
    /// `[a; 3]`
    Repeat {
        span: Span,
        item: Box<Node>,
        len: Expr,
    },
    /// Anything else.
    Value { value: Value, tokens: TokenStream },
}

/// A value. What is not a number or a bool written out is rustc's to understand: it may even be
/// an array.
pub enum Value {
    Float {
        minus: Option<Token![-]>,
        literal: LitFloat,
    },
    Int {
        minus: Option<Token![-]>,
        literal: LitInt,
    },
    Bool(LitBool),
    /// A number with a suffix.
    Typed {
        suffix: String,
    },
    Other,
}

impl Node {
    /// Calls `f` on every value.
    pub fn each_value<'a>(&'a self, f: &mut impl FnMut(&'a Value, &'a TokenStream)) {
        match self {
            Self::Row { items, .. } => items.iter().for_each(|item| item.each_value(f)),
            Self::Repeat { item, .. } => item.each_value(f),
            Self::Value { value, tokens } => f(value, tokens),
        }
    }
}

/// Reads an expression.
pub fn node(expr: Expr, errors: &mut Errors) -> Node {
    match expr {
        Expr::Array(array) => Node::Row {
            span: array.bracket_token.span.join(),
            items: array
                .elems
                .into_iter()
                .map(|item| node(item, errors))
                .collect(),
        },
        Expr::Repeat(repeat) => Node::Repeat {
            span: repeat.bracket_token.span.join(),
            item: Box::new(node(*repeat.expr, errors)),
            len: *repeat.len,
        },
        // What a fragment of another macro is wrapped in.
        Expr::Group(group) if group.attrs.is_empty() => node(*group.expr, errors),
        expr => {
            let tokens = expr.to_token_stream();
            let value = value(&expr, None, errors);
            Node::Value { value, tokens }
        }
    }
}

fn value(expr: &Expr, minus: Option<Token![-]>, errors: &mut Errors) -> Value {
    match expr {
        Expr::Lit(ExprLit { lit, .. }) => literal(lit, minus, errors),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(op),
            expr,
            ..
        }) if minus.is_none() => match &**expr {
            Expr::Lit(_) => value(expr, Some(*op), errors),
            Expr::Group(group) => value(&group.expr, Some(*op), errors),
            _ => Value::Other,
        },
        _ => Value::Other,
    }
}

fn literal(literal: &Lit, minus: Option<Token![-]>, errors: &mut Errors) -> Value {
    match literal {
        Lit::Float(literal) if literal.suffix().is_empty() => Value::Float {
            minus,
            literal: literal.clone(),
        },
        Lit::Int(literal) if literal.suffix().is_empty() => Value::Int {
            minus,
            literal: literal.clone(),
        },
        Lit::Float(literal) => Value::Typed {
            suffix: literal.suffix().into(),
        },
        Lit::Int(literal) => Value::Typed {
            suffix: literal.suffix().into(),
        },
        Lit::Bool(literal) if minus.is_none() => Value::Bool(literal.clone()),
        Lit::Byte(_) => Value::Typed {
            suffix: "u8".into(),
        },
        other => {
            errors.at(quote!(#minus #other), "a tensor holds numbers or bools");
            Value::Other
        }
    }
}

/// A literal with a suffix. The digits are decimal: `0xff` as a float is 255.
pub fn suffixed(digits: &str, suffix: &str, span: Span) -> Literal {
    let text = match digits.strip_suffix('.') {
        Some(whole) => format!("{whole}.0{suffix}"),
        None => format!("{digits}{suffix}"),
    };
    let mut literal: Literal = text
        .parse()
        .unwrap_or_else(|_| Literal::f64_suffixed(f64::NAN));
    literal.set_span(span);
    literal
}
