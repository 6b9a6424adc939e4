//! `tensor!`: a tensor written out.

mod dtype;
mod expand;
mod parse;
mod shape;
#[cfg(test)]
mod tests;
mod tree;

use proc_macro2::TokenStream;

use crate::errors::{Errors, expression};

/// The macro.
pub fn tensor(input: TokenStream) -> TokenStream {
    checked(input).unwrap_or_else(|error| expression(&error))
}

fn checked(input: TokenStream) -> syn::Result<TokenStream> {
    let input: parse::Input = syn::parse2(input)?;
    let mut errors = Errors::default();
    let data = tree::node(input.data, &mut errors);
    let shape = shape::of(&data, &mut errors);
    let dtype = dtype::of(&data, input.dtype);
    dtype::check(&data, &dtype, &mut errors);
    if errors.is_empty() {
        shape::check_rank(&shape, &data, &input.dims, &mut errors);
    }
    errors.check()?;
    Ok(expand::tensor(
        &input.face,
        &data,
        &shape,
        &input.dims,
        &dtype,
    ))
}
