//! `einsum!`: products of tensors by the names of their dims.

mod expand;
mod parse;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};

use crate::crate_path::CratePath;
use crate::depth;
use crate::errors::{Errors, expression};

/// Expands `einsum!`.
pub fn einsum(input: TokenStream) -> TokenStream {
    expand(input, "einsum")
}

/// Expands `try_einsum!`, which returns a `Result`.
pub fn try_einsum(input: TokenStream) -> TokenStream {
    expand(input, "try_einsum")
}

fn expand(input: TokenStream, end: &str) -> TokenStream {
    let mut errors = Errors::default();
    let parser = |input: ParseStream<'_>| {
        let crate_path: CratePath = input.parse()?;
        Ok((crate_path, parse::equation(input, &mut errors)))
    };
    let (crate_path, equation) = match depth::check(input.clone(), depth::InputKind::Types)
        .and_then(|()| parser.parse2(input))
    {
        Ok(parsed) => parsed,
        Err(error) => return expression(error),
    };
    validate::equation(&equation, &mut errors);
    if errors.is_empty() {
        return expand::equation(&crate_path, &equation, end);
    }
    errors.into_expression(expand::stand_in(&crate_path, &equation, end))
}
