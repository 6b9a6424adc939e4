//! The attribute's arguments.

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, LitStr, Path, Token};

/// What the attribute says of its method.
#[derive(Default)]
pub struct Arguments {
    /// It is a function beside the types, whose docs link to no `Self`.
    pub free: bool,
    /// The method takes an `Option` of a generator last. Two methods without it follow.
    pub from: bool,
    /// The function that computes as the body's last call does, and panics itself.
    pub made: Option<Path>,
    /// The method takes options last, and this is what they add. Two methods without them follow.
    pub with: Option<LitStr>,
}

/// Reads them.
pub fn read(written: TokenStream) -> syn::Result<Arguments> {
    // Most have none.
    if written.is_empty() {
        return Ok(Arguments::default());
    }
    all.parse2(written)
}

fn all(input: ParseStream<'_>) -> syn::Result<Arguments> {
    let mut arguments = Arguments::default();
    while !input.is_empty() {
        let name: Ident = input.parse()?;
        match name.to_string().as_str() {
            "free" => arguments.free = true,
            "from" => arguments.from = true,
            "made" => {
                input.parse::<Token![=]>()?;
                arguments.made = Some(Path::parse_mod_style(input)?);
            }
            "with" => {
                input.parse::<Token![=]>()?;
                arguments.with = Some(input.parse()?);
            }
            _ => {
                return Err(syn::Error::new(
                    name.span(),
                    "expected `free`, `from`, `made = function` or `with = \"what the options add.\"`",
                ));
            }
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(arguments)
}
