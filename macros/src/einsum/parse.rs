//! `q[B, T, K] * k[B, S, K] -> [B, T, S]`: expressions, each followed by a list of dims, with `*`
//! between them, and the result's dims.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, LitStr, Token, Type};

use crate::errors::Errors;
use crate::list::ty;

/// A parsed equation.
pub struct Equation {
    /// The operands that were recognized.
    pub operands: Vec<Operand>,
    /// Whether all operands were recognized.
    pub complete: bool,
    pub result: Option<List>,
}

/// A tensor and the list of its dims.
pub struct Operand {
    pub tensor: Expr,
    pub dims: List,
}

/// A list of dims in brackets.
pub struct List {
    pub span: Span,
    pub items: Vec<ListItem>,
}

/// A dim, or `..`.
// Most items are dims.
#[allow(clippy::large_enum_variant)]
pub enum ListItem {
    Dim(Type),
    Rest(Token![..]),
}

impl List {
    pub fn dims(&self) -> impl Iterator<Item = &Type> {
        self.items.iter().filter_map(|item| match item {
            ListItem::Dim(dim) => Some(dim),
            ListItem::Rest(_) => None,
        })
    }

    pub fn has_rest(&self) -> bool {
        self.items
            .iter()
            .any(|item| matches!(item, ListItem::Rest(_)))
    }
}

const SHAPE: &str = "tensors with their dims: `einsum!(x[B, I, K] * y[B, K, J] -> [B, I, J])`";

const RESULT: &str = "expected the dims of the result in brackets, and nothing else";

/// Parses the equation as far as it is recognized, and records the errors in the rest.
pub fn equation(input: ParseStream<'_>, errors: &mut Errors) -> Equation {
    let mut equation = Equation {
        operands: Vec::new(),
        complete: false,
        result: None,
    };
    if input.is_empty() {
        errors.span(input.span(), format!("expected {SHAPE}"));
        return equation;
    }
    if input.peek(LitStr)
        && let Ok(text) = input.parse::<LitStr>()
    {
        errors.at(text, format!("`einsum!` has no string, but {SHAPE}"));
        let _ = input.parse::<TokenStream>();
        return equation;
    }
    // Each term is followed by a `*` or the arrow.
    let mut terms: Vec<(Vec<TokenTree>, TokenStream)> = Vec::new();
    let mut term = Vec::new();
    let mut last = TokenStream::new();
    let mut arrow = None;
    while !input.is_empty() {
        arrow = self::arrow(input, errors);
        if arrow.is_some() {
            break;
        }
        let Ok(token) = input.parse::<TokenTree>() else {
            break;
        };
        last = token.to_token_stream();
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '*' => {
                terms.push((std::mem::take(&mut term), last.clone()));
            }
            _ => term.push(token),
        }
    }
    match &arrow {
        Some(arrow) => terms.push((term, arrow.clone())),
        // A missing end is reported by one error.
        None if term.is_empty() => {}
        None => terms.push((term, last.clone())),
    }
    let count = terms.len();
    let operands = terms
        .into_iter()
        .filter_map(|(term, end)| operand(term, &end, errors));
    equation.operands = operands.collect();
    equation.complete = equation.operands.len() == count;
    match arrow {
        Some(arrow) => equation.result = result(input, &arrow, errors),
        // The end of the input has no span.
        None => errors.at(
            last,
            "expected `-> [..]`: the dims of the result, `-> []` for a number",
        ),
    }
    equation
}

/// Parses `->`, or `=>` written for it.
fn arrow(input: ParseStream<'_>, errors: &mut Errors) -> Option<TokenStream> {
    if let Ok(arrow) = input.parse::<Token![->]>() {
        return Some(arrow.into_token_stream());
    }
    let wrong = input.parse::<Token![=>]>().ok()?;
    errors.at(wrong, "the result goes after `->`");
    Some(wrong.into_token_stream())
}

