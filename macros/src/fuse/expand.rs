//! A block that lends the tensors, names the numbers and hands over the program.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use super::lower::{Chain, borrowed};
use super::parse::Call;
use crate::face::Face;

/// The whole expression.
pub fn chain(face: &Face, call: &Call, chain: &Chain) -> TokenStream {
    let path = face.at(Span::call_site());
    let tensors = call.parameters.iter().map(|parameter| {
        let name = &parameter.name;
        let value = match &parameter.value {
            Some(value) => borrowed(value).into_token_stream(),
            None => quote_spanned!(name.span()=> &#name),
        };
        let path = face.at(name.span());
        quote_spanned!(name.span()=> #path::__private::fuse_tensor(#value))
    });
    let names: Vec<_> = call
        .parameters
        .iter()
        .map(|parameter| &parameter.name)
        .collect();
    let lets = chain
        .lets
        .iter()
        .map(|(name, value)| quote!(let #name = #value;));
    let Chain {
        nodes,
        numbers,
        check,
        reduction,
        ..
    } = chain;
    let block = quote! {
        match (#(#tensors,)*) {
            (#(#names,)*) => {
                #(#lets)*
                #path::__private::fuse(
                    &[#(#nodes),*],
                    &[#(#path::__private::fuse_side(#names)),*],
                    &[#(#path::__private::Scalar::from(#numbers)),*],
                    || #check,
                )
            }
        }
    };
    match reduction {
        // In parentheses, so that it is an expression where a statement may stand.
        Some(reduction) => quote!(({ #block }) #reduction),
        None => quote!({ #block }),
    }
}
