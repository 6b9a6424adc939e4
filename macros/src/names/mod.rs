//! `names!`: a list of names for the run-time path.

mod parse;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{ParseStream, Parser};

use crate::crate_path::CratePath;
use crate::depth;
use crate::errors::{Errors, expression};

/// Expands `names!`.
pub fn names(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let parser = |input: ParseStream<'_>| {
        let crate_path: CratePath = input.parse()?;
        Ok((crate_path, parse::names(input, &mut errors)))
    };
    let (crate_path, names) = match depth::check(input.clone(), depth::InputKind::Values)
        .and_then(|()| parser.parse2(input))
    {
        Ok(parsed) => parsed,
        Err(error) => return expression(error),
    };
    validate::names(&names, &mut errors);
    let path = crate_path.at(proc_macro2::Span::call_site());
    if !errors.is_empty() {
        let ty = quote!(#path::__private::Names);
        return errors.into_expression(Some(crate_path.stand_in(&ty)));
    }
    let names = names.iter().map(|name| match name {
        parse::Name::Named(name) => quote!(::core::option::Option::Some(#name)),
        parse::Name::Unnamed(_) => quote!(::core::option::Option::None),
    });
    quote!(#path::__private::Names::from_static(&[#(#names),*]))
}
