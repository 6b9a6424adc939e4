//! Comma-separated lists of types, used by several macros.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Token, Type};

use crate::errors::Errors;

/// Parses a type. For anything else, records `message` and skips to the next comma.
pub fn ty(input: ParseStream<'_>, message: &str, errors: &mut Errors) -> Option<Type> {
    let ahead = input.fork();
    if let Ok(ty) = ahead.parse() {
        input.advance_to(&ahead);
        return Some(ty);
    }
    let at = input.span();
    let found = up_to_comma(input);
    if found.is_empty() {
        errors.span(at, message);
    } else {
        errors.at(found, message);
    }
    None
}

/// Takes the tokens before the next comma.
pub fn up_to_comma(input: ParseStream<'_>) -> TokenStream {
    let mut found = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        let Ok(token) = input.parse::<TokenTree>() else {
            break;
        };
        found.extend([token]);
    }
    found
}
