//! `#[twin]`: generates a panicking method from one that returns the error. `#[forms]`: generates
//! forms with default options and with an out tensor.

mod arguments;
mod body;
mod docs;
mod expand;
mod forms;
mod generator;
mod names;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use crate::errors::Errors;

/// Expands `#[twin]`. After an error, the method stays as written.
pub fn twin(written: TokenStream, method: TokenStream) -> TokenStream {
    let made = arguments::read(written)
        .and_then(|arguments| Ok((arguments, parse::method(method.clone())?)))
        .and_then(|(arguments, method)| expand::expand(&arguments, &method));
    or_as_written(made, method)
}

/// Expands `#[forms]`, for methods of `DynTensor`.
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
