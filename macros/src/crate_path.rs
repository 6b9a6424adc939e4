//! The path of the crate whose macro the user wrote.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};

/// What stands in the leading `($crate)`: each macro here is called through a `macro_rules!`
/// wrapper, so that the path also holds where the crate is renamed or re-exported.
pub struct CratePath(TokenStream);

impl Parse for CratePath {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(syn::token::Paren) {
            return Err(syn::Error::new(
                Span::call_site(),
                "this macro is called through the one of the same name in crate `nomina`",
            ));
        }
        let content;
        syn::parenthesized!(content in input);
        content.parse().map(Self)
    }
}

/// The empty place where `span` begins, for tokens that a macro adds to what the user wrote there:
/// an editor that is asked about a token describes everything that stands exactly where it does.
pub fn before(span: Span) -> Span {
    if proc_macro::is_available() {
        span.unwrap().start().into()
    } else {
        span
    }
}

/// The empty place where `span` ends: see [`before`].
pub fn after(span: Span) -> Span {
    if proc_macro::is_available() {
        span.unwrap().end().into()
    } else {
        span
    }
}

impl CratePath {
    /// The path, resolved where it was written but located at `span`, so that nothing rustc
    /// reports quotes more of the user's code than `span`.
    pub fn at(&self, span: Span) -> TokenStream {
        let move_to = |mut token: TokenTree| {
            token.set_span(token.span().located_at(span));
            token
        };
        self.0.clone().into_iter().map(move_to).collect()
    }

    /// An expression of type `ty` for a call that is wrong; it never runs.
    pub fn stand_in(&self, ty: &TokenStream) -> TokenStream {
        let crate_path = self.at(Span::call_site());
        quote::quote!(#crate_path::__private::stand_in::<#ty>())
    }

    /// The module whose traits `dims!` implements.
    pub fn dims(&self, span: Span) -> TokenStream {
        let crate_path = self.at(span);
        quote::quote_spanned!(span=> #crate_path::__private::dims)
    }
}
