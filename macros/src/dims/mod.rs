//! `dims!`: declares dims.

mod expand;
mod parse;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};

use crate::depth;
use crate::errors::Errors;
use crate::face::Face;

/// The macro. What can be declared is declared also where something is wrong, so that the uses
/// of the dims don't fail as well.
pub fn dims(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let parser = |input: ParseStream<'_>| {
        let face: Face = input.parse()?;
        Ok((face, parse::items(input, &mut errors)))
    };
    match depth::check(input.clone(), depth::Input::Types).and_then(|()| parser.parse2(input)) {
        Err(error) => error.to_compile_error(),
        Ok((face, items)) => {
            let dims = validate::dims(items, &mut errors);
            let mut out = errors.into_items();
            out.extend(dims.iter().map(|dim| expand::dim(dim, &face)));
            out
        }
    }
}
