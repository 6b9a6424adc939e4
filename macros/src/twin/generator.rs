//! `from`: a method that draws from a generator it is given, and one that draws from the default one.
//!
//! What is written takes an `Option` of a generator last, so that its body stands once.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote_spanned;

use super::docs::{link, text};
use super::expand::shorter;
use super::parse::{Method, Parameter};

/// What follows from such a method.
pub struct Draws {
    /// The name without `_from`, or that of what panics where `try_` stands before it.
    pub plain: Ident,
    /// All parameters, the last of them a generator and not an `Option`.
    pub parameters: Vec<Parameter>,
    /// What stands before the body where the generator is given.
    given: TokenStream,
    /// Where it is the default one.
    default: TokenStream,
}

impl Draws {
    /// Reads the last parameter. `name` is that of the method, without `try_`.
    pub fn of(method: &Method, name: &str) -> syn::Result<Self> {
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

    /// The parameters but for the generator.
    pub fn fewer(&self) -> &[Parameter] {
        self.parameters.split_last().map_or(&[], |(_, fewer)| fewer)
    }

    /// A body that draws from the generator that is given, and one that draws from the default one.
    pub fn bodies(&self, body: &TokenStream) -> [TokenStream; 2] {
        [&self.given, &self.default].map(|first| quote_spanned!(self.plain.span()=> #first #body))
    }

    /// What the method that is given a generator says of itself.
    pub fn about(&self, free: bool) -> TokenStream {
        let of = link(&self.plain, free);
        text(
            &format!(" {of} from the given generator."),
            self.plain.span(),
        )
    }
}

/// What stands in the `Option` that is a parameter's type.
pub fn in_option(tokens: &[TokenTree]) -> Option<Vec<TokenTree>> {
    let at = tokens
        .iter()
        .position(|token| matches!(token, TokenTree::Ident(word) if word == "Option"))?;
    let (before, behind) = tokens.split_at(at);
    let inner = behind.get(2..behind.len().checked_sub(1)?)?;
    Some(before.iter().chain(inner).cloned().collect())
}
