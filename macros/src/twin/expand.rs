//! The generated methods.
//!
//! All tokens have the span of their origin in the source, so that rustc quotes the original method
//! and does not mention a macro.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

use super::arguments::TwinArguments;
use super::body;
use super::docs::{Docs, PANICS, added_by_options};
use super::generator::Draws;
use super::names::shorter;
use super::parse::{Method, Parameter, is_punct};

/// Returns the original method, and those generated from it.
pub fn expand(arguments: &TwinArguments, method: &Method) -> syn::Result<TokenStream> {
    let span = method.name.span();
    let written = method.name.to_string();
    let Some(name) = written.strip_prefix("try_").filter(|name| !name.is_empty()) else {
        return Err(syn::Error::new(
            span,
            format!("`#[twin]` adds the panicking form: name this one `try_{written}`"),
        ));
    };
    let panicking = Ident::new(name, span);
    let docs = Docs::from_method(method)?;
    let one = One {
        arguments,
        method,
        docs: &docs,
        parameters: &method.parameters,
    };
    if arguments.from {
        return from_generator(one, name);
    }
    let tried = one.tried(&panicking, &method.name, method.body.to_token_stream());
    let repeated = body::repeated(&method.body, arguments.panicking.as_ref(), span);
    let body = repeated.map_or_else(|| Body::Calls(one.call(&method.name, None)), Body::Repeats);
    let Some(added) = &arguments.with else {
        let panics = one.panics(&panicking, docs.whole(PANICS), body);
        return Ok(quote!(#panics #tried));
    };
    let Some(((_, parameters), shorter)) =
        method.parameters.split_last().zip(shorter(name, "_with"))
    else {
        return Err(syn::Error::new(
            span,
            "`with` is for a method that takes options last: `pub fn try_name_with(…, options: O)`",
        ));
    };
    let plain = Ident::new(&shorter, span);
    let tried_plain = Ident::new(&format!("try_{shorter}"), span);
    let about = added_by_options(added, &plain, arguments.free);
    let panics = one.panics(&panicking, docs.of_options(about, PANICS), body);
    let options = quote_spanned!(span=> ::core::default::Default::default());
    let less = One { parameters, ..one };
    let call = less.call(&method.name, Some(options));
    let plain_tried = less.tried(&plain, &tried_plain, quote_spanned!(span=> { #call }));
    let plain_panics = less.panics(&plain, docs.whole(PANICS), Body::Calls(call));
    Ok(quote!(#plain_panics #plain_tried #panics #tried))
}

/// Generates the methods that draw from a given generator, and those that draw from the default
/// one.
fn from_generator(one: One<'_>, name: &str) -> syn::Result<TokenStream> {
    let (method, panicking) = (one.method, one.arguments.panicking.as_ref());
    let span = method.name.span();
    let draws = Draws::from_method(method, name)?;
    let own = Ident::new(name, span);
    let tried_plain = Ident::new(&format!("try_{}", draws.plain), span);
    let panics = |one: One<'_>, name: &Ident, tried: &Ident, docs, body: Option<TokenStream>| {
        let body = body.map_or_else(|| Body::Calls(one.call(tried, None)), Body::Repeats);
        one.panics(name, docs, body)
    };
    let [given, default] = draws.bodies(&method.body.stream());
    let repeated = body::repeated(&method.body, panicking, span).map(|body| draws.bodies(&body));
    let (given_too, default_too) = repeated.map(<(_, _)>::from).unzip();
    let about = one.docs.of_options(draws.about(one.arguments.free), PANICS);
    let with = One {
        parameters: &draws.parameters,
        ..one
    };
    let less = One {
        parameters: draws.fewer(),
        ..one
    };
    let panics_plain = panics(
        less,
        &draws.plain,
        &tried_plain,
        one.docs.whole(PANICS),
        default_too,
    );
    let panics_own = panics(with, &own, &method.name, about, given_too);
    let tries_plain = less.tried(
        &draws.plain,
        &tried_plain,
        quote_spanned!(span=> { #default }),
    );
    let tries_own = with.tried(&own, &method.name, quote_spanned!(span=> { #given }));
    Ok(quote!(#panics_plain #tries_plain #panics_own #tries_own))
}

/// The body of the panicking method.
enum Body {
    /// A call of the method that returns the error.
    Calls(TokenStream),
    /// A repetition of that method's body.
    Repeats(TokenStream),
}

/// A method with a subset of the parameters.
#[derive(Clone, Copy)]
struct One<'a> {
    arguments: &'a TwinArguments,
    method: &'a Method,
    docs: &'a Docs<'a>,
    parameters: &'a [Parameter],
}

impl One<'_> {
    /// Writes the panicking method.
    fn panics(&self, name: &Ident, docs: TokenStream, body: Body) -> TokenStream {
        let Method {
            attributes,
            head,
            generics,
            result,
            bounds,
            ..
        } = self.method;
        let span = name.span();
        let (parameters, body) = match body {
            // Parameters that are only passed on need no `mut`.
            Body::Calls(call) => (
                self.parameters(Parameter::unchanged),
                quote_spanned!(span=> crate::ok(#call)),
            ),
            Body::Repeats(body) => (self.parameters(Parameter::written), body),
        };
        let first: Vec<TokenTree> = result.clone().into_iter().take(2).collect();
        let (returns, must_use) = match first.first() {
            // The result of a mutation may be ignored; these types have their own `must_use`.
            Some(sign) if is_punct(sign, '&') => (quote_spanned!(span=> -> #result), None),
            Some(TokenTree::Ident(ty)) if ty == "TensorMut" || ty == "DynTensorMut" => {
                (quote_spanned!(span=> -> #result), None)
            }
            Some(TokenTree::Group(group)) if first.len() == 1 && group.stream().is_empty() => {
                (TokenStream::new(), None)
            }
            _ => (
                quote_spanned!(span=> -> #result),
                Some(quote_spanned!(span=> #[must_use])),
            ),
        };
        quote_spanned! {span=>
            #docs
            #attributes
            #[track_caller]
            #must_use
            #head #name #generics (#parameters) #returns #bounds { #body }
        }
    }

    /// Writes the method that returns the error.
    fn tried(&self, panicking: &Ident, name: &Ident, body: TokenStream) -> TokenStream {
        let Method {
            attributes,
            head,
            generics,
            result,
            bounds,
            ..
        } = self.method;
        let docs = self.docs.errors(panicking, self.arguments.free);
        let parameters = self.parameters(Parameter::written);
        quote_spanned! {name.span()=>
            #docs
            #attributes
            #[cfg_attr(debug_assertions, track_caller)]
            #head #name #generics (#parameters) -> Result<#result> #bounds #body
        }
    }

    fn parameters(&self, as_: fn(&Parameter) -> TokenStream) -> TokenStream {
        let tokens = self.parameters.iter().map(as_);
        quote!(#(#tokens),*)
    }

    fn call(&self, name: &Ident, more: Option<TokenStream>) -> TokenStream {
        let free = self.arguments.free;
        call(self.method, self.parameters, name, more, free)
    }
}

/// Writes a call of the original method, with an argument in addition to the parameters.
pub fn call(
    method: &Method,
    parameters: &[Parameter],
    name: &Ident,
    more: Option<TokenStream>,
    free: bool,
) -> TokenStream {
    let span = name.span();
    let on_self = method.takes_self();
    let on = match (on_self, free) {
        (true, _) => quote_spanned!(span=> self.),
        (false, false) => quote_spanned!(span=> Self::),
        (false, true) => TokenStream::new(),
    };
    let passed = parameters.iter().skip(usize::from(on_self));
    let passed = passed.map(|parameter| parameter.name.to_token_stream());
    let passed = passed.chain(more);
    let types = &method.given_types;
    let types = (!types.is_empty()).then(|| quote_spanned!(span=> ::<#(#types),*>));
    quote_spanned!(span=> #on #name #types (#(#passed),*))
}
