//! `names!`: a list of names for the run-time path.

mod parse;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{ParseStream, Parser};

use crate::errors::{Errors, expression};
use crate::face::Face;

/// The macro.
pub fn names(input: TokenStream) -> TokenStream {
    expand(input).unwrap_or_else(|error| expression(&error))
}

fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let parser = |input: ParseStream<'_>| {
        let face: Face = input.parse()?;
        Ok((face, parse::names(input, &mut errors)))
    };
    let (face, names) = parser.parse2(input)?;
    validate::names(&names, &mut errors);
    errors.check()?;
    let face = face.at(proc_macro2::Span::call_site());
    let names = names.iter().map(|name| match name {
        parse::Name::Named(name) => quote!(::core::option::Option::Some(#name)),
        parse::Name::Unnamed(_) => quote!(::core::option::Option::None),
    });
    Ok(quote!(#face::__private::Names::from_static(&[#(#names),*])))
}
