//! `#[derive(Batch)]`: a struct of batches for a struct of values.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{
    Attribute, Data, DeriveInput, Fields, GenericParam, Ident, Member, Path, parse_quote, parse2,
};

#[cfg(test)]
mod tests;

/// Writes the struct and the impl, or the errors.
pub fn batch(input: TokenStream) -> TokenStream {
    parse2::<DeriveInput>(input)
        .and_then(|input| expand(&input))
        .unwrap_or_else(|error| error.to_compile_error())
}

/// The crate's path and the name of the struct of batches.
struct BatchOptions {
    crate_path: Path,
    name: Ident,
}

impl BatchOptions {
    /// Reads `#[batch(crate = path, name = Name)]`.
    fn read(input: &DeriveInput) -> syn::Result<Self> {
        let mut found = Self {
            crate_path: parse_quote!(::nomina),
            name: format_ident!("{}Batch", input.ident),
        };
        let attributes = input.attrs.iter();
        for attribute in attributes.filter(|attribute| attribute.path().is_ident("batch")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("crate") {
                    found.crate_path = meta.value()?.parse()?;
                } else if meta.path.is_ident("name") {
                    found.name = meta.value()?.parse()?;
                } else {
                    return Err(meta.error("expected `name = Name` or `crate = path`"));
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}

fn fields(input: &DeriveInput) -> syn::Result<&Fields> {
    match &input.data {
        Data::Struct(data) if !data.fields.is_empty() => Ok(&data.fields),
        _ => {
            let what = "a batch has the fields of a struct: derive it for a struct with fields";
            Err(syn::Error::new(input.ident.span(), what))
        }
    }
}

fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let fields = fields(input)?;
    let BatchOptions { crate_path, name } = BatchOptions::read(input)?;
    let own = &input.ident;
    // A field's type may mention a dim `N`, so the parameter has a name of its own.
    let dim = Ident::new("BatchDim", Span::call_site());

    let mut generics = input.generics.clone();
    let lifetimes = generics.lifetimes().count();
    let param: GenericParam = parse_quote!(#dim);
    generics.params.insert(lifetimes, param);
    let bounds = generics.make_where_clause();
    for field in fields {
        let ty = &field.ty;
        let bound = parse_quote!(#ty: #crate_path::loops::Batch<#dim>);
        bounds.predicates.push(bound);
    }

    let (_, own_args, _) = input.generics.split_for_impl();
    let (impls, args, bounds) = generics.split_for_impl();
    let mut bounded = generics.clone();
    bounded.make_where_clause().predicates.extend([
        parse_quote!(#dim: ::core::marker::Copy),
        parse_quote!(#name #args: ::core::clone::Clone + ::core::fmt::Debug),
    ] as [syn::WherePredicate; 2]);
    let impl_bounds = &bounded.where_clause;

    let batched = fields.iter().map(|field| {
        let (ty, visibility) = (&field.ty, &field.vis);
        let docs = field.attrs.iter().filter(|attribute| is_doc(attribute));
        let docs: Vec<&Attribute> = docs.collect();
        let docs = match &docs[..] {
            [] => quote!(#[allow(missing_docs)]),
            docs => quote!(#(#docs)*),
        };
        let name = field.ident.as_ref().map(|name| quote!(#name:));
        quote!(#docs #visibility #name <#ty as #crate_path::loops::Batch<#dim>>::Batched)
    });
    let visibility = &input.vis;
    let declared = match fields {
        Fields::Named(_) => {
            quote!(#visibility struct #name #impls #bounds { #(#batched,)* })
        }
        _ => quote!(#visibility struct #name #impls (#(#batched,)*) #bounds;),
    };

    let members: Vec<Member> = fields.members().collect();
    let columns: Vec<Ident> = (0..members.len())
        .map(|at| Ident::new(&format!("column_{at}"), Span::mixed_site()))
        .collect();
    let text = format!("Several [`{own}`] in a batch: each field is stacked along `BatchDim`.");
    Ok(quote! {
        #[doc = #text]
        #[derive(Clone, Debug)]
        #declared

        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl #impls #crate_path::loops::Batch<#dim> for #own #own_args #impl_bounds {
            type Batched = #name #args;

            fn try_batch(
                values: ::std::vec::Vec<Self>,
                dim: #dim,
            ) -> #crate_path::Result<Self::Batched> {
                #(let mut #columns = ::std::vec::Vec::with_capacity(values.len());)*
                for value in values {
                    #(#columns.push(value.#members);)*
                }
                ::core::result::Result::Ok(#name {
                    #(#members: #crate_path::loops::Batch::try_batch(#columns, dim)?,)*
                })
            }
        }
    })
}

fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}
