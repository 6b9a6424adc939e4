//! `#[twin]`: a method that panics, from the one beside it that returns the error. `#[forms]`: with
//! default options and with an out tensor.

mod arguments;
mod body;
mod docs;
mod expand;
mod forms;
mod generator;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use crate::errors::Errors;

/// The attribute. Where something is wrong, the method stays as it is written.
pub fn twin(written: TokenStream, method: TokenStream) -> TokenStream {
    let made = arguments::read(written)
        .and_then(|arguments| Ok((arguments, parse::method(method.clone())?)))
        .and_then(|(arguments, method)| expand::expand(&arguments, &method));
    or_as_written(made, method)
}

/// The attribute for methods of the tensor without types.
pub fn forms(written: TokenStream, method: TokenStream) -> TokenStream {
    let made = parse::method(method.clone()).and_then(|method| forms::expand(written, &method));
    or_as_written(made, method)
}

fn or_as_written(made: syn::Result<TokenStream>, method: TokenStream) -> TokenStream {
    made.unwrap_or_else(|error| {
        let mut errors = Errors::default();
        errors.push(error);
        let mut out = errors.into_items();
        out.extend(method);
        out
    })
}
