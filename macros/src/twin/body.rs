//! The body of the panicking method.
//!
//! It calls the original method, or repeats its body if that never returns early: a user's program
//! then compiles one function for its types instead of two.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::Path;

use super::parse::{group, is_ident, is_punct};

/// Returns the body with panics in place of returned errors. `None` if only a call of the original
/// method is equivalent.
pub fn repeated(body: &Group, panicking: Option<&Path>, span: Span) -> Option<TokenStream> {
    let mut tokens: Vec<TokenTree> = body.stream().into_iter().collect();
    let leaves = leaves(body.stream());
    if let Some(before) = before_self(&tokens).filter(|_| leaves == 1) {
        // `…; what?; Ok(self)`
        tokens.truncate(before);
        let tail = tail(&tokens)?;
        let last = tokens.split_off(tail);
        // The assignment of a call's result has no value.
        if last.iter().any(|token| is_punct(token, '=')) {
            return None;
        }
        let last: TokenStream = last.into_iter().collect();
        let first: TokenStream = tokens.into_iter().collect();
        return Some(quote_spanned!(span=> #first crate::ok(#last); self));
    }
    if leaves > 0 {
        return None;
    }
    let tail = tail(&tokens)?;
    let last = tokens.split_off(tail);
    let first: TokenStream = tokens.into_iter().collect();
    let last = match split_try_from_erased(&last) {
        // `Tensor::try_from_erased(what)`
        Some((ty, what)) => {
            let panicking = panicking.and_then(|function| Some((function, called(what.clone())?)));
            match panicking {
                Some((function, arguments)) => {
                    quote_spanned!(span=> #ty::from_erased(#function #arguments))
                }
                None => quote_spanned!(span=> #ty::from_erased(crate::done(#what))),
            }
        }
        None => {
            let last: TokenStream = last.into_iter().collect();
            quote_spanned!(span=> crate::ok(#last))
        }
    };
    Some(quote_spanned!(span=> #first #last))
}

/// Returns the number of tokens that may leave the body before its end.
fn leaves(tokens: TokenStream) -> usize {
    tokens
        .into_iter()
        .map(|token| match &token {
            TokenTree::Group(group) => leaves(group.stream()),
            token => usize::from(is_punct(token, '?') || is_ident(token, "return")),
        })
        .sum()
}

/// Returns the start of `?; Ok(self)` at the end.
fn before_self(tokens: &[TokenTree]) -> Option<usize> {
    let [.., leaves, ends, ok, this] = tokens else {
        return None;
    };
    let this = group(this, Delimiter::Parenthesis)?.stream().to_string();
    (is_punct(leaves, '?') && is_punct(ends, ';') && is_ident(ok, "Ok") && this == "self")
        .then(|| tokens.len() - 4)
}

/// Returns the start of the last expression, if that is certain: a block before it may be a
/// statement.
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

/// Returns the type and the argument of `Type::try_from_erased(what)`.
fn split_try_from_erased(tokens: &[TokenTree]) -> Option<(&TokenTree, TokenStream)> {
    let [ty, _, _, name, what] = tokens else {
        return None;
    };
    let what = group(what, Delimiter::Parenthesis)?;
    is_ident(name, "try_from_erased").then(|| (ty, what.stream()))
}

/// Returns the arguments of a call, with their parentheses.
fn called(what: TokenStream) -> Option<TokenTree> {
    what.into_iter()
        .last()
        .filter(|last| group(last, Delimiter::Parenthesis).is_some())
}
