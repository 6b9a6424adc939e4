//! `dims!`: declares dims.

mod expand;
mod parse;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};

use crate::crate_path::CratePath;
use crate::depth;
use crate::errors::Errors;

/// Expands `dims!`. After an error, the dims that can be declared are declared all the same, so
/// that their uses don't fail as well.
pub fn dims(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let parser = |input: ParseStream<'_>| {
        let crate_path: CratePath = input.parse()?;
        Ok((crate_path, parse::items(input, &mut errors)))
    };
    match depth::check(input.clone(), depth::InputKind::Types).and_then(|()| parser.parse2(input)) {
        Err(error) => error.to_compile_error(),
        Ok((crate_path, items)) => {
            let dims = validate::dims(items, &mut errors);
            let mut out = errors.into_items();
            out.extend(dims.iter().map(|dim| expand::dim(dim, &crate_path)));
            out
        }
    }
}
