//! The expansion: a block that borrows the operands, checks every dim at its own span, and
//! multiplies.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::parse::{Equation, List, ListItem};
use crate::crate_path::{CratePath, before};

/// Returns the operand's variable.
fn name(number: usize) -> Ident {
    format_ident!("operand{number}", span = Span::mixed_site())
}

/// Writes the block; `end` is the function that multiplies.
pub fn equation(crate_path: &CratePath, equation: &Equation, end: &str) -> TokenStream {
    let Some(result) = &equation.result else {
        return TokenStream::new();
    };
    let terms = format_ident!("terms", span = Span::mixed_site());
    let mut block = TokenStream::new();
    for (number, operand) in equation.operands.iter().enumerate() {
        let (name, tensor) = (name(number), &operand.tensor);
        block.extend(quote!(let #name = &#tensor;));
    }
    let mut product = TokenStream::new();
    for (number, operand) in equation.operands.iter().enumerate() {
        let list = &operand.dims;
        let at = before(list.span);
        let name = located(&name(number), at);
        // Located at the list, so that rustc reports its errors there.
        let dims = quote_spanned!(list.span=> _);
        let path = crate_path.at(at);
        let listed = tuple(list, at);
        block.extend(
            quote_spanned!(at=> #path::__private::einsum_named::<#listed, #dims, _>(#name);),
        );
        for dim in list.dims() {
            block.extend(asked(crate_path, "einsum_operand", dim, &name, 2));
        }
        if !list.has_rest() {
            block.extend(
                quote_spanned!(at=> #path::__private::einsum_all::<#listed, #dims, _>(#name);),
            );
        }
        product = if number == 0 {
            quote_spanned!(at=> #path::__private::einsum_first::<#listed, _, _>(#name))
        } else {
            quote_spanned!(at=>
                #path::__private::einsum_times::<#listed, _, _, _, _, _>(#product, #name)
            )
        };
    }
    block.extend(quote!(let #terms = #product;));
    let at = before(result.span);
    let own = located(&terms, at);
    for dim in result.dims() {
        block.extend(asked(crate_path, "einsum_result", dim, &own, 3));
    }
    let (path, end) = (crate_path.at(at), format_ident!("{end}", span = at));
    let order = order(result, at);
    block.extend(quote_spanned!(at=> #path::__private::#end::<#order, _, _, _>(#own)));
    quote!({ #block })
}

/// Returns an expression that replaces an invalid call, so that later lines can be checked: a
/// tensor with the dims listed for the result and its operands' dtype. `None` if these are unknown.
pub fn stand_in(crate_path: &CratePath, equation: &Equation, end: &str) -> Option<TokenStream> {
    let result = equation.result.as_ref()?;
    if !equation.complete || result.has_rest() {
        return None;
    }
    let path = crate_path.at(Span::call_site());
    let mut terms: Option<TokenStream> = None;
    for operand in &equation.operands {
        let tensor = &operand.tensor;
        terms = Some(match terms {
            None => quote!(#path::__private::einsum_first::<(), _, _>(&#tensor)),
            Some(terms) => {
                quote!(#path::__private::einsum_times::<(), _, _, _, _, _>(#terms, &#tensor))
            }
        });
    }
    let terms = terms?;
    let mut seen = HashSet::new();
    let dims = result
        .dims()
        .filter(|dim| seen.insert(dim.to_token_stream().to_string()));
    let product = quote!(#path::__private::einsum_stand_in::<(#(#dims,)*), _, _, _>(#terms));
    Some(if end == "einsum" {
        product
    } else {
        quote!(::core::result::Result::Ok::<_, #path::Error>(#product))
    })
}

/// Returns the variable at another span.
fn located(name: &Ident, at: Span) -> Ident {
    let mut name = name.clone();
    name.set_span(name.span().located_at(at));
    name
}

/// Writes `function::<Dim, _, _>(&x);`, located at the dim.
fn asked(
    crate_path: &CratePath,
    function: &str,
    dim: &syn::Type,
    of: &Ident,
    inferred: usize,
) -> TokenStream {
    let at = before(dim.span());
    let (path, of) = (crate_path.at(at), located(of, at));
    let function = format_ident!("{function}", span = at);
    let inferred = (0..inferred).map(|_| quote_spanned!(at=> _));
    let lent = if function == "einsum_result" {
        quote_spanned!(at=> &#of)
    } else {
        of.to_token_stream()
    };
    quote_spanned!(at=> #path::__private::#function::<#dim, #(#inferred),*>(#lent);)
}

/// Returns the listed dims, without `..`.
fn tuple(list: &List, at: Span) -> TokenStream {
    let dims = list.dims();
    quote_spanned!(at=> (#(#dims,)*))
}

/// Returns the dims of the result, with `..` as the type `RangeFull`.
fn order(list: &List, at: Span) -> TokenStream {
    let items = list.items.iter().map(|item| match item {
        ListItem::Dim(dim) => dim.to_token_stream(),
        ListItem::Rest(_) => quote_spanned!(at=> ::core::ops::RangeFull),
    });
    quote_spanned!(at=> (#(#items,)*))
}
