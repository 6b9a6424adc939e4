//! The values as a tree of rows.

use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::{Expr, ExprLit, ExprUnary, Lit, LitBool, LitFloat, LitInt, Token, UnOp};

use crate::errors::Errors;
use crate::list::up_to_comma;

/// The suffixes of Rust's number literals that are dtypes.
pub const SUFFIXES: [&str; 7] = ["u8", "i8", "i16", "i32", "i64", "f32", "f64"];

/// A row of rows, a row of values, or a value.
pub enum Node {
    /// `[a, b, c]`
    Row { span: Span, items: Vec<Node> },
    /// `[a; 3]`
    Repeat {
        span: Span,
        item: Box<Node>,
        len: Box<Expr>,
    },
    /// Any other expression.
    Value { value: Value, tokens: TokenStream },
}

/// A value. Anything except a literal number or bool is left to rustc: it may even be an array.
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
        suffix: &'static str,
    },
    Other,
    /// An error, recorded already.
    Wrong,
}

impl Node {
    /// Creates the node that replaces unrecognized data.
    pub fn wrong() -> Self {
        Self::Value {
            value: Value::Wrong,
            tokens: TokenStream::new(),
        }
    }

    /// Calls `f` on every value.
    pub fn each_value<'a>(&'a self, f: &mut impl FnMut(&'a Value, &'a TokenStream)) {
        match self {
            Self::Row { items, .. } => items.iter().for_each(|item| item.each_value(f)),
            Self::Repeat { item, .. } => item.each_value(f),
            Self::Value { value, tokens } => f(value, tokens),
        }
    }
}

/// Parses a row or a value. For anything else, records an error and skips to the next comma.
pub fn node(input: ParseStream<'_>, errors: &mut Errors) -> Node {
    let node = if is_row(input) {
        bracketed(input, errors)
    } else {
        input.parse().map(|expr| of_expr(expr, errors))
    };
    node.unwrap_or_else(|error| {
        errors.push(error);
        up_to_comma(input);
        Node::wrong()
    })
}

/// Returns whether a `[..]` follows that is a whole item, not the start of an expression.
fn is_row(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let group = ahead.parse::<Group>();
    group.is_ok_and(|group| group.delimiter() == Delimiter::Bracket)
        && !ahead.peek(Token![.])
        && !ahead.peek(Token![?])
}

fn bracketed(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Node> {
    let items;
    let span = syn::bracketed!(items in input).span.join();
    Ok(row(span, &items, errors))
}

/// Parses the items of a row.
fn row(span: Span, input: ParseStream<'_>, errors: &mut Errors) -> Node {
    let mut items = Vec::new();
    let mut told = false;
    while !input.is_empty() {
        items.push(node(input, errors));
        if input.peek(Token![;]) && items.len() == 1 {
            return repeat(span, items.remove(0), input, errors);
        }
        if input.is_empty() || input.parse::<Token![,]>().is_ok() {
            continue;
        }
        if !told {
            if let Ok(next) = input.fork().parse::<TokenTree>() {
                errors.at(next, "expected `,` between values");
            }
            told = true;
        }
        if input.peek(Token![;]) {
            let _ = input.parse::<Token![;]>();
        }
    }
    Node::Row { span, items }
}

/// Parses the length of `[x; 3]`, from its semicolon on.
fn repeat(span: Span, item: Node, input: ParseStream<'_>, errors: &mut Errors) -> Node {
    let len = input.parse::<Token![;]>().and_then(|semicolon| {
        let message = "expected a length after `;`: `[0.; 3]`";
        let len = input.parse::<Expr>();
        len.map_err(|_| syn::Error::new_spanned(semicolon, message))
    });
    let behind: TokenStream = input.parse().unwrap_or_default();
    let len = match len {
        Ok(len) => len,
        Err(error) => {
            errors.push(error);
            return Node::wrong();
        }
    };
    if !behind.is_empty() {
        let message = "nothing follows the length of a row; values have `,` between them";
        errors.at(behind, message);
    }
    Node::Repeat {
        span,
        item: Box::new(item),
        len: Box::new(len),
    }
}

/// Converts a row or a value given as an expression, e.g. as a fragment of another macro.
fn of_expr(expr: Expr, errors: &mut Errors) -> Node {
    match expr {
        Expr::Array(array) => Node::Row {
            span: array.bracket_token.span.join(),
            items: array
                .elems
                .into_iter()
                .map(|item| of_expr(item, errors))
                .collect(),
        },
        Expr::Repeat(repeat) => Node::Repeat {
            span: repeat.bracket_token.span.join(),
            item: Box::new(of_expr(*repeat.expr, errors)),
            len: repeat.len,
        },
        // The wrapper of a fragment of another macro.
        Expr::Group(group) if group.attrs.is_empty() => of_expr(*group.expr, errors),
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
        Lit::Float(number) => typed(number.suffix(), literal, errors),
        Lit::Int(number) => typed(number.suffix(), literal, errors),
        Lit::Bool(literal) if minus.is_none() => Value::Bool(literal.clone()),
        Lit::Byte(_) => Value::Typed { suffix: "u8" },
        other => {
            errors.at(quote!(#minus #other), "a tensor holds numbers or bools");
            Value::Wrong
        }
    }
}

/// Parses the suffix of a number, which must be a dtype.
fn typed(suffix: &str, literal: &Lit, errors: &mut Errors) -> Value {
    if let Some(suffix) = SUFFIXES.iter().find(|known| **known == suffix) {
        return Value::Typed { suffix };
    }
    let message = format!(
        "`{suffix}` is no dtype suffix; those are {}: other dtypes go after the dims, \
         `tensor!([1]; N; f16)`",
        SUFFIXES.map(|known| format!("`{known}`")).join(", ")
    );
    errors.at(literal, message);
    Value::Wrong
}

/// Creates a literal with a suffix. The digits are decimal: `0xff` as a float is 255.
pub fn suffixed(digits: &str, suffix: &str, span: Span) -> Literal {
    let text = match digits.strip_suffix('.') {
        Some(whole) => format!("{whole}.0{suffix}"),
        None => format!("{digits}{suffix}"),
    };
    let mut literal: Literal = text
        .parse()
        // Without digits, rustc reports the error.
        .unwrap_or_else(|_| Literal::string(&text));
    literal.set_span(span);
    literal
}
