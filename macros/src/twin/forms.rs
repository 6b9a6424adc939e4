//! `#[forms]`: methods generated from a method of `DynTensor` that returns its errors.
//!
//! Without options, and with an out tensor: `x` and `x_out` from `x_with`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::{LitStr, Token, parenthesized};

use super::docs::{Docs, ERRORS, added_by_options, link, text};
use super::expand::call;
use super::generator::Draws;
use super::names::shorter;
use super::parse::{Method, Parameter};

/// The arguments of the attribute.
#[derive(Default)]
struct FormsArguments {
    /// The method's last parameter is an `Option` of a generator. One method without it is
    /// generated.
    from: bool,
    /// The method's last parameter is options; the text describes them.
    with: Option<LitStr>,
    /// The destinations of the form that stores its results.
    out: Vec<Ident>,
}

fn arguments(input: ParseStream<'_>) -> syn::Result<FormsArguments> {
    let mut found = FormsArguments::default();
    while !input.is_empty() {
        let name: Ident = input.parse()?;
        match name.to_string().as_str() {
            "with" => {
                input.parse::<Token![=]>()?;
                found.with = Some(input.parse()?);
            }
            "from" => found.from = true,
            "out" if input.peek(syn::token::Paren) => {
                let list;
                parenthesized!(list in input);
                let names =
                    list.parse_terminated(|list: ParseStream<'_>| list.parse(), Token![,])?;
                found.out = names.into_iter().collect::<Vec<Ident>>();
            }
            "out" => found.out = vec![name],
            _ => {
                let expected = "expected `from`, `with = \"what the options add.\"`, `out` or `out(values, indices)`";
                return Err(syn::Error::new(name.span(), expected));
            }
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(found)
}

/// Returns the original method, and those generated from it.
pub fn expand(written: TokenStream, method: &Method) -> syn::Result<TokenStream> {
    let FormsArguments { from, with, out } = arguments.parse2(written)?;
    let docs = Docs::from_method(method)?;
    let span = method.name.span();
    let name = method.name.to_string();
    let mut made = TokenStream::new();
    let draws = from
        .then(|| Draws::from_method(method, &name))
        .transpose()?;
    let (plain, parameters) = match &with {
        None if let Some(draws) = &draws => {
            let [given, default] = draws.bodies(&method.body.stream());
            let [given, default] = [given, default].map(|body| quote_spanned!(span=> { #body }));
            made.extend(with_body(
                method,
                &draws.plain,
                draws.fewer(),
                &docs.whole(ERRORS),
                &default,
            ));
            let about = docs.of_options(draws.about(false), ERRORS);
            made.extend(with_body(
                method,
                &method.name,
                &draws.parameters,
                &about,
                &given,
            ));
            (draws.plain.clone(), draws.fewer())
        }
        None => {
            made.extend(form(
                method,
                &method.name,
                &method.parameters,
                &docs.whole(ERRORS),
            ));
            (method.name.clone(), &method.parameters[..])
        }
        Some(added) => {
            let taken = method.parameters.split_last().zip(shorter(&name, "_with"));
            let Some(((_, fewer), plain)) = taken else {
                let wanted = "`with` is for a method that takes options last: `pub fn name_with(…, options: O)`";
                return Err(syn::Error::new(span, wanted));
            };
            let plain = Ident::new(&plain, span);
            let options = quote_spanned!(span=> ::core::default::Default::default());
            let body = call(method, fewer, &method.name, Some(options), false);
            let body = quote_spanned!(span=> { #body });
            made.extend(with_body(method, &plain, fewer, &docs.whole(ERRORS), &body));
            let about = docs.of_options(added_by_options(added, &plain, false), ERRORS);
            made.extend(form(method, &method.name, &method.parameters, &about));
            (plain, fewer)
        }
    };
    if !out.is_empty() {
        made.extend(stored(method, &plain, parameters, &out));
    }
    Ok(made)
}

/// Writes the method unchanged, with these docs.
fn form(
    method: &Method,
    name: &Ident,
    parameters: &[Parameter],
    docs: &TokenStream,
) -> TokenStream {
    with_body(
        method,
        name,
        parameters,
        docs,
        &method.body.to_token_stream(),
    )
}

fn with_body(
    method: &Method,
    name: &Ident,
    parameters: &[Parameter],
    docs: &TokenStream,
    body: &TokenStream,
) -> TokenStream {
    let result = &method.result;
    let result = quote_spanned!(name.span()=> Result<#result>);
    let parameters = parameters.iter().map(Parameter::written).collect();
    signed(method, name, parameters, &result, docs, body)
}

fn signed(
    method: &Method,
    name: &Ident,
    parameters: Vec<TokenStream>,
    result: &TokenStream,
    docs: &TokenStream,
    body: &TokenStream,
) -> TokenStream {
    let Method {
        attributes,
        head,
        generics,
        bounds,
        ..
    } = method;
    quote_spanned! {name.span()=>
        #docs
        #attributes
        #head #name #generics (#(#parameters),*) -> #result #bounds #body
    }
}

/// Writes the form that stores its results in out tensors.
fn stored(method: &Method, plain: &Ident, parameters: &[Parameter], out: &[Ident]) -> TokenStream {
    let span = plain.span();
    let shown: Vec<String> = out.iter().map(|name| format!("`{name}`")).collect();
    let plural = out.len() > 1;
    let of = link(plain, false);
    let mut docs = text(
        &format!(" Like {of}, but writes to {}.", shown.join(" and ")),
        span,
    );
    let (hold, results) = if plural {
        ("do not hold", "results")
    } else {
        ("does not hold", "result")
    };
    for line in [
        "",
        ERRORS,
        &format!(
            " Like {of}; also if {} {hold} the {results}.",
            shown.join(" or ")
        ),
    ] {
        docs.extend(text(line, span));
    }
    let op = Ident::new(&variant(&plain.to_string()), span);
    let store = Ident::new(if plural { "store_pair" } else { "store" }, span);
    let computed = call(method, parameters, plain, None, false);
    let body = quote_spanned! {span=> {
        crate::tensor::family::#store(nomina_core::op::Op::#op, #computed?, #(#out),*)
    }};
    let mut all: Vec<TokenStream> = parameters.iter().map(Parameter::written).collect();
    all.extend(out.iter().map(|out| quote_spanned!(span=> #out: &mut Self)));
    let name = Ident::new(&format!("{plain}_out"), span);
    signed(
        method,
        &name,
        all,
        &quote_spanned!(span=> Result<()>),
        &docs,
        &body,
    )
}

/// Converts `index_add` to the table's identifier, `IndexAdd`.
fn variant(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    words.map(capital).collect()
}
