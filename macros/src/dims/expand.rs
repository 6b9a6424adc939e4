//! The code of one dim: a unit struct and impls that cannot fail.
//!
//! The name keeps its span and all other tokens are located just before it, so that an error elsewhere that shows the
//! declaration shows the name alone, and so does an editor. Paths are absolute, down to `::core::primitive`, and no
//! function binds a variable with a plain name: a dim may be called `str`, or `f`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, LitStr};

use super::validate::Dim;
use crate::crate_path::{CratePath, after, before};
use crate::spelling;

/// Writes the struct and its impls.
pub fn dim(dim: &Dim, crate_path: &CratePath) -> TokenStream {
    let span = before(dim.ident.span());
    let Dim {
        attrs, vis, ident, ..
    } = dim;
    let doc = doc(dim, span);
    let allow_case = unusual_case(&ident.to_string())
        .then(|| quote_spanned!(span=> #[allow(non_camel_case_types)]));
    let mut out = quote! { #(#attrs)* #doc #allow_case };
    out.extend(quote_spanned!(span=> #vis struct #ident));
    // To rustc, the item extends from its first token to its last.
    out.extend(quote_spanned!(after(ident.span())=> ;));
    for item in axis(dim, &crate_path.dims(span), span)
        .into_iter()
        .chain(labels(dim, &crate_path.dims(span), span))
        .chain(std_impls(dim, span))
    {
        let cfgs = dim.cfgs();
        let allow_use = dim
            .has("deprecated")
            .then(|| quote_spanned!(span=> #[allow(deprecated)]));
        out.extend(quote_spanned!(span=> #(#cfgs)* #allow_use #[automatically_derived] #item));
    }
    out.extend(words(dim, &crate_path.dims(span), span));
    out
}

/// Writes a line of documentation that describes the dim, after the user's own docs.
fn doc(dim: &Dim, span: Span) -> TokenStream {
    let (ident, spelling) = (dim.ident.to_string(), &dim.spelling);
    let mut text = format!(" Dim `{ident}`");
    if ident != *spelling {
        text += &format!(", spelled `{spelling}` at run time");
    }
    if let Some(size) = dim.size {
        text += &format!(", of size {size}");
    }
    let text = LitStr::new(&(text + "."), span);
    let paragraph = dim.documented().then(|| quote_spanned!(span=> #[doc = ""]));
    quote_spanned!(span=> #paragraph #[doc = #text])
}

/// Returns whether rustc would warn about the case of the type's name.
fn unusual_case(ident: &str) -> bool {
    ident.contains('_') || ident.starts_with(|c: char| c.is_lowercase())
}

/// Returns the identifier at another span.
fn moved(ident: &Ident, span: Span) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(span);
    ident
}

/// Writes the impls of the dim's traits.
fn axis(dim: &Dim, dims: &TokenStream, span: Span) -> [TokenStream; 2] {
    let Dim { spelling, .. } = dim;
    let ident = &moved(&dim.ident, span);
    let id = spelling::id(spelling, dims, span);
    let head = spelling::head(spelling, dims, span);
    let name = LitStr::new(spelling, span);
    let label_type = label_type(dim, dims, span);
    let size = match dim.size {
        None => quote_spanned!(span=> #dims::AnySize),
        Some(size) => {
            // The digits as a type too: rustc compares those if the number is generic.
            let digits: Vec<u8> = size.to_string().bytes().map(spelling::symbol).collect();
            let digits = spelling::list(&digits, dims, span);
            let mut literal = proc_macro2::Literal::u64_unsuffixed(size);
            literal.set_span(span);
            quote_spanned!(span=> #dims::Fixed<#literal, #digits>)
        }
    };
    [
        quote_spanned! {span=>
            #[diagnostic::do_not_recommend]
            impl #dims::Axis for #ident {
                type Id = #id;
                type Head = #head;
                type Kind = #dims::Named;
                type Size = #size;
                const NAME: ::core::option::Option<&'static ::core::primitive::str> =
                    ::core::option::Option::Some(#name);
                #label_type
            }
        },
        quote_spanned! {span=>
            #[diagnostic::do_not_recommend]
            impl #dims::Dim for #ident {}
        },
    ]
}

/// Writes the type of the dim's labels. Nothing for a dim without labels.
fn labels(dim: &Dim, dims: &TokenStream, span: Span) -> Vec<TokenStream> {
    let ident = &moved(&dim.ident, span);
    let label = match &dim.label {
        Some(ty) => quote!(#ty),
        None if dim.words.is_empty() => return Vec::new(),
        None => quote_spanned!(span=> #dims::Text),
    };
    vec![quote_spanned! {span=>
        #[diagnostic::do_not_recommend]
        impl #dims::HasLabels for #ident {
            type Label = #label;
        }
    }]
}

/// Writes a constant for each word of the dim.
fn words(dim: &Dim, dims: &TokenStream, span: Span) -> TokenStream {
    if dim.words.is_empty() {
        return TokenStream::new();
    }
    let (ident, vis, cfgs) = (&moved(&dim.ident, span), &dim.vis, dim.cfgs());
    let words = dim.words.iter().zip(0_i64..).map(|(word, index)| {
        let doc = LitStr::new(&format!(" Label `{word}`."), span);
        quote_spanned! {span=>
            #[doc = #doc]
            #[allow(non_upper_case_globals)]
            #vis const #word: #dims::At<#ident> = #dims::At::new(#index);
        }
    });
    quote_spanned!(span=> #(#cfgs)* #[allow(dead_code)] impl #ident { #(#words)* })
}

/// Writes `Axis::LABELS`.
fn label_type(dim: &Dim, dims: &TokenStream, span: Span) -> TokenStream {
    if dim.label.is_none() && dim.words.is_empty() {
        return TokenStream::new();
    }
    let value = if dim.words.is_empty() {
        // Not the type itself: a type that has no labels is then one error.
        quote_spanned!(span=> <<Self as #dims::HasLabels>::Label as #dims::Label>::TYPE)
    } else {
        let words = dim
            .words
            .iter()
            .map(|word| LitStr::new(&word.to_string(), span));
        quote_spanned!(span=> #dims::LabelType::Words(&[#(#words),*]))
    };
    quote_spanned! {span=>
        const LABELS: ::core::option::Option<#dims::LabelType> = ::core::option::Option::Some(#value);
    }
}

/// Writes the impls that `derive` would write.
fn std_impls(dim: &Dim, span: Span) -> [TokenStream; 7] {
    let ident = &moved(&dim.ident, span);
    let name = LitStr::new(&ident.to_string(), span);
    [
        quote_spanned! {span=>
            impl ::core::clone::Clone for #ident {
                #[inline]
                fn clone(&self) -> Self {
                    *self
                }
            }
        },
        quote_spanned!(span=> impl ::core::marker::Copy for #ident {}),
        quote_spanned! {span=>
            impl ::core::fmt::Debug for #ident {
                fn fmt(
                    &self,
                    __formatter: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    __formatter.write_str(#name)
                }
            }
        },
        quote_spanned! {span=>
            impl ::core::default::Default for #ident {
                #[inline]
                fn default() -> Self {
                    Self
                }
            }
        },
        quote_spanned! {span=>
            impl ::core::cmp::PartialEq for #ident {
                #[inline]
                fn eq(&self, _: &Self) -> ::core::primitive::bool {
                    true
                }
            }
        },
        quote_spanned!(span=> impl ::core::cmp::Eq for #ident {}),
        quote_spanned! {span=>
            impl ::core::hash::Hash for #ident {
                #[inline]
                fn hash<__H: ::core::hash::Hasher>(&self, _: &mut __H) {}
            }
        },
    ]
}
