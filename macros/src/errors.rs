//! Collection of errors: a user sees all errors of one macro call at once.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};

/// The errors found so far.
#[derive(Default)]
pub struct Errors(Option<syn::Error>);

impl Errors {
    /// Records an error in the tokens `at`.
    pub fn at(&mut self, at: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(at, message));
    }

    /// Records an error at `span`.
    pub fn span(&mut self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    /// Records an error.
    pub fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            None => self.0 = Some(error),
            Some(first) => first.combine(error),
        }
    }

    /// Returns whether there are no errors so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns one `compile_error!` per error, as items.
    pub fn into_items(self) -> TokenStream {
        self.0
            .map(|error| error.to_compile_error())
            .unwrap_or_default()
    }

    /// Returns the errors as an expression whose value is `stand_in`, so that later lines, and an
    /// editor, know its type. Without one it has an unknown type, about which no later line
    /// complains either.
    pub fn into_expression(self, stand_in: Option<TokenStream>) -> TokenStream {
        let all = self.0.into_iter().flatten();
        let mut errors: Vec<TokenStream> = all.map(|error| error.to_compile_error()).collect();
        // In parentheses the last error is an expression; without them, an editor would take it for
        // a statement, and the block's value for `()`.
        let value = stand_in.or_else(|| errors.pop().map(|error| quote!((#error))));
        quote!({ #(#errors)* #value })
    }
}

/// Returns the expansion of a macro if not even the start of its input can be parsed.
pub fn expression(error: syn::Error) -> TokenStream {
    let mut errors = Errors::default();
    errors.push(error);
    errors.into_expression(None)
}
