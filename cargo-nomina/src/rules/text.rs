//! Simple parsing of text that no other parser handles: the arguments of macros.

use crate::source::tokens::parse;
pub use crate::source::words as words_of;

/// Returns the text of a string literal.
pub fn string(text: &str) -> Option<String> {
    parse::<syn::LitStr>(text).map(|lit| lit.value())
}

/// Returns the items of a text of the form `(a, b)` or `[a, b]`.
pub fn items(text: &str) -> Option<Vec<&str>> {
    let inner = text
        .trim()
        .strip_prefix(['(', '['])?
        .strip_suffix([')', ']'])?;
    Some(crate::message::split(inner))
}

/// Returns whether a text is a literal number.
pub fn is_number(text: &str) -> bool {
    text.trim_start_matches('-').parse::<f64>().is_ok()
}

/// Returns the position after the bracket that closes the one at the start of a text.
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
