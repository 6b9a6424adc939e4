//! `#[parts]`: the methods of an `impl` of `Tensor` that write in place, for `TensorMut` as well.

use proc_macro2::{Group, Ident, Literal, TokenStream, TokenTree};
use quote::quote;

use crate::errors::Errors;

/// Returns the block as written, and a copy for `TensorMut`.
pub fn parts(block: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = block.clone().into_iter().collect();
    let at = tokens.windows(2).position(|pair| match pair {
        [TokenTree::Ident(name), TokenTree::Punct(opens)] => {
            name == "Tensor" && opens.as_char() == '<'
        }
        _ => false,
    });
    let (Some(at), Some((TokenTree::Group(methods), head))) = (at, tokens.split_last()) else {
        let mut errors = Errors::default();
        errors.push(syn::Error::new_spanned(
            &block,
            "expected `impl<..> Tensor<D, T> { .. }`",
        ));
        let mut out = errors.into_items();
        out.extend(block);
        return out;
    };
    let (before, behind) = (&head[..at], &head[at + 2..]);
    let name = Ident::new("TensorMut", tokens[at].span());
    let mut methods_of_parts = Group::new(methods.delimiter(), without_examples(methods.stream()));
    methods_of_parts.set_span(methods.span());
    quote!(#block #(#before)* #name<'_, #(#behind)* #methods_of_parts)
}

/// Removes the code from doc comments; it is tested on the original.
pub fn without_examples(methods: TokenStream) -> TokenStream {
    let mut fenced = false;
    let edit = |token: TokenTree| match &token {
        TokenTree::Group(group) => match doc(group) {
            Some(text) => {
                let fence = text.trim_start().starts_with("```");
                fenced ^= fence;
                if fence || fenced { silent() } else { token }
            }
            None => token,
        },
        _ => token,
    };
    methods.into_iter().map(edit).collect()
}

/// Returns the text of `[doc = "text"]`.
fn doc(attribute: &Group) -> Option<String> {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(name), _, TokenTree::Literal(text)] if name == "doc" => {
            match syn::Lit::new(text.clone()) {
                syn::Lit::Str(text) => Some(text.value()),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns an empty doc line.
fn silent() -> TokenTree {
    let empty = Literal::string("");
    Group::new(proc_macro2::Delimiter::Bracket, quote!(doc = #empty)).into()
}

#[cfg(test)]
mod tests {
    use super::parts;

    fn expanded(code: &str) -> String {
        let file = syn::parse2(parts(code.parse().unwrap())).expect("items");
        prettyplease::unparse(&file)
    }

    #[test]
    fn a_block_is_written_for_parts_without_its_examples() {
        let text = expanded(
            "impl<D: Dims, T: Element> Tensor<D, T> {\n/// Does.\n/// ```\n/// code();\n/// ```\n\
             #[twin]\npub fn try_x_(&mut self) -> Result<&mut Self> { Ok(self) }\n}",
        );
        let (whole, part) = text
            .split_once("impl<D: Dims, T: Element> TensorMut<'_, D, T> {")
            .unwrap();
        assert!(
            whole.starts_with("impl<D: Dims, T: Element> Tensor<D, T> {"),
            "{text}"
        );
        assert_eq!(
            [whole, part].map(|text| text.matches("code()").count()),
            [1, 0]
        );
        assert_eq!(
            [whole, part].map(|text| text.matches("try_x_").count()),
            [1, 1]
        );
        assert_eq!(
            [whole, part].map(|text| text.matches("#[twin]").count()),
            [1, 1]
        );
    }

    #[test]
    #[should_panic(expected = "expected `impl<..> Tensor<D, T> { .. }`")]
    fn another_block_is_refused() {
        let text = expanded("impl X for Y {}");
        panic!("{text}");
    }
}
