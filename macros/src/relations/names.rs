//! Substitution of the names that `let` gives to dims.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Generics, Type, WherePredicate};

use super::parse::AttributeItem;
use crate::depth;
use crate::errors::Errors;

/// The maximum number of tokens that a name expands to. If each name uses the previous one twice, the size doubles each
/// time.
const TOKENS: usize = 4096;

/// Names with their dims, in order.
#[derive(Default)]
pub struct Names(Vec<(Ident, Type)>);

/// Resolves the names, each with those above it substituted, and the bounds likewise.
pub fn resolve(
    items: Vec<AttributeItem>,
    generics: &Generics,
    errors: &mut Errors,
) -> (Names, Vec<WherePredicate>) {
    let all: Vec<Ident> = items
        .iter()
        .filter_map(|item| match item {
            AttributeItem::Let(name, _) => Some(name.clone()),
            AttributeItem::Bound(_) => None,
        })
        .collect();
    let mut names = Names::default();
    let mut bounds = Vec::new();
    for item in items {
        match item {
            AttributeItem::Let(name, dims) => {
                if names.find(&name).is_some() {
                    errors.at(&name, format!("`{name}` is named twice"));
                    continue;
                }
                if generics.type_params().any(|param| param.ident == name) {
                    let what = format!("`{name}` is a parameter of the function: use another name");
                    errors.at(&name, what);
                    continue;
                }
                // After an error the dims are empty, so that the uses of the name keep a type.
                let none = || syn::parse_quote!(());
                let dims = dims.map_or_else(none, |dims| {
                    let below = later(&dims, &all[names.0.len()..]);
                    if let Some(below) = below {
                        let what = if below == name {
                            format!("`{name}` is named by itself")
                        } else {
                            format!("`{below}` is named below: move its `let` above this one")
                        };
                        errors.at(&below, what);
                        return none();
                    }
                    let spelled = names.put_into(dims.to_token_stream());
                    if let Err(error) = depth::check(spelled.clone(), depth::InputKind::Types) {
                        errors.at(&name, error);
                        return none();
                    }
                    if size(spelled.clone()) > TOKENS {
                        let what = format!(
                            "`{name}` names dims that expand to more than {TOKENS} tokens: \
                             split the function, so that each part names fewer dims"
                        );
                        errors.at(&name, what);
                        return none();
                    }
                    // Tokens that parsed before still parse with types substituted for names.
                    syn::parse2(spelled).unwrap_or(dims)
                });
                names.0.push((name, dims));
            }
            AttributeItem::Bound(bound) => bounds.push(bound),
        }
    }
    let bounds = bounds
        .into_iter()
        .map(|bound| syn::parse2(names.put_into(bound.to_token_stream())).unwrap_or(bound))
        .collect();
    (names, bounds)
}

/// Returns the number of tokens.
fn size(tokens: TokenStream) -> usize {
    let sizes = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => 1 + size(group.stream()),
        _ => 1,
    });
    sizes.sum()
}

/// Returns the first of `names` that occurs in `dims`.
fn later(dims: &Type, names: &[Ident]) -> Option<Ident> {
    fn find(tokens: TokenStream, names: &[Ident]) -> Option<Ident> {
        tokens.into_iter().find_map(|token| match token {
            TokenTree::Ident(word) => names.contains(&word).then_some(word),
            TokenTree::Group(group) => find(group.stream(), names),
            _ => None,
        })
    }
    find(dims.to_token_stream(), names)
}

impl Names {
    fn find(&self, name: &Ident) -> Option<&Type> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, dims)| dims)
    }

    /// Returns the dims that have a name, in order.
    pub fn dims(&self) -> impl Iterator<Item = &Type> {
        self.0.iter().map(|(_, dims)| dims)
    }

    /// Returns `tokens` with dims substituted for their names.
    pub fn put_into(&self, tokens: TokenStream) -> TokenStream {
        if self.0.is_empty() {
            return tokens;
        }
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut out = TokenStream::new();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if !follows_path(&tokens[..at]) => match self.find(word) {
                    Some(dims) => out.extend(spelled(dims, begins_path(&tokens[at + 1..]))),
                    None => out.extend([token.clone()]),
                },
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), self.put_into(group.stream()));
                    inner.set_span(group.span());
                    out.extend([TokenTree::Group(inner)]);
                }
                _ => out.extend([token.clone()]),
            }
        }
        out
    }
}

/// Returns whether the next word continues a path or is a field: `a::Q`, `a.Q`.
fn follows_path(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Punct(a), TokenTree::Punct(b)] if b.as_char() == ':' => a.as_char() == ':',
        [.., TokenTree::Punct(last)] => matches!(last.as_char(), '.' | '\''),
        _ => false,
    }
}

/// Returns whether a path continues after the word: `Q::RANK`.
fn begins_path(after: &[TokenTree]) -> bool {
    matches!(after, [TokenTree::Punct(a), TokenTree::Punct(b), ..]
        if a.as_char() == ':' && a.spacing() == Spacing::Joint && b.as_char() == ':')
}

/// Returns a type as one token, in `<` and `>` if a path continues.
fn spelled(dims: &Type, path: bool) -> TokenStream {
    let group = TokenTree::Group(Group::new(Delimiter::None, dims.to_token_stream()));
    if !path {
        return group.into();
    }
    let sign = |sign| TokenTree::Punct(Punct::new(sign, Spacing::Alone));
    [sign('<'), group, sign('>')].into_iter().collect()
}