fn result(input: ParseStream<'_>, arrow: &TokenStream, errors: &mut Errors) -> Option<List> {
    let behind: Vec<TokenTree> = input.parse::<TokenStream>().ok()?.into_iter().collect();
    match behind.as_slice() {
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Bracket => {
            Some(list(group, errors))
        }
        [] => {
            errors.at(arrow, "expected the dims of the result: `-> [N, C]`");
            None
        }
        // The dims are valid all the same.
        [TokenTree::Group(group), rest @ ..] if group.delimiter() == Delimiter::Bracket => {
            errors.at(TokenStream::from_iter(rest.iter().cloned()), RESULT);
            Some(list(group, errors))
        }
        other => {
            errors.at(TokenStream::from_iter(other.iter().cloned()), RESULT);
            None
        }
    }
}

/// Parses an expression followed by its dims in brackets.
fn operand(mut term: Vec<TokenTree>, end: &TokenStream, errors: &mut Errors) -> Option<Operand> {
    let dims = match term.pop() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => group,
        Some(other) => {
            term.push(other);
            let message = "expected the operand's dims after it: `x[N, C]`; put an expression with `*` in parentheses";
            errors.at(TokenStream::from_iter(term), message);
            return None;
        }
        None => {
            errors.at(
                end,
                "expected an operand on both sides of `*`: `x[N, C] * y[C]`",
            );
            return None;
        }
    };
    let list = list(&dims, errors);
    if term.is_empty() {
        errors.at(dims, "expected an operand before its dims: `x[N, C]`");
        return None;
    }
    if let Some((sign, message)) = other_operator(&term) {
        errors.at(sign, message);
        return None;
    }
    let tokens = TokenStream::from_iter(term);
    match syn::parse2::<Expr>(tokens.clone()) {
        Ok(tensor) => Some(Operand { tensor, dims: list }),
        Err(error) => {
            errors.at(
                tokens,
                format!("expected an expression before the dims: {error}"),
            );
            None
        }
    }
}

/// Finds a comma or an operator between tensors, where only `*` is allowed.
fn other_operator(term: &[TokenTree]) -> Option<(&TokenTree, &'static str)> {
    let sign = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => Some(punct.as_char()),
        _ => None,
    };
    let with_neighbour = term.iter().zip(term.iter().skip(1));
    with_neighbour
        .into_iter()
        .find_map(|(before, token)| match sign(token) {
            Some(',') => Some((
                token,
                "operands are multiplied: `x[N, C] * y[C]`, with `*` between them",
            )),
            // After another sign it is part of the expression: `&-x`.
            Some('+' | '-' | '/' | '%') if sign(before).is_none() => Some((
                token,
                "operands are multiplied; put a sum in parentheses: `(&x + &y)[N, C]`",
            )),
            _ => None,
        })
}

fn list(group: &Group, errors: &mut Errors) -> List {
    let parser = |input: ParseStream<'_>| {
        let mut items = Vec::new();
        while !input.is_empty() {
            item(input, &mut items, errors);
            if !input.is_empty() && input.parse::<Token![,]>().is_err() {
                errors.span(input.span(), "expected `,` between dims");
                let _ = input.parse::<Token![;]>();
            }
        }
        Ok(items)
    };
    List {
        span: group.span(),
        items: parser.parse2(group.stream()).unwrap_or_default(),
    }
}

fn item(input: ParseStream<'_>, items: &mut Vec<ListItem>, errors: &mut Errors) {
    if input.peek(Token![...]) {
        if let Ok(dots) = input.parse::<Token![...]>() {
            errors.at(dots, "the other dims are `..`");
        }
    } else if input.peek(Token![..]) {
        if let Ok(rest) = input.parse() {
            items.push(ListItem::Rest(rest));
        }
    } else if let Some(dim) = ty(input, "expected a dim or `..`", errors) {
        items.push(ListItem::Dim(dim));
    }
}
