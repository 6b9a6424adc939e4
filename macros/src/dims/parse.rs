//! Items of `dims!`: `#[attr] pub Rgb("rgb") = 3`, `Lat: f64`, `Rgb = { R, G, B }`, separated by commas.
//!
//! An error never ends the parsing: it continues after the next comma.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, Lit, LitInt, LitStr, Token, Type, Visibility, token};

use crate::errors::Errors;
use crate::spelling;

/// The parsed declaration of one dim.
pub struct Declaration {
    pub attrs: Vec<Attribute>,
    pub vis: Visibility,
    pub ident: Ident,
    /// `("rgb")` or `= "rgb"`.
    pub spelling: Option<LitStr>,
    /// `: f64`.
    pub label: Option<Type>,
    /// `= 3`.
    pub size: Option<LitInt>,
    /// `= { R, G, B }`.
    pub words: Vec<Ident>,
}

const AFTER_EQUALS: &str =
    "expected a size such as `3`, or a run-time spelling such as `\"batch\"`, after `=`";

const AFTER_COLON: &str =
    "expected the type of the dim's labels, such as `f64`, after `:`; a size is written `= 3`";

const NO_NAME: &str = "expected the name of a dim";

/// Keywords that a user may write before the name, as before a struct.
const KEYWORDS_BEFORE_A_NAME: [&str; 8] = [
    "struct", "type", "const", "static", "let", "enum", "mod", "use",
];

pub fn items(input: ParseStream<'_>, errors: &mut Errors) -> Vec<Declaration> {
    let mut items = Vec::new();
    while !input.is_empty() {
        if let Some(item) = item(input, errors) {
            separator(input, &item.ident, errors);
            items.push(item);
        } else {
            skip_item(input);
        }
    }
    items
}

