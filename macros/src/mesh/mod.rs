//! `mesh!` and `layout!`: the axes of a mesh, and the dims that they split.

mod expand;

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, Path, Token, Visibility};

#[cfg(test)]
mod tests;

/// The maximum number of axes: a placement has this number of states.
const MOST: usize = 4;

/// `pub Grid: Data, Model`.
struct MeshInput {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    axes: Vec<Ident>,
}

impl Parse for MeshInput {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let name: Ident = input.parse()?;
        input.parse::<Token![:]>()?;
        let axes = Punctuated::<Ident, Token![,]>::parse_terminated(input)?;
        let axes: Vec<Ident> = axes.into_iter().collect();
        if axes.is_empty() {
            return Err(syn::Error::new(
                name.span(),
                "a mesh needs an axis: `Grid: Data`",
            ));
        }
        if let Some(fifth) = axes.get(MOST) {
            return Err(syn::Error::new(fifth.span(), "a mesh has up to 4 axes"));
        }
        for (at, axis) in axes.iter().enumerate() {
            if axes[..at].contains(axis) || *axis == name {
                let what = format!("`{axis}` is declared twice");
                return Err(syn::Error::new(axis.span(), what));
            }
        }
        Ok(Self {
            attributes,
            visibility,
            name,
            axes,
        })
    }
}

/// Expands `mesh!`.
pub fn mesh(input: TokenStream) -> TokenStream {
    syn::parse2(input).map_or_else(
        |error: syn::Error| error.to_compile_error(),
        |mesh| expand::mesh(&mesh),
    )
}

/// `pub Train on Grid: Batch => Data, Hidden => Model`.
struct LayoutInput {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    mesh: Path,
    pairs: Vec<(Path, Path)>,
}

impl Parse for LayoutInput {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let name = input.parse()?;
        let on: Ident = input.parse()?;
        if on != "on" {
            return Err(syn::Error::new(
                on.span(),
                "expected `on` and a mesh: `Train on Grid: Batch => Data`",
            ));
        }
        let mesh = input.call(Path::parse_mod_style)?;
        input.parse::<Token![:]>()?;
        let mut pairs: Vec<(Path, Path)> = Vec::new();
        while !input.is_empty() {
            let dim = input.call(Path::parse_mod_style)?;
            input.parse::<Token![=>]>()?;
            let axis = input.call(Path::parse_mod_style)?;
            let pair = (written(&dim), written(&axis));
            if pairs
                .iter()
                .any(|(dim, axis)| (written(dim), written(axis)) == pair)
            {
                return Err(syn::Error::new_spanned(dim, "this pair is repeated"));
            }
            pairs.push((dim, axis));
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(Self {
            attributes,
            visibility,
            name,
            mesh,
            pairs,
        })
    }
}

/// Expands `layout!`.
pub fn layout(input: TokenStream) -> TokenStream {
    syn::parse2(input).map_or_else(
        |error: syn::Error| error.to_compile_error(),
        |layout| expand::layout(&layout),
    )
}

fn written(path: &Path) -> String {
    quote!(#path).to_string()
}
