//! rustc's messages, parsed from the lines that `cargo check --message-format=json` writes.

use std::ops::Range;
use std::path::PathBuf;

use serde_json::Value;

/// A place in a source, as rustc reports it.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The path, relative to the folder in which rustc ran.
    pub file: PathBuf,
    pub range: Range<usize>,
    pub line: usize,
    /// The column of the first character in the line, from 1.
    pub column: usize,
    pub primary: bool,
    pub label: String,
    /// The lines that it covers.
    pub text: Vec<String>,
    /// The replacement that rustc suggests.
    pub replacement: Option<String>,
    /// Whether the file belongs to the workspace. Not in rustc's message; set by the command.
    pub own: bool,
}

/// A note or a help of a message.
#[derive(Clone, Debug)]
pub struct Child {
    pub message: String,
    pub places: Vec<Place>,
}

/// An error.
#[derive(Clone, Debug)]
pub struct Message {
    /// The error code, such as `E0277`; empty for errors of macros.
    pub code: String,
    /// The first line.
    pub message: String,
    pub places: Vec<Place>,
    pub children: Vec<Child>,
}

impl Message {
    /// Returns the primary place.
    pub fn place(&self) -> Option<&Place> {
        self.places.iter().find(|place| place.primary)
    }

    /// Returns the label of the primary place.
    pub fn label(&self) -> &str {
        self.place().map_or("", |place| &place.label)
    }

    /// Returns the first note or help that contains these words.
    pub fn note(&self, words: &str) -> Option<&Child> {
        self.children
            .iter()
            .find(|child| child.message.contains(words))
    }
}

/// Parses the errors in cargo's output; other lines are skipped.
pub fn read(output: &str) -> Vec<Message> {
    parse(output, |value| {
        (value["reason"] == "compiler-message").then_some(&value["message"])
    })
}

/// Parses the errors in rustc's own output, as `--error-format=json` writes them.
pub fn read_rustc(output: &str) -> Vec<Message> {
    let mut messages = parse(output, |value| Some(value));
    messages.retain(|message| !message.message.starts_with("aborting due to"));
    messages
}

fn parse(output: &str, message: impl Fn(&Value) -> Option<&Value>) -> Vec<Message> {
    let values = output.lines().map(serde_json::from_str::<Value>);
    values
        .filter_map(|value| {
            let value = value.ok()?;
            let message = message(&value)?;
            (message["level"] == "error").then(|| Message {
                code: text(&message["code"]["code"]),
                message: text(&message["message"]),
                places: list(&message["spans"]).map(place).collect(),
                children: list(&message["children"]).map(child).collect(),
            })
        })
        .collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> usize {
    value
        .as_u64()
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or_default()
}

fn place(value: &Value) -> Place {
    Place {
        file: PathBuf::from(text(&value["file_name"])),
        range: number(&value["byte_start"])..number(&value["byte_end"]),
        line: number(&value["line_start"]),
        column: number(&value["column_start"]),
        primary: value["is_primary"] == true,
        label: text(&value["label"]),
        text: list(&value["text"])
            .map(|line| text(&line["text"]))
            .collect(),
        replacement: value["suggested_replacement"].as_str().map(str::to_owned),
        own: false,
    }
}

fn child(value: &Value) -> Child {
    Child {
        message: text(&value["message"]),
        places: list(&value["spans"]).map(place).collect(),
    }
}

/// Matches a text with a pattern in which each `{}` matches anything, and returns the matched
/// parts.
pub fn matches<'t>(pattern: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let mut parts = pattern.split("{}");
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut found = Vec::new();
    let parts: Vec<&str> = parts.collect();
    for (at, part) in parts.iter().enumerate() {
        let end = match (at + 1 == parts.len(), part.is_empty()) {
            (true, true) => rest.len(),
            (true, false) if rest.ends_with(part) => rest.len() - part.len(),
            (false, _) => rest.find(part)?,
            _ => return None,
        };
        found.push(&rest[..end]);
        rest = &rest[end + part.len()..];
    }
    rest.is_empty().then_some(found)
}

/// Returns the last code in backticks.
pub fn code(text: &str) -> Option<&str> {
    let end = text.rfind('`')?;
    let start = text[..end].rfind('`')?;
    Some(&text[start + 1..end])
}

/// Returns the dims of a list as rustc writes it: `(N, nomina::prelude::Prime<C>)`.
pub fn dims(list: &str) -> Vec<String> {
    let inner = list.trim().trim_start_matches('(').trim_end_matches(')');
    split(inner)
        .into_iter()
        .map(|dim| dim.replace("nomina::prelude::", "").replace("nomina::", ""))
        .collect()
}

/// Splits a text at commas outside of brackets.
pub fn split(text: &str) -> Vec<&str> {
    pieces(text)
        .into_iter()
        .map(|range| text[range].trim())
        .filter(|item| !item.is_empty())
        .collect()
}

/// Returns the ranges between commas outside of brackets.
pub fn pieces(text: &str) -> Vec<Range<usize>> {
    let (mut depth, mut start, mut found) = (0_i32, 0, Vec::new());
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if before != '-' && before != '=' => depth -= 1,
            ',' if depth == 0 => {
                found.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    found.push(start..text.len());
    found
}

/// Formats a tuple of items.
pub fn tuple(items: &[String]) -> String {
    match items {
        [one] => format!("({one},)"),
        items => format!("({})", items.join(", ")),
    }
}

/// Converts a dim's type to an expression: `Prime<N>` to `Prime(N)`.
pub fn value(dim: &str) -> String {
    dim.replace('<', "(").replace('>', ")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_gives_what_stands_at_its_holes() {
        let text = "dim `H` not found in dims (N, C)";
        let found = matches("dim `{}` not found in dims {}", text);
        assert_eq!(found, Some(vec!["H", "(N, C)"]));
        assert_eq!(matches("dim `{}` not found", text), None);
        assert_eq!(matches("dim `{}` is {}", text), None);
    }

    #[test]
    fn a_list_of_dims_is_read_and_written() {
        let list = dims("(N, nomina::prelude::Prime<N>)");
        assert_eq!(list, ["N", "Prime<N>"]);
        assert_eq!(tuple(&list), "(N, Prime<N>)");
        assert_eq!(value(&list[1]), "Prime(N)");
        assert_eq!(tuple(&dims("(C,)")), "(C,)");
        assert!(dims("()").is_empty());
    }

    #[test]
    fn the_code_is_the_last_in_backticks() {
        assert_eq!(code("dims `a`; write `b.c()`"), Some("b.c()"));
        assert_eq!(code("none"), None);
    }
}
