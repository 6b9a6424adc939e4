//! The body of the method that panics.
//!
//! It calls the method that is written, or repeats what that does where nothing leaves it early: a
//! user's program then compiles one function for its types and not two.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::Path;

use super::parse::{group, is_ident, is_punct};

/// What the body does, but for a panic where it would return an error. None where only a call of
/// the method itself says that.
pub fn repeated(body: &Group, made: Option<&Path>, span: Span) -> Option<TokenStream> {
    let mut tokens: Vec<TokenTree> = body.stream().into_iter().collect();
    let leaves = leaves(body.stream());
    if let Some(before) = before_self(&tokens).filter(|_| leaves == 1) {
        // `…; what?; Ok(self)`
        tokens.truncate(before);
        let tail = tail(&tokens)?;
        let last = tokens.split_off(tail);
        // An assignment of what a call returns has no value.
        if last.iter().any(|token| is_punct(token, '=')) {
            return None;
        }
        let last: TokenStream = last.into_iter().collect();
        let first: TokenStream = tokens.into_iter().collect();
        return Some(quote_spanned!(span=> #first crate::call::ok(#last); self));
    }
    if leaves > 0 {
        return None;
    }
    let tail = tail(&tokens)?;
    let last = tokens.split_off(tail);
    let first: TokenStream = tokens.into_iter().collect();
    let last = match given(&last) {
        // `Tensor::try_from_erased(what)`
        Some((ty, what)) => {
            let made = made.and_then(|made| Some((made, called(what.clone())?)));
            match made {
                Some((made, arguments)) => {
                    quote_spanned!(span=> #ty::from_erased(#made #arguments))
                }
                None => quote_spanned!(span=> #ty::from_erased(crate::call::done(#what))),
            }
        }
        None => {
            let last: TokenStream = last.into_iter().collect();
            quote_spanned!(span=> crate::call::ok(#last))
        }
    };
    Some(quote_spanned!(span=> #first #last))
}

/// How often something may leave the body before its end.
fn leaves(tokens: TokenStream) -> usize {
    tokens
        .into_iter()
        .map(|token| match &token {
            TokenTree::Group(group) => leaves(group.stream()),
            token => usize::from(is_punct(token, '?') || is_ident(token, "return")),
        })
        .sum()
}

/// Where `?; Ok(self)` begins at the end.
fn before_self(tokens: &[TokenTree]) -> Option<usize> {
    let [.., leaves, ends, ok, this] = tokens else {
        return None;
    };
    let this = group(this, Delimiter::Parenthesis)?.stream().to_string();
    (is_punct(leaves, '?') && is_punct(ends, ';') && is_ident(ok, "Ok") && this == "self")
        .then(|| tokens.len() - 4)
}

/// Where the last expression begins, if that is certain: a block on the way may be a statement.
fn tail(tokens: &[TokenTree]) -> Option<usize> {
    let from = tokens
        .iter()
        .rposition(|token| is_punct(token, ';'))
        .map_or(0, |at| at + 1);
    let (_, before) = tokens.get(from..)?.split_last()?;
    let blocks = before
        .iter()
        .any(|token| group(token, Delimiter::Brace).is_some());
    (!blocks).then_some(from)
}

/// The type of `Type::try_from_erased(what)`, and what.
fn given(tokens: &[TokenTree]) -> Option<(&TokenTree, TokenStream)> {
    let [ty, _, _, name, what] = tokens else {
        return None;
    };
    let what = group(what, Delimiter::Parenthesis)?;
    is_ident(name, "try_from_erased").then(|| (ty, what.stream()))
}

/// The arguments of a call, with their parentheses.
fn called(what: TokenStream) -> Option<TokenTree> {
    what.into_iter()
        .last()
        .filter(|last| group(last, Delimiter::Parenthesis).is_some())
}
