//! `tensor_from_array::<(N, C,), f32, [[f32; 2]; 2]>([[1.0f32, 2.0f32], [3.0f32, 4.0f32]])`
//!
//! The type of the array is written out as well, so that rustc reports an element of another dtype
//! at that element.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Type;

use super::dtype::DType;
use super::shape::{Shape, span};
use super::tree::Node;
use crate::crate_path::CratePath;

/// Writes the call that creates the tensor.
pub fn tensor(
    crate_path: &CratePath,
    data: &Node,
    shape: &Shape,
    dims: &[Type],
    dtype: &DType,
) -> TokenStream {
    let at = span(data);
    let path = crate_path.at(at);
    let ty = dtype.ty(at);
    let array = array_type(shape, dims.len(), &ty, at);
    let data = node(data, dtype, crate_path);
    let dims = quote_spanned!(at=> (#(#dims,)*));
    // The argument keeps the user's spans; the call around it is located at the data.
    let mut call = quote_spanned!(at=> #path::__private::tensor_from_array::<#dims, #ty, #array>);
    call.extend(quote!((#data)));
    call
}

/// Returns the expression that replaces an invalid call, so that later lines can be checked. `None`
/// if the dtype depends on expressions.
pub fn stand_in(crate_path: &CratePath, dims: &[Type], dtype: &DType) -> Option<TokenStream> {
    let at = Span::call_site();
    let ty = dtype.said(at)?;
    let path = crate_path.at(at);
    Some(crate_path.stand_in(&quote!(#path::Tensor<(#(#dims,)*), #ty>)))
}

/// Writes the type of the array, `[[T; 2]; 3]`, with `_` as the element if expressions may be
/// arrays.
fn array_type(shape: &Shape, rank: usize, ty: &TokenStream, at: Span) -> TokenStream {
    let whole = shape.sizes.len() == rank;
    let value = if whole {
        ty.clone()
    } else {
        quote_spanned!(at=> _)
    };
    shape
        .sizes
        .iter()
        .rev()
        .fold(value, |item, len| quote_spanned!(at=> [#item; #len]))
}

fn node(data: &Node, dtype: &DType, crate_path: &CratePath) -> TokenStream {
    match data {
        Node::Row { span, items } => {
            let items = items.iter().map(|item| node(item, dtype, crate_path));
            quote_spanned!(*span=> [#(#items),*])
        }
        Node::Repeat { span, item, len } => {
            let item = node(item, dtype, crate_path);
            quote_spanned!(*span=> [#item; #len])
        }
        Node::Value { value, tokens } => dtype.value(value, tokens, crate_path),
    }
}
