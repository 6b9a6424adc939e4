//! Test helpers: expansions as formatted code, errors as lines.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

type Macro = fn(TokenStream) -> TokenStream;

/// Expands `code` as the wrapper passes it to the macro.
fn expand(of: Macro, code: &str) -> TokenStream {
    of(format!("(::nomina) {code}")
        .parse()
        .expect("the test's code has tokens"))
}

/// Returns the items that `code` expands to, formatted.
pub fn items(of: Macro, code: &str) -> String {
    let file = syn::parse2(expand(of, code)).expect("an expansion of items parses");
    prettyplease::unparse(&file)
}

/// Like [`items`], but without the impls of `core`'s traits.
pub fn own_items(of: Macro, code: &str) -> String {
    let mut file: syn::File = syn::parse2(expand(of, code)).expect("an expansion of items parses");
    file.items.retain(|item| match item {
        syn::Item::Impl(item) => item
            .trait_
            .as_ref()
            .is_some_and(|(_, path, _)| path.segments.first().is_some_and(|at| at.ident != "core")),
        _ => true,
    });
    prettyplease::unparse(&file)
}

/// Returns the expression that `code` expands to, formatted.
pub fn expression(of: Macro, code: &str) -> String {
    let expr = expand(of, code);
    let file = syn::parse2(quote::quote!(const _: () = #expr;));
    let text = prettyplease::unparse(&file.expect("an expansion to an expression parses"));
    text.trim_start_matches("const _: () = ")
        .trim_end_matches(";\n")
        .to_owned()
}

/// Returns each error in `code`: the tokens it points at, and its text.
pub fn mistakes(of: Macro, code: &str) -> String {
    let mut out = format!("{code}\n");
    mistakes_in(expand(of, code), &mut out);
    out
}

/// Calls the macro on every prefix of `code`, like an editor while it is typed.
pub fn typed(of: Macro, code: &str) {
    let tokens: Vec<TokenTree> = code
        .parse::<TokenStream>()
        .expect("the test's code has tokens")
        .into_iter()
        .collect();
    for end in 0..=tokens.len() {
        let crate_path: TokenStream = "(::nomina)".parse().expect("a path");
        let begun = crate_path.into_iter().chain(tokens[..end].iter().cloned());
        let out = of(begun.collect());
        let text = out.to_string();
        let parses =
            syn::parse2::<syn::File>(out.clone()).is_ok() || syn::parse2::<syn::Expr>(out).is_ok();
        assert!(parses, "{text}");
    }
}

/// Like [`mistakes`], but for an expansion.
pub fn mistakes_in(tokens: TokenStream, out: &mut String) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (i, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let macro_name = i.checked_sub(2).map(|at| tokens[at].to_string());
        if macro_name.as_deref() != Some("compile_error") {
            if matches!(group.delimiter(), Delimiter::Brace | Delimiter::Parenthesis) {
                mistakes_in(group.stream(), out);
            }
            continue;
        }
        // `::core::compile_error!{ .. }` begins and ends with the span of the error.
        let place = tokens[i.saturating_sub(7)].span().join(group.span());
        let place = place
            .and_then(|span| span.source_text())
            .unwrap_or_default();
        let text: syn::LitStr = syn::parse2(group.stream()).expect("a message");
        out.push_str(&format!("    {place} -> {}\n", text.value()));
    }
}
