//! The path of the crate through which the user called the macro.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};

/// The path in the leading `($crate)`. Each macro here is called through a `macro_rules!` wrapper,
/// so that the path is right even if the crate is renamed or re-exported.
pub struct CratePath(TokenStream);

impl Parse for CratePath {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(syn::token::Paren) {
            return Err(syn::Error::new(
                Span::call_site(),
                "call the macro of the same name in crate `nomina`",
            ));
        }
        let content;
        syn::parenthesized!(content in input);
        content.parse().map(Self)
    }
}

/// Returns the empty span at the start of `span`, for tokens that a macro adds to the user's code
/// there: an editor describes every token with exactly the span it is asked about.
pub fn before(span: Span) -> Span {
    if proc_macro::is_available() {
        span.unwrap().start().into()
    } else {
        span
    }
}

/// Returns the empty span at the end of `span`: see [`before`].
pub fn after(span: Span) -> Span {
    if proc_macro::is_available() {
        span.unwrap().end().into()
    } else {
        span
    }
}

impl CratePath {
    /// Returns the path, resolved at its origin but located at `span`, so that rustc quotes no user
    /// code outside of `span`.
    pub fn at(&self, span: Span) -> TokenStream {
        let move_to = |mut token: TokenTree| {
            token.set_span(token.span().located_at(span));
            token
        };
        self.0.clone().into_iter().map(move_to).collect()
    }

    /// Returns an expression of type `ty` for an invalid call; it never runs.
    pub fn stand_in(&self, ty: &TokenStream) -> TokenStream {
        let crate_path = self.at(Span::call_site());
        quote::quote!(#crate_path::__private::stand_in::<#ty>())
    }

    /// Returns the module of the traits that `dims!` implements.
    pub fn dims(&self, span: Span) -> TokenStream {
        let crate_path = self.at(span);
        quote::quote_spanned!(span=> #crate_path::__private::dims)
    }
}
