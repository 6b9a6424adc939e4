//! Errors are gathered: a user sees all mistakes of one macro call at once.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};

/// The mistakes found so far.
#[derive(Default)]
pub struct Errors(Option<syn::Error>);

impl Errors {
    /// Notes a mistake in the tokens `at`.
    pub fn at(&mut self, at: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(at, message));
    }

    /// Notes a mistake at `span`.
    pub fn span(&mut self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    /// Notes a mistake.
    pub fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            None => self.0 = Some(error),
            Some(first) => first.combine(error),
        }
    }

    /// Whether there is no mistake so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// One `compile_error!` per mistake, as items.
    pub fn into_items(self) -> TokenStream {
        self.0
            .map(|error| error.to_compile_error())
            .unwrap_or_default()
    }

    /// The mistakes where an expression is expected, with `stand_in` for its value, so that the
    /// lines behind it, and an editor, know its type. Without one it has an unknown type, which no
    /// later line complains about either.
    pub fn into_expression(self, stand_in: Option<TokenStream>) -> TokenStream {
        let all = self.0.into_iter().flatten();
        let mut errors: Vec<TokenStream> = all.map(|error| error.to_compile_error()).collect();
        // In parentheses the last is an expression; to an editor it would be a statement, and the
        // block `()`.
        let value = stand_in.or_else(|| errors.pop().map(|error| quote!((#error))));
        quote!({ #(#errors)* #value })
    }
}

/// What the macro is where not even its beginning could be read.
pub fn expression(error: syn::Error) -> TokenStream {
    let mut errors = Errors::default();
    errors.push(error);
    errors.into_expression(None)
}
