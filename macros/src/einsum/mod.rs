//! `einsum!`: products of tensors by the names of their dims.

mod expand;
mod parse;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};

use crate::errors::{Errors, expression};
use crate::face::Face;

/// The macro.
pub fn einsum(input: TokenStream) -> TokenStream {
    expand(input, "einsum").unwrap_or_else(|error| expression(&error))
}

/// The macro that gives a `Result`.
pub fn try_einsum(input: TokenStream) -> TokenStream {
    expand(input, "try_einsum").unwrap_or_else(|error| expression(&error))
}

fn expand(input: TokenStream, end: &str) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let parser = |input: ParseStream<'_>| {
        let face: Face = input.parse()?;
        Ok((face, parse::equation(input, &mut errors)))
    };
    let (face, equation) = parser.parse2(input)?;
    if let Some(equation) = &equation {
        validate::equation(equation, &mut errors);
    }
    errors.check()?;
    let equation = equation.ok_or_else(|| {
        syn::Error::new(proc_macro2::Span::call_site(), "expected `x[N, C] -> [N]`")
    })?;
    Ok(expand::equation(&face, &equation, end))
}
