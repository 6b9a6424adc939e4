//! Errors of the macros about their syntax.

pub mod dims;
pub mod einsum;
pub mod fuse;
pub mod relations;
pub mod tensor;

use super::Site;
use crate::edit::Edit;
use crate::message;
use crate::source::Part;

/// Returns the tokens of the enclosing macro.
fn inner(site: &Site<'_>) -> Option<Part> {
    Some(site.source.macro_at(&site.at)?.inner.clone())
}

/// Inserts a comma before the place, or replaces the semicolon there.
fn comma(site: &Site<'_>) -> Vec<Edit> {
    if site.text() == ";" {
        return vec![Edit::new(site.at.clone(), ",")];
    }
    let before = site.source.text[..site.at.start].trim_end().len();
    vec![Edit::insert(before, ",")]
}

/// Writes the code that the message suggests.
fn code(site: &Site<'_>) -> Option<Vec<Edit>> {
    site.write(message::code(&site.message.message)?)
}

/// Removes a suffix, or the whole text with the space after it.
fn without(site: &Site<'_>, gone: &str) -> Option<Vec<Edit>> {
    let kept = site.text().strip_suffix(gone)?;
    if !kept.is_empty() {
        return site.write(kept);
    }
    let rest = &site.source.text[site.at.end..];
    let space = rest.len() - rest.trim_start().len();
    Some(vec![Edit::remove(site.at.start..site.at.end + space)])
}

/// Returns the ranges of the items in the macro's list.
fn items_in(site: &Site<'_>, list: &Part) -> Vec<Part> {
    let text = site.part(list);
    message::pieces(text)
        .into_iter()
        .filter_map(|piece| {
            let item = &text[piece.clone()];
            let start = piece.start + item.len() - item.trim_start().len();
            (!item.trim().is_empty())
                .then(|| list.start + start..list.start + start + item.trim().len())
        })
        .collect()
}

/// Returns the contents of the innermost brackets around a place.
fn brackets(site: &Site<'_>, within: &Part) -> Option<Part> {
    let text = site.part(within);
    let at = site.at.start - within.start;
    let mut open = Vec::new();
    for (i, c) in text.char_indices() {
        match c {
            '[' | '(' | '{' => open.push(i + 1),
            ']' | ')' | '}' => {
                let start = open.pop()?;
                if start <= at && at < i {
                    return Some(within.start + start..within.start + i);
                }
            }
            _ => {}
        }
    }
    None
}
