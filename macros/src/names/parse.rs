//! Items of `names!`: string literals and `_`, separated by commas.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, LitStr, Token};

use crate::errors::Errors;
use crate::list::up_to_comma;

/// The parsed name of one dim.
pub enum Name {
    Named(LitStr),
    Unnamed(Token![_]),
}

/// Parses the names that are recognized, and records errors for the rest.
pub fn names(input: ParseStream<'_>, errors: &mut Errors) -> Vec<Name> {
    let mut names = Vec::new();
    while !input.is_empty() {
        if input.peek(LitStr)
            && let Ok(name) = input.parse()
        {
            names.push(Name::Named(name));
        } else if input.peek(Token![_])
            && let Ok(unnamed) = input.parse()
        {
            names.push(Name::Unnamed(unnamed));
        } else {
            other(input, errors);
            continue;
        }
        if !input.is_empty() && input.parse::<Token![,]>().is_err() {
            errors.span(input.span(), "expected `,` between names");
            let _ = input.parse::<Token![;]>();
        }
    }
    names
}

/// Records an error for any other item, and skips to the next comma.
fn other(input: ParseStream<'_>, errors: &mut Errors) {
    let hint = if let Ok(ident) = input.fork().call(Ident::parse_any) {
        match ident.to_string().as_str() {
            "None" => ": a dim without a name is `_`".into(),
            text => format!(": write `\"{text}\"`"),
        }
    } else if input.peek(Token![..]) {
        ": a list of names has every dim, and no `..`".into()
    } else {
        String::new()
    };
    let found = up_to_comma(input);
    let message = format!("expected a name in quotes, or `_`{hint}");
    if found.is_empty() {
        errors.span(input.span(), message);
    } else {
        errors.at(found, message);
    }
    let _ = input.parse::<Token![,]>();
}
