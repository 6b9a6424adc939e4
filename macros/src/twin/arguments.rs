//! The attribute's arguments.

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, LitStr, Path, Token};

/// The arguments of the attribute.
#[derive(Default)]
pub struct TwinArguments {
    /// A free function, whose docs cannot link to `Self`.
    pub free: bool,
    /// The method's last parameter is an `Option` of a generator. Two methods without it are
    /// generated.
    pub from: bool,
    /// The panicking function that computes the same as the body's last call.
    pub panicking: Option<Path>,
    /// The method's last parameter is options; the text describes them. Two methods without them
    /// are generated.
    pub with: Option<LitStr>,
}

/// Parses the arguments.
pub fn read(written: TokenStream) -> syn::Result<TwinArguments> {
    // Most attributes have no arguments.
    if written.is_empty() {
        return Ok(TwinArguments::default());
    }
    all.parse2(written)
}

fn all(input: ParseStream<'_>) -> syn::Result<TwinArguments> {
    let mut arguments = TwinArguments::default();
    while !input.is_empty() {
        let name: Ident = input.parse()?;
        match name.to_string().as_str() {
            "free" => arguments.free = true,
            "from" => arguments.from = true,
            "panicking" => {
                input.parse::<Token![=]>()?;
                arguments.panicking = Some(Path::parse_mod_style(input)?);
            }
            "with" => {
                input.parse::<Token![=]>()?;
                arguments.with = Some(input.parse()?);
            }
            _ => {
                return Err(syn::Error::new(
                    name.span(),
                    "expected `free`, `from`, `panicking = function` or `with = \"what the options add.\"`",
                ));
            }
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(arguments)
}
