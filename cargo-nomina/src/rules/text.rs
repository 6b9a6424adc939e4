//! Small readings of text, for what no parser reads: the arguments of macros.

use crate::source::tokens::parse;
pub use crate::source::words as words_of;

/// The text of a string literal.
pub fn string(text: &str) -> Option<String> {
    parse::<syn::LitStr>(text).map(|lit| lit.value())
}

/// The items in a text that says `(a, b)` or `[a, b]`.
pub fn items(text: &str) -> Option<Vec<&str>> {
    let inner = text
        .trim()
        .strip_prefix(['(', '['])?
        .strip_suffix([')', ']'])?;
    Some(crate::message::split(inner))
}

/// Whether a text is a literal number.
pub fn is_number(text: &str) -> bool {
    text.trim_start_matches('-').parse::<f64>().is_ok()
}

/// Where the bracket that opens at the start of a text closes, behind it.
pub fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + c.len_utf8());
                }
            }
            _ => {}
        }
    }
    None
}
