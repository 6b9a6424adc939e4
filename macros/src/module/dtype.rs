//! The conversion of a module to another dtype.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Fields, Ident, Member, Path, Type, TypeParam, TypeParamBound};

use super::{is_skipped, mentions};

/// The bounds of a type parameter that is a dtype.
const DTYPES: [&str; 5] = ["Element", "Numeric", "Inexact", "Float", "Complex"];

/// Returns the impls, if the type has one parameter for a dtype.
pub fn convert(input: &DeriveInput, crate_path: &Path) -> Option<TokenStream> {
    let mut dtypes = input.generics.type_params().filter(|param| is_dtype(param));
    let (Some(dtype), None) = (dtypes.next(), dtypes.next()) else {
        return None;
    };
    let (old, new) = (&dtype.ident, Ident::new("NominaTo", Span::mixed_site()));
    let replaced = |tokens: TokenStream| replace(tokens, old, &new);
    let name = &input.ident;
    let (impls, args, bounds) = input.generics.split_for_impl();

    let mut generics = input.generics.clone();
    generics.params.push(syn::parse_quote!(#new));
    let dtype_bounds = &dtype.bounds;
    let clause = generics.make_where_clause();
    clause
        .predicates
        .push(syn::parse_quote!(#new: #dtype_bounds));
    let given = bounds.map(|bounds| bounds.predicates.iter());
    for predicate in given.into_iter().flatten() {
        let predicate = replaced(predicate.to_token_stream());
        clause.predicates.push(syn::parse_quote!(#predicate));
    }
    let mut arms = Vec::new();
    for (path, fields) in variants(&input.data)? {
        let (mut patterns, mut values) = (Vec::new(), Vec::new());
        for (at, field) in fields.iter().enumerate() {
            let member = match &field.ident {
                Some(name) => Member::from(name.clone()),
                None => Member::from(at),
            };
            let bound = Ident::new(&format!("field_{at}"), Span::mixed_site());
            let ty = &field.ty;
            let depends = mentions(quote!(#ty), &[old.to_string()]);
            if depends && !is_skipped(field).ok()? {
                let to = replaced(quote!(#ty));
                clause
                    .predicates
                    .push(syn::parse_quote!(#ty: #crate_path::InDtype<#new, Out = #to>));
                values.push(quote!(#member: #crate_path::InDtype::<#new>::try_in_dtype(#bound)?));
            } else if is_marker(ty) {
                values.push(quote!(#member: ::core::marker::PhantomData));
            } else {
                clause
                    .predicates
                    .push(syn::parse_quote!(#ty: #crate_path::Kept<#new>));
                values.push(quote!(#member: ::core::clone::Clone::clone(#bound)));
            }
            patterns.push(quote!(#member: #bound));
        }
        arms.push(quote!(#name #path { #(#patterns),* } => #name #path { #(#values),* }));
    }
    let (with, _, bounded) = generics.split_for_impl();
    let out = replaced(quote!(#name #args));
    Some(quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        #[allow(unused_variables, deprecated)]
        impl #with #crate_path::InDtype<#new> for #name #args #bounded {
            type Out = #out;
            fn try_in_dtype(&self) -> ::core::result::Result<Self::Out, #crate_path::Error> {
                ::core::result::Result::Ok(match self { #(#arms),* })
            }
        }
        #[automatically_derived]
        impl #impls #crate_path::ToDtype for #name #args #bounds {}
    })
}

/// Returns the path after the type's name, and the fields, of each variant.
fn variants(data: &Data) -> Option<Vec<(TokenStream, &Fields)>> {
    match data {
        Data::Struct(data) => Some(vec![(TokenStream::new(), &data.fields)]),
        Data::Enum(data) if !data.variants.is_empty() => {
            let each = data.variants.iter().map(|variant| {
                let name = &variant.ident;
                (quote!(::#name), &variant.fields)
            });
            Some(each.collect())
        }
        Data::Enum(_) | Data::Union(_) => None,
    }
}

fn is_dtype(param: &TypeParam) -> bool {
    param.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => {
            let last = bound.path.segments.last();
            last.is_some_and(|last| DTYPES.iter().any(|dtype| last.ident == dtype))
        }
        _ => false,
    })
}

fn is_marker(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.ident == "PhantomData")
}

/// Replaces a name.
fn replace(tokens: TokenStream, old: &Ident, new: &Ident) -> TokenStream {
    let each = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(name) if name == *old => TokenTree::Ident(new.clone()),
        TokenTree::Group(group) => {
            let mut replaced = Group::new(group.delimiter(), replace(group.stream(), old, new));
            replaced.set_span(group.span());
            TokenTree::Group(replaced)
        }
        token => token,
    });
    each.collect()
}
