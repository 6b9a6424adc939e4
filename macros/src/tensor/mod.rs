//! `tensor!`: a tensor from literals.

mod dtype;
mod expand;
mod parse;
mod shape;
#[cfg(test)]
mod tests;
mod tree;

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};

use crate::depth;
use crate::errors::Errors;

/// Expands `tensor!`.
pub fn tensor(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let parser = |input: ParseStream<'_>| parse::input(input, &mut errors);
    let input = match depth::check(input.clone(), depth::InputKind::Values)
        .and_then(|()| parser.parse2(input))
    {
        Ok(input) => input,
        Err(error) => {
            errors.push(error);
            return errors.into_expression(None);
        }
    };
    let shape = shape::infer(&input.data, &mut errors);
    let dtype = dtype::infer(&input.data, input.dtype);
    dtype::check(&input.data, &dtype, &mut errors);
    if errors.is_empty() {
        shape::check_rank(&shape, &input.data, &input.dims, &mut errors);
    }
    if errors.is_empty() {
        return expand::tensor(&input.crate_path, &input.data, &shape, &input.dims, &dtype);
    }
    errors.into_expression(expand::stand_in(&input.crate_path, &input.dims, &dtype))
}
