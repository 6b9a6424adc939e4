//! `#[spatial]`: methods along one, two and three dims, from one block.

use proc_macro2::{Group, Ident, Literal, TokenStream, TokenTree};

use crate::parts::without_examples;

/// Returns three copies of the block: `Nd` in a name becomes `1d`, `2d` and `3d`, and `N` the number. Each token keeps
/// its span, which rustc quotes in errors.
pub fn spatial(block: TokenStream) -> TokenStream {
    (1..=3)
        .flat_map(|n| numbered(block.clone(), n, 0))
        .collect()
}

fn numbered(tokens: TokenStream, n: usize, depth: usize) -> TokenStream {
    let tokens = match (depth, n) {
        // Examples are tested once.
        (1, 2..) => without_examples(tokens),
        _ => tokens,
    };
    let edit = |token| match token {
        TokenTree::Group(group) => {
            let mut edited = Group::new(group.delimiter(), numbered(group.stream(), n, depth + 1));
            edited.set_span(group.span());
            edited.into()
        }
        TokenTree::Ident(name) => edited(&name, n),
        other => other,
    };
    tokens.into_iter().map(edit).collect()
}

fn edited(name: &Ident, n: usize) -> TokenTree {
    let text = name.to_string();
    if text == "N" {
        let mut number = Literal::usize_unsuffixed(n);
        number.set_span(name.span());
        return number.into();
    }
    Ident::new(&text.replace("Nd", &format!("{n}d")), name.span()).into()
}

#[cfg(test)]
mod tests {
    use super::spatial;

    #[test]
    fn a_block_is_written_for_each_number_of_dims() {
        let code = "impl<T> X<T> {\n/// Does.\n/// ```\n/// code();\n/// ```\n#[twin]\n\
                    pub fn try_poolNd(&self, size: [usize; N]) -> Self { self.poolNd_by(size) }\n}";
        let file = syn::parse2(spatial(code.parse().unwrap())).expect("items");
        let text = prettyplease::unparse(&file);
        for n in 1..=3 {
            let method = format!("pub fn try_pool{n}d(&self, size: [usize; {n}]) -> Self");
            assert!(text.contains(&method), "{text}");
            assert!(text.contains(&format!("self.pool{n}d_by(size)")), "{text}");
        }
        assert_eq!(
            (
                text.matches("#[twin]").count(),
                text.matches("code()").count()
            ),
            (3, 1)
        );
    }
}
