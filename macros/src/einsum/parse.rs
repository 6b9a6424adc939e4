//! `q[B, T, K] * k[B, S, K] -> [B, T, S]`: expressions with a list of dims behind each, `*` between
//! them, and the result's dims.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, Token, Type};

use crate::errors::Errors;

/// What was written.
pub struct Equation {
    pub operands: Vec<Operand>,
    pub result: List,
}

/// A tensor and the list of its dims.
pub struct Operand {
    pub tensor: Expr,
    pub dims: List,
}

/// A list of dims in brackets.
pub struct List {
    pub span: Span,
    pub items: Vec<Item>,
}

/// A dim, or `..`.
// Most items are dims.
#[allow(clippy::large_enum_variant)]
pub enum Item {
    Dim(Type),
    Rest(Token![..]),
}

impl List {
    pub fn dims(&self) -> impl Iterator<Item = &Type> {
        self.items.iter().filter_map(|item| match item {
            Item::Dim(dim) => Some(dim),
            Item::Rest(_) => None,
        })
    }

    pub fn has_rest(&self) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Rest(_)))
    }
}

/// The equation, as far as it can be made out; the rest is noted.
pub fn equation(input: ParseStream<'_>, errors: &mut Errors) -> Option<Equation> {
    // Behind each term stands a `*` or the arrow.
    let mut terms: Vec<(Vec<TokenTree>, Span)> = Vec::new();
    let mut term = Vec::new();
    // The end of the input has no place of its own.
    let mut last = input.span();
    let arrow = loop {
        if let Ok(arrow) = input.parse::<Token![->]>() {
            break arrow;
        }
        let Ok(token) = input.parse::<TokenTree>() else {
            let message = "expected `-> [..]`: the dims of the result, `-> []` for a number";
            errors.span(last, message);
            return None;
        };
        last = token.span();
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '*' => {
                terms.push((std::mem::take(&mut term), last));
            }
            _ => term.push(token),
        }
    };
    terms.push((term, arrow.span()));
    let behind: Vec<TokenTree> = input.parse::<TokenStream>().ok()?.into_iter().collect();
    let result = match behind.as_slice() {
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Bracket => {
            Some(list(group, errors))
        }
        [] => {
            errors.at(arrow, "expected the dims of the result: `-> [N, C]`");
            None
        }
        other => {
            let message = "expected the dims of the result in brackets, and nothing else";
            errors.at(TokenStream::from_iter(other.iter().cloned()), message);
            None
        }
    };
    let operands: Vec<Operand> = terms
        .into_iter()
        .filter_map(|(term, end)| operand(term, end, errors))
        .collect();
    Some(Equation {
        operands,
        result: result?,
    })
}

/// An expression and, in brackets, its dims.
fn operand(mut term: Vec<TokenTree>, end: Span, errors: &mut Errors) -> Option<Operand> {
    let dims = match term.pop() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => group,
        Some(other) => {
            term.push(other);
            let message = "expected the operand's dims behind it: `x[N, C]`; an expression with \
                           `*` in it stands in parentheses";
            errors.at(TokenStream::from_iter(term), message);
            return None;
        }
        None => {
            errors.span(
                end,
                "expected an operand on both sides of `*`: `x[N, C] * y[C]`",
            );
            return None;
        }
    };
    let list = list(&dims, errors);
    if term.is_empty() {
        errors.at(dims, "expected an operand in front of its dims: `x[N, C]`");
        return None;
    }
    let tokens = TokenStream::from_iter(term);
    match syn::parse2::<Expr>(tokens.clone()) {
        Ok(tensor) => Some(Operand { tensor, dims: list }),
        Err(error) => {
            errors.at(
                tokens,
                format!("expected an expression in front of the dims: {error}"),
            );
            None
        }
    }
}

fn list(group: &Group, errors: &mut Errors) -> List {
    let parser = |input: ParseStream<'_>| {
        let mut items = Vec::new();
        while !input.is_empty() {
            item(input, &mut items, errors);
            if !input.is_empty() && input.parse::<Token![,]>().is_err() {
                errors.span(input.span(), "expected `,` between dims");
            }
        }
        Ok(items)
    };
    List {
        span: group.span(),
        items: parser.parse2(group.stream()).unwrap_or_default(),
    }
}

fn item(input: ParseStream<'_>, items: &mut Vec<Item>, errors: &mut Errors) {
    if input.peek(Token![...]) {
        if let Ok(dots) = input.parse::<Token![...]>() {
            errors.at(dots, "the other dims are `..`");
        }
    } else if input.peek(Token![..]) {
        if let Ok(rest) = input.parse() {
            items.push(Item::Rest(rest));
        }
    } else if input.peek(syn::Ident) || input.peek(Token![::]) || input.peek(Token![crate]) {
        match input.parse::<Type>() {
            Ok(dim) => items.push(Item::Dim(dim)),
            Err(error) => errors.push(error),
        }
    } else {
        let mut found = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            let Ok(token) = input.parse::<TokenTree>() else {
                break;
            };
            token.to_tokens(&mut found);
        }
        let message = "expected a dim or `..`";
        if found.is_empty() {
            errors.span(input.span(), message);
        } else {
            errors.at(found, message);
        }
    }
}
