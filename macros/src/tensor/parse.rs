//! `[[1., 2.], [3., 4.]]; N, C; f64`: three parts separated by semicolons. An error in one does not
//! prevent the others from being parsed.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::{Token, Type};

use super::tree::{self, Node};
use crate::crate_path::CratePath;
use crate::errors::Errors;
use crate::list::ty;

/// The parsed input, as far as it was recognized.
pub struct TensorInput {
    pub crate_path: CratePath,
    pub data: Node,
    pub dims: Vec<Type>,
    pub dtype: Option<Type>,
}

const EMPTY: &str = "expected values, such as `[1., 2.]; N`";

/// Parses the parts, and records errors.
pub fn input(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<TensorInput> {
    let crate_path: CratePath = input.parse()?;
    let mut parts = parts(input)?.into_iter();
    let (data, left) = match parts.next() {
        Some(part) if !part.tokens.is_empty() => {
            Parser::parse2(|input: ParseStream<'_>| data(input, errors), part.tokens)?
        }
        part => {
            match part.and_then(|part| part.end) {
                Some(semicolon) => errors.at(semicolon, EMPTY),
                None => errors.span(input.span(), EMPTY),
            }
            (Node::wrong(), TokenStream::new())
        }
    };
    // Dims without a semicolon before them are still taken as the dims.
    let named = if left.is_empty() {
        parts.next().map(|part| part.tokens).unwrap_or_default()
    } else {
        left
    };
    let dims = Parser::parse2(
        |input: ParseStream<'_>| dims(&crate_path, input, errors),
        named,
    )?;
    let dtype = match parts.next() {
        Some(part) if !part.tokens.is_empty() => {
            Parser::parse2(|input: ParseStream<'_>| dtype(input, errors), part.tokens)?
        }
        _ => None,
    };
    for part in parts {
        if !part.tokens.is_empty() {
            errors.at(part.tokens, BEHIND);
        }
    }
    Ok(TensorInput {
        crate_path,
        data,
        dims,
        dtype,
    })
}

const BEHIND: &str = "nothing follows the dtype";

/// The tokens before a semicolon, or before the end.
struct Part {
    tokens: TokenStream,
    end: Option<Token![;]>,
}

fn parts(input: ParseStream<'_>) -> syn::Result<Vec<Part>> {
    let mut parts = Vec::new();
    let mut tokens = TokenStream::new();
    while !input.is_empty() {
        if input.peek(Token![;]) {
            parts.push(Part {
                tokens: std::mem::take(&mut tokens),
                end: Some(input.parse()?),
            });
        } else {
            tokens.extend([input.parse::<TokenTree>()?]);
        }
    }
    parts.push(Part { tokens, end: None });
    Ok(parts)
}

/// Parses the values, and returns the unexpected tokens after them.
fn data(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<(Node, TokenStream)> {
    let data = tree::node(input, errors);
    if !input.is_empty() {
        errors.span(input.span(), "expected `;` and the dims, such as `; N, C`");
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        }
    }
    Ok((data, input.parse()?))
}

fn dims(
    crate_path: &CratePath,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Vec<Type>> {
    let mut dims = Vec::new();
    while !input.is_empty() {
        if let Some(dim) = ty(
            input,
            "expected a dim: sizes follow from the values",
            errors,
        ) {
            dim_or_hint(crate_path, dim, &mut dims, errors);
        }
        if input.is_empty() {
            break;
        }
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        } else {
            errors.span(input.span(), "expected `,` between dims");
        }
    }
    Ok(dims)
}

fn dim_or_hint(crate_path: &CratePath, dim: Type, dims: &mut Vec<Type>, errors: &mut Errors) {
    const PLAIN: &str = "write the dims without parentheses: `; N, C`";
    match dim {
        Type::Tuple(tuple) => {
            errors.at(&tuple, PLAIN);
            dims.extend(tuple.elems);
        }
        Type::Paren(paren) => {
            errors.at(&paren, PLAIN);
            dims.push(*paren.elem);
        }
        Type::Infer(infer) => {
            errors.at(&infer, "expected a dim; one without a name is `Wild`");
            let path = crate_path.at(infer.underscore_token.span);
            dims.extend(syn::parse2(quote!(#path::Wild)));
        }
        dim => dims.push(dim),
    }
}

fn dtype(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Option<Type>> {
    let dtype = ty(input, "expected a dtype, such as `f64`", errors);
    let behind: TokenStream = input.parse()?;
    if dtype.is_some() && !behind.is_empty() {
        errors.at(behind, BEHIND);
    }
    Ok(dtype)
}
