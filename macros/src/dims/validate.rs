//! Converts parsed items to dims that can be declared.

use std::collections::{HashMap, HashSet};

use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, LitInt, Meta, Path, Token, Type, Visibility};

use super::parse::Declaration;
use crate::errors::Errors;
use crate::spelling;

/// A dim to declare.
pub struct Dim {
    pub attrs: Vec<Attribute>,
    pub vis: Visibility,
    pub ident: Ident,
    /// The name at run time, which is the dim's identity.
    pub spelling: String,
    pub size: Option<u64>,
    /// The type of its labels.
    pub label: Option<Type>,
    /// Its labels, if rustc knows them.
    pub words: Vec<Ident>,
}

impl Dim {
    /// Returns the attributes that its impls need as well.
    pub fn cfgs(&self) -> impl Iterator<Item = &Attribute> {
        self.attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
    }

    /// Returns whether it has doc text.
    pub fn documented(&self) -> bool {
        let is_text = |attr: &Attribute| {
            attr.path().is_ident("doc") && matches!(attr.meta, Meta::NameValue(_))
        };
        self.attrs.iter().any(is_text)
    }

    /// Returns whether it has an attribute `#[name…]`.
    pub fn has(&self, name: &str) -> bool {
        self.attrs.iter().any(|attr| attr.path().is_ident(name))
    }
}

/// Traits that `dims!` implements.
const IMPLEMENTED: [&str; 7] = [
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "PartialEq",
    "Eq",
    "Hash",
];

/// Returns the dims that can be declared; of a repeated identifier, the first.
pub fn dims(items: Vec<Declaration>, errors: &mut Errors) -> Vec<Dim> {
    let mut idents: HashSet<Ident> = HashSet::new();
    let mut spellings: HashMap<String, Ident> = HashMap::new();
    let mut dims = Vec::new();
    for item in items {
        let spelling = spelling(&item, errors);
        if let (Some(label), false) = (&item.label, item.words.is_empty()) {
            errors.at(label, "labels in braces are words: remove the type");
        }
        let mut dim = Dim {
            spelling,
            size: match item.words.len() {
                0 => item.size.as_ref().and_then(|size| self::size(size, errors)),
                words => Some(words as u64),
            },
            label: item.label.filter(|_| item.words.is_empty()),
            words: words(item.words, errors),
            attrs: item.attrs,
            vis: item.vis,
            ident: item.ident,
        };
        derives(&mut dim, errors);
        // Two items under `cfg` may exclude each other.
        let twice = !dim.has("cfg") && !idents.insert(dim.ident.clone());
        if twice {
            errors.at(&dim.ident, format!("dim `{}` is declared twice", dim.ident));
            continue;
        }
        if !dim.has("cfg")
            && let Some(first) = spellings.insert(dim.spelling.clone(), dim.ident.clone())
        {
            let (ident, spelling) = (&dim.ident, &dim.spelling);
            errors.span(
                item.spelling
                    .map_or_else(|| ident.span(), |literal| literal.span()),
                format!(
                    "dims `{first}` and `{ident}` are both spelled `{spelling}`; dims of one spelling are the same \
                     dim: declare one"
                ),
            );
        }
        dims.push(dim);
    }
    dims
}

/// Returns the name at run time: the one given, or the identifier.
fn spelling(item: &Declaration, errors: &mut Errors) -> String {
    let ident = item.ident.to_string();
    if let Some(literal) = &item.spelling {
        let text = literal.value();
        let problem = match literal.suffix() {
            "" => spelling::problem(&text),
            suffix => Some(format!("a spelling has no suffix, remove `{suffix}`")),
        };
        return match problem {
            None => text,
            Some(problem) => {
                errors.at(literal, problem);
                spelling::repair(&ident)
            }
        };
    }
    if let Some(plain) = ident.strip_prefix("r#") {
        errors.at(
            &item.ident,
            format!("`{ident}` is a raw identifier: give a spelling, `{ident} = \"{plain}\"`"),
        );
        return spelling::repair(plain);
    }
    match spelling::problem(&ident) {
        None => ident,
        Some(problem) => {
            errors.at(
                &item.ident,
                format!("{problem}; or give a spelling, `{ident} = \"…\"`"),
            );
            spelling::repair(&ident)
        }
    }
}

/// Returns the words without those that are repeated, which it reports.
fn words(all: Vec<Ident>, errors: &mut Errors) -> Vec<Ident> {
    let mut seen = HashSet::new();
    let mut words = Vec::new();
    for word in all {
        if seen.insert(word.clone()) {
            words.push(word);
        } else {
            errors.at(&word, format!("label `{word}` is given twice"));
        }
    }
    words
}

fn size(literal: &LitInt, errors: &mut Errors) -> Option<u64> {
    if !matches!(literal.suffix(), "" | "usize") {
        errors.at(literal, "the size of a dim is a `usize`");
        return literal.base10_parse().ok();
    }
    match literal.base10_parse::<u64>() {
        Ok(size) if i64::try_from(size).is_ok() => Some(size),
        _ => {
            errors.at(literal, "the size of a dim is at most `isize::MAX`");
            None
        }
    }
}

/// Reports derives of traits that are implemented anyway, and removes them: rustc would report the
/// conflict at the wrong place.
fn derives(dim: &mut Dim, errors: &mut Errors) {
    for attr in &mut dim.attrs {
        if !attr.path().is_ident("derive") {
            continue;
        }
        // Attributes that do not parse are left to rustc.
        let Ok(paths) = attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
        else {
            continue;
        };
        let (twice, others): (Vec<Path>, Vec<Path>) = paths.into_iter().partition(|path| {
            let last = path.segments.last().map(|segment| &segment.ident);
            last.is_some_and(|ident| IMPLEMENTED.iter().any(|name| ident == name))
        });
        for path in &twice {
            if let Some(ident) = path.segments.last().map(|segment| &segment.ident) {
                errors.at(ident, format!("a dim already implements `{ident}`"));
            }
        }
        if !twice.is_empty() {
            *attr = syn::parse_quote!(#[derive(#(#others),*)]);
        }
    }
}
