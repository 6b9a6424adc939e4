//! The expansion: a block that borrows the tensors, names the numbers and passes on the program.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::check::borrowed;
use super::lower::{Chain, Reduction, variable};
use super::parse::NamedTensor;
use crate::crate_path::CratePath;

/// Writes the whole expression; `fallible` ones return a `Result`.
pub fn chain(
    crate_path: &CratePath,
    parameters: &[NamedTensor],
    chain: &Chain,
    fallible: bool,
) -> TokenStream {
    let path = crate_path.at(Span::call_site());
    let tensors = parameters.iter().map(|parameter| {
        let name = &parameter.name;
        let value = match &parameter.value {
            Some(value) => borrowed(value),
            None => quote_spanned!(name.span()=> &#name),
        };
        let path = crate_path.at(name.span());
        quote_spanned!(name.span()=> #path::__private::fuse_operand(#value))
    });
    let names: Vec<_> = parameters.iter().map(|parameter| &parameter.name).collect();
    let first = names.first();
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
    let end = match reduction {
        Some(reduction) => self::reduction(&path, reduction, fallible),
        None if fallible => quote!(.try_compute()),
        None => quote!(.compute()),
    };
    quote!({
        match (#(#tensors,)*) {
            (#(#names,)*) => {
                #(#lets)*
                #path::__private::fuse(
                    #first,
                    &[#(#nodes),*],
                    &[#(#names.erased),*],
                    &[#(#path::__private::Scalar::from(#numbers)),*],
                    || {
                        let (#(#names,)*) = (#(#names.typed,)*);
                        #check
                    },
                )
                #end
            }
        }
    })
}

/// Writes the reduction at the end of a chain: in the same pass, or by a method of the result.
fn reduction(path: &TokenStream, reduction: &Reduction, fallible: bool) -> TokenStream {
    let mut call = reduction.call.clone();
    if fallible {
        call.method = format_ident!("try_{}", call.method, span = call.method.span());
    }
    // If rustc reports the tensor or the dims, it shows the user's text: the function contains no other name that could
    // be hidden.
    let receiver = call.receiver.span();
    if let (Some(op), Some(dims)) = (&reduction.op, call.args.first().cloned()) {
        let chain = Ident::new("chain", receiver);
        let place = Ident::new("dims", dims.span());
        *call.receiver = variable(chain.clone());
        call.args = [variable(place.clone())].into_iter().collect();
        let method = match (fallible, reduction.literal) {
            (false, false) => quote!(reduce),
            (true, false) => quote!(try_reduce),
            (false, true) => quote!(reduce_at),
            (true, true) => quote!(try_reduce_at),
        };
        return quote!(.#method(#path::__private::Op::#op, #dims, |#chain, #place| #call));
    }
    let chain = Ident::new("chain", Span::mixed_site().located_at(receiver));
    *call.receiver = variable(chain.clone());
    if fallible {
        quote!(.try_then(|#chain| #call))
    } else {
        quote!(.then(|#chain| #call))
    }
}
