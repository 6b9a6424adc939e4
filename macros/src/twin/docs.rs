//! The docs of both methods, derived from those of the original.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::LitStr;

use super::parse::Method;

/// The title of the section about panics.
pub const PANICS: &str = " # Panics";
/// The title of the section about errors.
pub const ERRORS: &str = " # Errors";

/// The parsed docs of a method.
pub struct Docs<'a> {
    /// The lines before `# Errors`.
    about: &'a [(String, TokenTree)],
    /// The line `# Errors`.
    title: &'a TokenTree,
    /// The lines after `# Errors`.
    fails: &'a [(String, TokenTree)],
}

impl<'a> Docs<'a> {
    /// Finds the section about errors.
    pub fn from_method(method: &'a Method) -> syn::Result<Self> {
        let at = method
            .docs
            .iter()
            .position(|(text, _)| text.trim() == "# Errors");
        let Some(at) = at.filter(|&at| at > 0 && at + 1 < method.docs.len()) else {
            return Err(syn::Error::new(
                method.name.span(),
                "a method with this attribute documents its errors: write the section `/// # Errors` and a sentence \
                 below it",
            ));
        };
        Ok(Self {
            about: &method.docs[..at],
            title: &method.docs[at].1,
            fails: &method.docs[at + 1..],
        })
    }

    /// Returns the whole docs, with this title over the section about failures.
    pub fn whole(&self, title: &str) -> TokenStream {
        let mut out = written(self.about);
        out.extend(self.section(title));
        let form = |(text, _): &(String, TokenTree)| text.trim_start().starts_with("Like [`");
        if self.about.first().is_some_and(form) {
            out.extend(unlisted(self.title.span()));
        }
        out
    }

    /// Returns the docs of the method that takes options, which describe the options.
    pub fn of_options(&self, added: TokenStream, title: &str) -> TokenStream {
        let mut out = added;
        out.extend(text("", self.title.span()));
        out.extend(self.section(title));
        out.extend(unlisted(self.title.span()));
        out
    }

    /// Returns the docs of the method that returns the error: a link to the panicking method, and
    /// the section about errors.
    pub fn errors(&self, panicking: &Ident, free: bool) -> TokenStream {
        let mut out = text(
            &format!(
                " Like {}, but returns the error instead of panicking.",
                link(panicking, free)
            ),
            panicking.span(),
        );
        out.extend(text("", self.title.span()));
        out.extend(self.section(ERRORS));
        out.extend(unlisted(self.title.span()));
        out
    }

    fn section(&self, title: &str) -> TokenStream {
        let mut out = text(title, self.title.span());
        out.extend(written(self.fails));
        out
    }
}

/// Returns a link to a method.
pub fn link(name: &Ident, free: bool) -> String {
    if free {
        format!("[`{name}`]")
    } else {
        format!("[`{name}`](Self::{name})")
    }
}

/// Returns the description of the method with options.
pub fn added_by_options(added: &LitStr, plain: &Ident, free: bool) -> TokenStream {
    text(
        &format!(" Like {}, {}", link(plain, free), added.value()),
        added.span(),
    )
}

/// Writes a line of a doc comment.
pub fn text(text: &str, span: Span) -> TokenStream {
    let mut literal = Literal::string(text);
    literal.set_span(span);
    quote_spanned!(span=> #[doc = #literal])
}

/// Hides a form of another method from rustdoc's list, not from editors: the page of `Tensor` has a table of the forms.
fn unlisted(span: Span) -> TokenStream {
    quote_spanned!(span=> #[cfg_attr(doc, doc(hidden))])
}

/// Writes lines unchanged.
fn written(lines: &[(String, TokenTree)]) -> TokenStream {
    lines
        .iter()
        .map(|(_, token)| quote_spanned!(token.span()=> #[doc = #token]))
        .collect()
}
