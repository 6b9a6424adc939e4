//! `from`: a method that draws from a given generator, and one that draws from the default one.
//!
//! The original method's last parameter is an `Option` of a generator, so that its body is written once.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

use super::docs::{link, text};
use super::names::shorter;
use super::parse::{Method, Parameter};

/// The methods generated from such a method.
pub struct Draws {
    /// The name without `_from` and without `try_`.
    pub plain: Ident,
    /// All parameters; the last one is a generator instead of an `Option`.
    pub parameters: Vec<Parameter>,
    /// The statement before the body if the generator is given.
    given: TokenStream,
    /// The statement before the body if it is the default one.
    default: TokenStream,
}

impl Draws {
    /// Parses the last parameter. `name` is the method's name without `try_`.
    pub fn from_method(method: &Method, name: &str) -> syn::Result<Self> {
        let span = method.name.span();
        let last = method.parameters.split_last();
        let last = last.and_then(|(last, others)| Some((last, last.in_option()?, others)));
        let Some(((last, generator, others), plain)) = last.zip(shorter(name, "_from")) else {
            let wanted = "`from` is for a method that takes a generator last: \
                          `pub fn name_from(…, generator: Option<&mut Generator>)`";
            return Err(syn::Error::new(span, wanted));
        };
        let (name, declared) = (&last.name, last.written());
        Ok(Self {
            plain: Ident::new(&plain, span),
            given: quote_spanned!(span=> let #name = Some(#name);),
            default: quote_spanned!(span=> let #declared = None;),
            parameters: others.iter().cloned().chain([generator]).collect(),
        })
    }

    /// Returns the parameters without the generator.
    pub fn fewer(&self) -> &[Parameter] {
        self.parameters.split_last().map_or(&[], |(_, fewer)| fewer)
    }

    /// Returns a body that draws from the given generator, and one that draws from the default one.
    pub fn bodies(&self, body: &TokenStream) -> [TokenStream; 2] {
        [&self.given, &self.default].map(|first| quote_spanned!(self.plain.span()=> #first #body))
    }

    /// Returns the description of the method that takes a generator.
    pub fn about(&self, free: bool) -> TokenStream {
        let of = link(&self.plain, free);
        text(
            &format!(" Like {of}, but draws from the given generator."),
            self.plain.span(),
        )
    }
}
