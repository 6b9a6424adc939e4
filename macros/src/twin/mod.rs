//! `#[twin]`: a method that panics, from the one beside it that returns the error.

mod arguments;
mod body;
mod docs;
mod expand;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use crate::errors::Errors;

/// The attribute. Where something is wrong, the method stays as it is written.
pub fn twin(written: TokenStream, method: TokenStream) -> TokenStream {
    let read = arguments::read(written)
        .and_then(|arguments| Ok((arguments, parse::method(method.clone())?)))
        .and_then(|(arguments, method)| expand::expand(&arguments, &method));
    read.unwrap_or_else(|error| {
        let mut errors = Errors::default();
        errors.push(error);
        let mut out = errors.into_items();
        out.extend(method);
        out
    })
}
