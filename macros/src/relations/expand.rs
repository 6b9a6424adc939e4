//! The function with its bounds.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{GenericParam, Type, WherePredicate};

use super::nouns::{Found, Role};
use super::parse::Function;

/// The function, with all bounds in its `where`.
pub fn function<'a>(
    function: Function,
    named: impl Iterator<Item = &'a Type>,
    bounds: Vec<WherePredicate>,
) -> TokenStream {
    // Bounds stand in both places, and one of known dims says nothing new: neither is the author's.
    let allowed = quote!(#[allow(trivial_bounds, clippy::multiple_bound_locations)]);
    written(function, &allowed, named, bounds)
}

/// The function's signature with a body that compiles.
pub fn without_body<'a>(
    mut function: Function,
    named: impl Iterator<Item = &'a Type>,
    bounds: Vec<WherePredicate>,
) -> TokenStream {
    if function.body.to_string() != ";" {
        function.body = quote!({ ::core::unreachable!() });
    }
    written(function, &quote!(#[allow(unused)]), named, bounds)
}

fn written<'a>(
    mut function: Function,
    allowed: &TokenStream,
    named: impl Iterator<Item = &'a Type>,
    bounds: Vec<WherePredicate>,
) -> TokenStream {
    add_bounds(&mut function, named, bounds);
    let Function {
        attrs,
        vis,
        signature,
        body,
    } = function;
    quote! { #(#attrs)* #allowed #vis #signature #body }
}

fn add_bounds<'a>(
    function: &mut Function,
    named: impl Iterator<Item = &'a Type>,
    bounds: Vec<WherePredicate>,
) {
    let mut found = Found::of(&function.signature.generics);
    named.for_each(|dims| found.ty(dims));
    for bound in &bounds {
        found.predicate(bound);
        found.bound(quote!(#bound));
    }
    found.signature(&function.signature);
    let generics = &mut function.signature.generics;
    let roles: Vec<TokenStream> = generics
        .params
        .iter()
        .filter_map(|param| match param {
            GenericParam::Type(param) => Some(&param.ident),
            _ => None,
        })
        .filter_map(|param| {
            let span = param.span();
            found.role_of(param).map(|role| match role {
                Role::Dims => quote_spanned!(span=> #param: Dims),
                Role::Dim => quote_spanned!(span=> #param: Dim),
                Role::Element => quote_spanned!(span=> #param: Element),
            })
        })
        .collect();
    // What is said of parameters comes first: rustc reports in this order.
    let written = generics.where_clause.take();
    let clause = generics.make_where_clause();
    // To his `where` rustc has the author add what is missing.
    if let Some(written) = &written {
        clause.where_token = written.where_token;
    }
    let all = roles.iter().chain(found.bounds());
    // Whatever does not parse here did not parse before either.
    clause
        .predicates
        .extend(all.filter_map(|bound| syn::parse2::<WherePredicate>(bound.clone()).ok()));
    clause
        .predicates
        .extend(written.into_iter().flat_map(|clause| clause.predicates));
}
