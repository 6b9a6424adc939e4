//! `|x, b = expression| body`.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, Token};

/// A parsed call.
pub struct FuseInput {
    pub parameters: Vec<NamedTensor>,
    pub body: Expr,
}

/// A tensor, with its name in the body.
pub struct NamedTensor {
    pub name: Ident,
    /// Its value, unless it is the variable of that name.
    pub value: Option<Expr>,
}

const SHAPE: &str = "expected the tensors between bars, then an expression of them: \
                     `fuse!(|x, b| (x + b).tanh())`";

/// Parses the whole call.
pub fn call(input: ParseStream<'_>) -> syn::Result<FuseInput> {
    if !input.peek(Token![|]) || input.peek(Token![||]) {
        return Err(syn::Error::new(input.span(), SHAPE));
    }
    input.parse::<Token![|]>()?;
    let mut parameters: Vec<NamedTensor> = Vec::new();
    while !input.peek(Token![|]) {
        let name: Ident = input
            .parse()
            .map_err(|error| syn::Error::new(error.span(), SHAPE))?;
        if parameters.iter().any(|other| other.name == name) {
            let what = format!("`{name}` is repeated: list it once, use it often");
            return Err(syn::Error::new(name.span(), what));
        }
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Some(value(input)?)
        } else {
            None
        };
        parameters.push(NamedTensor { name, value });
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        } else if !input.peek(Token![|]) {
            return Err(syn::Error::new(
                input.span(),
                "expected `,` or `|` after a tensor; to give it a name, `x = expression`",
            ));
        }
    }
    let bar = input.parse::<Token![|]>()?;
    if parameters.is_empty() {
        return Err(syn::Error::new(bar.span, SHAPE));
    }
    let body: Expr = input.parse()?;
    if !input.is_empty() {
        return Err(syn::Error::new(
            input.span(),
            "expected one expression, and nothing after it",
        ));
    }
    Ok(FuseInput { parameters, body })
}

/// Parses an expression up to the next parameter or the closing bar.
fn value(input: ParseStream<'_>) -> syn::Result<Expr> {
    let start = input.span();
    let mut tokens = TokenStream::new();
    // The depth within the angle brackets of a turbofish, whose commas end nothing.
    let (mut deep, mut turbo) = (0_usize, false);
    while !input.is_empty() && (deep > 0 || (!input.peek(Token![,]) && !input.peek(Token![|]))) {
        let token: TokenTree = input.parse()?;
        if let TokenTree::Punct(punct) = &token {
            match punct.as_char() {
                '<' if turbo || deep > 0 => deep += 1,
                '>' if deep > 0 => deep -= 1,
                _ => {}
            }
            turbo = punct.as_char() == ':';
        } else {
            turbo = false;
        }
        tokens.extend([token]);
    }
    if tokens.is_empty() {
        return Err(syn::Error::new(start, "expected the tensor"));
    }
    Expr::parse_without_eager_brace.parse2(tokens)
}
