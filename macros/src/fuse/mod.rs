//! `fuse!`: a chain of elementwise operators in one pass.

mod allowed;
mod check;
mod expand;
mod instead;
mod lower;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};

use crate::crate_path::CratePath;
use crate::depth;
use crate::errors::{Errors, expression};

/// Expands `fuse!`.
pub fn fuse(input: TokenStream) -> TokenStream {
    expand(input, false)
}

/// Expands `try_fuse!`.
pub fn try_fuse(input: TokenStream) -> TokenStream {
    expand(input, true)
}

fn expand(input: TokenStream, fallible: bool) -> TokenStream {
    let parser = |input: ParseStream<'_>| {
        let crate_path: CratePath = input.parse()?;
        Ok((crate_path, parse::call(input)?))
    };
    let parsed =
        depth::check(input.clone(), depth::InputKind::Values).and_then(|()| parser.parse2(input));
    let (crate_path, call) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return expression(error),
    };
    let mut errors = Errors::default();
    let chain = lower::chain(&crate_path, &call.parameters, call.body, &mut errors);
    match chain {
        Some(chain) if errors.is_empty() => {
            expand::chain(&crate_path, &call.parameters, &chain, fallible)
        }
        _ => errors.into_expression(None),
    }
}
