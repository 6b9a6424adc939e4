//! The function with its bounds.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{GenericParam, Generics, Token, Type, TypeParam, TypeParamBound, WherePredicate};

use super::nouns::{Nouns, Role};
use super::parse::Function;

/// Writes the function with all bounds.
pub fn function<'a>(
    function: Function,
    named: impl Iterator<Item = &'a Type>,
    bounds: Vec<WherePredicate>,
) -> TokenStream {
    // A bound on a parameter may be both in its list and in a `where` clause, and a bound on known dims is trivial; the
    // author wrote neither.
    let allowed = quote!(#[allow(trivial_bounds, clippy::multiple_bound_locations)]);
    written(function, &allowed, named, bounds)
}

/// Writes the function's signature with a body that compiles.
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
    let mut found = Nouns::new(&function.signature.generics);
    bounds.iter().for_each(|bound| found.declare(bound));
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
    // Bounds on parameters come first: rustc reports in this order. They are written at the parameters, because rustc
    // would otherwise suggest adding missing bounds at the start of the generated `where` clause.
    let all = roles.iter().chain(found.bounds());
    // A bound that does not parse here did not parse before either.
    let mut others: Vec<WherePredicate> = Vec::new();
    for bound in all.filter_map(|bound| syn::parse2::<WherePredicate>(bound.clone()).ok()) {
        match param_of(generics, &bound) {
            Some((param, bounds)) => {
                param.colon_token.get_or_insert_default();
                param.bounds.extend(bounds);
            }
            None => others.push(bound),
        }
    }
    if others.is_empty() {
        return;
    }
    let clause = generics.make_where_clause();
    let written = std::mem::take(&mut clause.predicates);
    clause.predicates.extend(others);
    clause.predicates.extend(written);
}

/// Returns the parameter that a bound is about, and the bounds on it.
fn param_of<'g>(
    generics: &'g mut Generics,
    bound: &WherePredicate,
) -> Option<(&'g mut TypeParam, Punctuated<TypeParamBound, Token![+]>)> {
    let WherePredicate::Type(bound) = bound else {
        return None;
    };
    let (Type::Path(own), None) = (&bound.bounded_ty, &bound.lifetimes) else {
        return None;
    };
    let own = own.path.get_ident().filter(|_| own.qself.is_none())?;
    let param = generics
        .type_params_mut()
        .find(|param| param.ident == *own)?;
    Some((param, bound.bounds.clone()))
}
