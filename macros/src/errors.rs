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

    /// `Err` if there is a mistake.
    pub fn check(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

/// `error` where an expression is expected. Its type is rustc's error type, which no later line
/// complains about.
pub fn expression(error: &syn::Error) -> TokenStream {
    let errors = error.to_compile_error();
    quote!({ #errors })
}
