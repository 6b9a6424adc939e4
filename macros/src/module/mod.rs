//! `#[derive(Module)]`: visits the fields of a type.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Fields, Generics, Ident, Member, Path, Type};

mod dtype;
#[cfg(test)]
mod tests;

/// Writes the impl, or the errors.
pub fn module(input: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let crate_path = crate_path(&input);
    let path = match &crate_path {
        Ok(path) => path.clone(),
        Err(_) => syn::parse_quote!(::nomina_nn),
    };
    let walked = crate_path.and_then(|_| variants(&input));
    // One error is enough: with an empty impl, the uses of the type's methods compile.
    let (variants, error) = match walked {
        Ok(variants) => (variants, None),
        Err(error) => (Vec::new(), Some(error.to_compile_error())),
    };
    let implemented = expand(&input, &variants, &path);
    let converted = dtype::convert(&input, &path);
    quote!(#error #implemented #converted)
}

/// A visited field.
struct Walked<'a> {
    ty: &'a Type,
    /// The field's component of a path.
    part: String,
    /// The variable that a pattern binds it to.
    bound: Ident,
    member: Member,
}

/// The path of a pattern, and its fields.
type Variant<'a> = (TokenStream, Vec<Walked<'a>>);

fn variants(input: &DeriveInput) -> syn::Result<Vec<Variant<'_>>> {
    Ok(match &input.data {
        Data::Struct(data) => vec![(quote!(Self), walked(&data.fields)?)],
        Data::Enum(data) => {
            let each = data.variants.iter().map(|variant| {
                let name = &variant.ident;
                Ok((quote!(Self::#name), walked(&variant.fields)?))
            });
            each.collect::<syn::Result<_>>()?
        }
        Data::Union(data) => {
            let what = "a union holds no parameters: a module is a struct or an enum";
            return Err(syn::Error::new(data.union_token.span, what));
        }
    })
}

fn expand(input: &DeriveInput, variants: &[Variant<'_>], crate_path: &Path) -> TokenStream {
    let body = |method: &str| {
        let method = format_ident!("{method}");
        let arms = variants.iter().map(|(name, fields)| {
            let patterns = fields
                .iter()
                .map(|Walked { member, bound, .. }| quote!(#member: #bound));
            let visits = fields.iter().map(|field| {
                let (part, bound, ty) = (&field.part, &field.bound, field.ty);
                // Located at the field's type, so that rustc's errors point there.
                let mut argument = bound.clone();
                argument.set_span(argument.span().located_at(ty.span()));
                let path = Ident::new("path", Span::mixed_site());
                let call = quote_spanned!(ty.span()=> #crate_path::Module::#method(#argument, #path, visit));
                quote!(path.enter(#part, |#path| #call);)
            });
            quote!(#name { #(#patterns,)* .. } => { #(#visits)* })
        });
        quote!(match self { #(#arms)* _ => {} })
    };
    let [each, each_mut] = ["each", "each_mut"].map(body);
    let name = &input.ident;
    let types = variants
        .iter()
        .flat_map(|(_, fields)| fields)
        .map(|field| field.ty);
    let generics = bounded(&input.generics, types, crate_path);
    let (impls, args, bounds) = generics.split_for_impl();
    let (seen, seen_mut) = (
        quote!(&mut dyn ::core::ops::FnMut(&str, &'nomina dyn #crate_path::Slot)),
        quote!(&mut dyn ::core::ops::FnMut(&str, &'nomina mut dyn #crate_path::Slot)),
    );
    quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        #[allow(unused_variables, unreachable_patterns)]
        impl #impls #crate_path::Module for #name #args #bounds {
            fn each<'nomina>(&'nomina self, path: &mut #crate_path::Path, visit: #seen) {
                #each
            }
            fn each_mut<'nomina>(&'nomina mut self, path: &mut #crate_path::Path, visit: #seen_mut) {
                #each_mut
            }
        }
    }
}

/// Returns `::nomina_nn`, or the path in `#[module(crate = path)]`.
fn crate_path(input: &DeriveInput) -> syn::Result<Path> {
    let mut found: Path = syn::parse_quote!(::nomina_nn);
    for attribute in input
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("module"))
    {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("expected `crate = path`; `skip` goes on a field"));
            }
            found = meta.value()?.parse()?;
            Ok(())
        })?;
    }
    Ok(found)
}

/// Returns the fields without `#[module(skip)]`.
fn walked(fields: &Fields) -> syn::Result<Vec<Walked<'_>>> {
    let mut found = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        if is_skipped(field)? {
            continue;
        }
        let (part, member) = match &field.ident {
            Some(name) => (
                name.to_string().trim_start_matches("r#").to_owned(),
                Member::from(name.clone()),
            ),
            None => (at.to_string(), Member::from(at)),
        };
        found.push(Walked {
            ty: &field.ty,
            part,
            bound: Ident::new(&format!("field_{at}"), Span::mixed_site()),
            member,
        });
    }
    Ok(found)
}

fn is_skipped(field: &Field) -> syn::Result<bool> {
    let mut skipped = false;
    for attribute in field
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("module"))
    {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("skip") {
                return Err(meta.error("expected `skip`, for a field without parameters"));
            }
            skipped = true;
            Ok(())
        })?;
    }
    Ok(skipped)
}

/// Returns the generics, with a `Module` bound on each field type that depends on them.
fn bounded<'a>(
    generics: &Generics,
    types: impl Iterator<Item = &'a Type>,
    crate_path: &Path,
) -> Generics {
    let params: Vec<String> = generics
        .type_params()
        .map(|param| param.ident.to_string())
        .collect();
    let mut generics = generics.clone();
    let dependent: Vec<&Type> = types.filter(|ty| mentions(quote!(#ty), &params)).collect();
    if !dependent.is_empty() {
        let bounds = generics.make_where_clause();
        for ty in dependent {
            bounds
                .predicates
                .push(syn::parse_quote!(#ty: #crate_path::Module));
        }
    }
    generics
}

fn mentions(tokens: TokenStream, params: &[String]) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(name) => params.contains(&name.to_string()),
        proc_macro2::TokenTree::Group(group) => mentions(group.stream(), params),
        _ => false,
    })
}