/// Parses one dim up to the separator; `None` if none is recognized (the error is recorded).
fn item(input: ParseStream<'_>, errors: &mut Errors) -> Option<Declaration> {
    let attrs = Attribute::parse_outer(input)
        .map_err(|error| errors.push(error))
        .ok()?;
    let vis = input
        .parse::<Visibility>()
        .map_err(|error| errors.push(error))
        .ok()?;
    if input.is_empty() && (!attrs.is_empty() || !matches!(vis, Visibility::Inherited)) {
        // The end of the input has no span.
        errors.at(quote::quote!(#(#attrs)* #vis), NO_NAME);
        return None;
    }
    let ident = ident(input, errors)?;
    let mut item = Declaration {
        attrs,
        vis,
        ident,
        spelling: None,
        label: None,
        size: None,
        words: Vec::new(),
    };
    if input.peek(token::Paren) {
        item.spelling = spelling_in_parentheses(input, errors);
    }
    if input.peek(Token![:]) && !input.peek(Token![::]) {
        label(input, &mut item, errors);
    }
    if input.peek(Token![=]) {
        value(input, &mut item, errors);
    }
    Some(item)
}

fn ident(input: ParseStream<'_>, errors: &mut Errors) -> Option<Ident> {
    if !input.peek(Ident::peek_any) {
        if input.is_empty() || input.peek(Token![,]) {
            errors.span(input.span(), NO_NAME);
        } else if input.peek(LitStr)
            && let Ok(quoted) = input.parse::<LitStr>()
        {
            return quoted_name(&quoted, errors);
        } else if let Ok(found) = input.parse::<TokenTree>() {
            errors.at(&found, format!("{NO_NAME}, found `{found}`"));
        }
        return None;
    }
    let ident = Ident::parse_any(input)
        .map_err(|error| errors.push(error))
        .ok()?;
    if syn::parse2::<Ident>(ident.to_token_stream()).is_ok() {
        return Some(ident);
    }
    let text = ident.to_string();
    if KEYWORDS_BEFORE_A_NAME.contains(&text.as_str()) && input.peek(Ident) {
        errors.at(
            &ident,
            format!("a dim is declared by its name alone: remove `{text}`"),
        );
        return input.parse().ok();
    }
    errors.at(
        &ident,
        if text == "_" {
            "a dim declared here needs a name; a dim without one has type `Wild`".into()
        } else {
            format!(
                "`{text}` is a Rust keyword: declare `{}Dim = \"{text}\"` to have it as the run-time name",
                text[..1].to_uppercase() + &text[1..]
            )
        },
    );
    None
}

/// Parses `"N"` written for `N`.
fn quoted_name(quoted: &LitStr, errors: &mut Errors) -> Option<Ident> {
    // Other text need not even be valid tokens.
    let text = quoted.value();
    let name = spelling::problem(&text)
        .is_none()
        .then(|| quoted.parse::<Ident>().ok())
        .flatten();
    let hint = name
        .as_ref()
        .map_or_else(String::new, |name| format!(": write `{name}`"));
    let found = quoted.to_token_stream();
    errors.at(quoted, format!("{NO_NAME}, found `{found}`{hint}"));
    name
}

fn spelling_in_parentheses(input: ParseStream<'_>, errors: &mut Errors) -> Option<LitStr> {
    let group: TokenTree = input.parse().ok()?;
    let TokenTree::Group(group) = group else {
        return None;
    };
    let spelling = syn::parse2::<LitStr>(group.stream());
    if spelling.is_err() {
        errors.at(
            &group,
            "expected the spelling at run time, such as `(\"rgb\")`",
        );
    }
    spelling.ok()
}

/// Parses `: f64`.
fn label(input: ParseStream<'_>, item: &mut Declaration, errors: &mut Errors) {
    let Ok(colon) = input.parse::<Token![:]>() else {
        return;
    };
    if input.is_empty() || input.peek(Token![,]) {
        errors.at(colon, AFTER_COLON);
        return;
    }
    let ahead = input.fork();
    if let Ok(ty) = ahead.parse::<Type>() {
        input.advance_to(&ahead);
        item.label = Some(ty);
    } else {
        errors.at(rest_of_item(input), AFTER_COLON);
    }
}

/// Parses `{ R, G, B }` if that is what follows.
fn words(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    let ahead = input.fork();
    let content;
    syn::braced!(content in ahead);
    let words = Punctuated::<Ident, Token![,]>::parse_terminated(&content)?;
    input.advance_to(&ahead);
    Ok(words.into_iter().collect())
}

/// Parses `= 3`, `= "batch"` or `= { R, G, B }`.
fn value(input: ParseStream<'_>, item: &mut Declaration, errors: &mut Errors) {
    let Ok(equals) = input.parse::<Token![=]>() else {
        return;
    };
    if input.is_empty() || input.peek(Token![,]) {
        errors.at(equals, AFTER_EQUALS);
        return;
    }
    if input.peek(token::Brace)
        && let Ok(found) = words(input)
    {
        if found.is_empty() {
            errors.at(equals, "a dim of words has at least one: `= { R, G, B }`");
        }
        item.words = found;
        return;
    }
    let minus: Option<Token![-]> = if input.peek2(Lit) {
        input.parse().ok()
    } else {
        None
    };
    match input.peek(Lit).then(|| input.parse::<Lit>()) {
        Some(Ok(Lit::Int(size))) if minus.is_some() => {
            errors.at(
                quote::quote!(#minus #size),
                "the size of a dim cannot be negative",
            );
            // The dim has some constant size, so that its uses are not reported too.
            item.size = Some(size);
        }
        Some(Ok(Lit::Int(size))) => item.size = Some(size),
        Some(Ok(Lit::Str(spelling))) if minus.is_none() => match &item.spelling {
            None => item.spelling = Some(spelling),
            Some(_) => errors.at(spelling, "this dim already has a run-time spelling"),
        },
        Some(Ok(other)) => errors.at(quote::quote!(#minus #other), AFTER_EQUALS),
        _ => {
            let rest = rest_of_item(input);
            let hint = match rest.to_string().as_str() {
                text if syn::parse_str::<Ident>(text).is_ok() => {
                    format!("; for a spelling write `\"{text}\"`")
                }
                _ => String::new(),
            };
            errors.at(rest, format!("{AFTER_EQUALS}{hint}"));
        }
    }
}

/// Parses the comma after an item.
fn separator(input: ParseStream<'_>, ident: &Ident, errors: &mut Errors) {
    if input.is_empty() || input.parse::<Token![,]>().is_ok() {
        return;
    }
    if input.peek(Token![;])
        && let Ok(semicolon) = input.parse::<Token![;]>()
    {
        errors.at(
            semicolon,
            format!("expected `,` after dim `{ident}`, found `;`"),
        );
        return;
    }
    let starts_an_item =
        input.peek(Ident::peek_any) || input.peek(Token![#]) || input.peek(Token![pub]);
    if starts_an_item {
        errors.span(input.span(), format!("expected `,` after dim `{ident}`"));
        return;
    }
    let generic = input.peek(Token![<]);
    let junk = rest_of_item(input);
    errors.at(
        &junk,
        if generic {
            format!("dim `{ident}` takes no generic parameters")
        } else {
            format!("expected `,` after dim `{ident}`; its size is one integer literal")
        },
    );
    let _ = input.parse::<Token![,]>();
}

fn skip_item(input: ParseStream<'_>) {
    rest_of_item(input);
    let _ = input.parse::<Token![,]>();
}

/// Takes the tokens up to the next comma that is not between `<` and `>`.
fn rest_of_item(input: ParseStream<'_>) -> TokenStream {
    let mut rest = TokenStream::new();
    let mut depth = 0_usize;
    while !input.is_empty() && (depth > 0 || !input.peek(Token![,])) {
        let Ok(token) = input.parse::<TokenTree>() else {
            break;
        };
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        rest.extend([token]);
    }
    rest
}
