//! The attribute's arguments, and the function below it.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Ident, Signature, Token, Type, Visibility, WherePredicate};

use crate::errors::Errors;

const EXPECTED: &str = "expected `let Q = ..` with dims such as `Without<D, C>`, or a bound such \
                        as `D: Has<C>`";

/// One item of the attribute.
pub enum AttributeItem {
    /// `let Q = Contracted<D, E, K>`; `None` if the dims could not be parsed.
    Let(Ident, Option<Type>),
    /// `D: Has<C>`
    Bound(WherePredicate),
}

/// Parses the items that are recognized, and records errors for the others.
pub fn items(written: TokenStream, errors: &mut Errors) -> Vec<AttributeItem> {
    split(written)
        .into_iter()
        .filter_map(|tokens| item(tokens, errors))
        .collect()
}

/// Splits tokens at commas. A comma within `<` and `>` is part of a type.
fn split(written: TokenStream) -> Vec<TokenStream> {
    let mut parts: Vec<Vec<TokenTree>> = vec![Vec::new()];
    let (mut depth, mut arrow) = (0_usize, false);
    for token in written {
        let sign = match &token {
            TokenTree::Punct(punct) => Some(punct.as_char()),
            _ => None,
        };
        match sign {
            Some('<') => depth += 1,
            // The `>` of `->` closes nothing.
            Some('>') if !arrow => depth = depth.saturating_sub(1),
            _ => {}
        }
        arrow = sign == Some('-');
        if sign == Some(',') && depth == 0 {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(token);
        }
    }
    if parts.last().is_some_and(Vec::is_empty) {
        parts.pop();
    }
    parts
        .into_iter()
        .map(|part| part.into_iter().collect())
        .collect()
}

fn item(tokens: TokenStream, errors: &mut Errors) -> Option<AttributeItem> {
    let mut first = tokens.clone().into_iter();
    match first.next() {
        None => {
            errors.span(proc_macro2::Span::call_site(), EXPECTED);
            None
        }
        Some(TokenTree::Ident(word)) if word == "let" => {
            let Some(TokenTree::Ident(name)) = first.next() else {
                errors.at(&tokens, "expected `let Q = ..`, with a name for dims");
                return None;
            };
            let dims = match read_let.parse2(tokens) {
                Ok(dims) => Some(dims),
                Err(error) => {
                    errors.push(error);
                    None
                }
            };
            Some(AttributeItem::Let(name, dims))
        }
        Some(_) => match syn::parse2::<WherePredicate>(tokens.clone()) {
            Ok(bound) => Some(AttributeItem::Bound(bound)),
            Err(_) => {
                errors.at(&tokens, EXPECTED);
                None
            }
        },
    }
}

fn read_let(input: ParseStream<'_>) -> syn::Result<Type> {
    input.parse::<Token![let]>()?;
    let name: Ident = input.parse()?;
    if input.peek(Token![<]) {
        let what = format!("`{name}` takes no parameters: it may use those of the function");
        return Err(input.error(what));
    }
    if input.peek(Token![:]) {
        let what = format!("write `let {name} = ..`; a bound on it is a separate item");
        return Err(input.error(what));
    }
    if !input.peek(Token![=]) {
        let what = format!("`{name}` needs its dims: `let {name} = Without<D, C>`");
        return Err(syn::Error::new(name.span(), what));
    }
    input.parse::<Token![=]>()?;
    let at = if input.is_empty() {
        name.span()
    } else {
        input.span()
    };
    let needs = |_| {
        let what = format!("expected dims, as in `let {name} = Without<D, C>`");
        syn::Error::new(at, what)
    };
    let dims: Type = input.parse().map_err(needs)?;
    if !input.is_empty() {
        return Err(input.error("expected `,` and the next item"));
    }
    Ok(dims)
}

/// A function; its body is not parsed.
pub struct Function {
    pub attrs: Vec<Attribute>,
    pub vis: Visibility,
    pub signature: Signature,
    /// A block, or `;` in a trait.
    pub body: TokenStream,
}

/// Parses the function below the attribute.
pub fn function(item: TokenStream) -> syn::Result<Function> {
    let all = item.clone();
    let parser = |input: ParseStream<'_>| {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let begins = |input: ParseStream<'_>| {
            input.peek(Token![fn])
                || input.peek(Token![const])
                || input.peek(Token![async])
                || input.peek(Token![unsafe])
                || input.peek(Token![extern])
        };
        if !begins(input) {
            let what = "`#[relations]` goes on a function; in an `impl`, on each of its functions";
            return Err(syn::Error::new_spanned(first_of(all.clone()), what));
        }
        Ok(Function {
            attrs,
            vis,
            signature: input.parse()?,
            body: input.parse()?,
        })
    };
    parser.parse2(item)
}

/// Returns the first word, since an error about the whole would quote pages.
fn first_of(item: TokenStream) -> TokenStream {
    let mut tokens = item.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                tokens.next();
            }
            TokenTree::Ident(word) if word != "pub" => return token.into(),
            _ => {}
        }
    }
    TokenStream::new()
}
