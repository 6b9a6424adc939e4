//! Tokenization of sources. Refuses sources whose nesting would overflow the stack of a recursive parser.

use std::thread;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// The maximum nesting of a source, as measured by [`depth`].
pub const DEPTH: usize = 1000;

/// The stack for parsing a source of depth [`DEPTH`], in bytes. The system allocates its pages on demand.
const STACK: usize = 1 << 28;

/// The reason why a source is not parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is not Rust, e.g. test data.
    NotRust,
    TooDeep,
    NoStack,
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotRust => f.write_str("invalid Rust"),
            Self::TooDeep => write!(f, "it is nested more than {DEPTH} deep"),
            Self::NoStack => f.write_str("no memory to parse it"),
        }
    }
}

/// Tokenizes a source, with spans in bytes, and passes the tokens to `f` on a thread with enough stack to parse them.
pub fn read<T: Send>(text: &str, f: impl FnOnce(TokenStream) -> T + Send) -> Result<T, Unread> {
    let parse = || tokens(text, DEPTH).map(f);
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK);
        let thread = thread.spawn_scoped(scope, parse);
        let result = thread.map_err(|_| Unread::NoStack)?.join();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Parses a short text, such as an identifier.
pub fn parse<T: syn::parse::Parse>(text: &str) -> Option<T> {
    syn::parse2(tokens(text, 50).ok()?).ok()
}

fn tokens(text: &str, limit: usize) -> Result<TokenStream, Unread> {
    let tokens: TokenStream = blanked(text).parse().map_err(|_| Unread::NotRust)?;
    if depth(tokens.clone()) > limit {
        return Err(Unread::TooDeep);
    }
    Ok(tokens)
}

/// Replaces a byte order mark and a `#!` line, which are not tokens, by spaces.
fn blanked(text: &str) -> String {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let line = text[start..].split('\n').next().unwrap_or_default();
    let end = match text[start..].strip_prefix("#!") {
        Some(rest) if !begins_with_bracket(rest) => start + line.len(),
        _ => start,
    };
    " ".repeat(end) + &text[end..]
}

/// Returns whether the first token is `[`, so that the `#!` before it begins an attribute.
fn begins_with_bracket(mut text: &str) -> bool {
    loop {
        text = text.trim_start();
        if let Some(comment) = text.strip_prefix("//") {
            text = comment.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(comment) = text.strip_prefix("/*") {
            text = behind_comment(comment);
        } else {
            return text.starts_with('[');
        }
    }
}

/// Returns the text after the end of a comment that has begun. Comments nest.
fn behind_comment(text: &str) -> &str {
    let (mut at, mut open) = (0, 1);
    while open > 0 {
        let rest = &text[at..];
        match (rest.find("*/"), rest.find("/*")) {
            (None, _) => return "",
            (Some(close), Some(start)) if start < close => (at, open) = (at + start + 2, open + 1),
            (Some(close), _) => (at, open) = (at + close + 2, open - 1),
        }
    }
    &text[at..]
}

/// Returns an upper bound of the recursion depth of a parser or a visitor of the tokens.
///
/// Each bracket is one level, and so is each token that may continue the expression before it: `!!!x`, `a + b + c` and
/// `x.f().g()` nest like brackets. A comma or a semicolon ends these levels, except those that `<` and `|` began.
fn depth(tokens: TokenStream) -> usize {
    let mut levels = vec![Level::new(tokens, 0)];
    let mut deepest = 0;
    while let Some(level) = levels.last_mut() {
        let Some(token) = level.rest.next() else {
            levels.pop();
            continue;
        };
        let inner = level.step(&token);
        deepest = deepest.max(inner);
        if let TokenTree::Group(group) = token {
            levels.push(Level::new(group.stream(), inner));
        }
    }
    deepest
}

/// The remaining tokens of a bracket, with the depth reached by the tokens before them.
struct Level {
    rest: proc_macro2::token_stream::IntoIter,
    /// The depth outside.
    outer: usize,
    /// The tokens since the last `,`, and the openings since the last `;`.
    continued: usize,
    opened: usize,
    /// Whether the last token was `}`.
    after_braces: bool,
    /// The value of `continued` before `#` or `#!`, if that was the last token.
    before_attribute: Option<usize>,
}

impl Level {
    fn new(tokens: TokenStream, outer: usize) -> Self {
        Self {
            rest: tokens.into_iter(),
            outer,
            continued: 0,
            opened: 0,
            after_braces: false,
            before_attribute: None,
        }
    }

    /// Counts a token, and returns its depth.
    fn step(&mut self, token: &TokenTree) -> usize {
        let begins_item = match token {
            TokenTree::Ident(word) => word != "else" && word != "as",
            TokenTree::Punct(punct) => punct.as_char() == '#',
            _ => false,
        };
        if self.after_braces && begins_item {
            (self.continued, self.opened) = (0, 0);
        }
        self.after_braces = false;
        let attribute = self.before_attribute.take();
        self.continued += 1;
        match token {
            TokenTree::Punct(punct) => match punct.as_char() {
                ';' => (self.continued, self.opened) = (0, 0),
                ',' => self.continued = 0,
                // `->` and `=>` close nothing, and `>` is not subtracted: an upper bound is enough.
                '<' | '|' => self.opened += 1,
                '#' => self.before_attribute = Some(self.continued - 1),
                '!' if punct.spacing() == Spacing::Alone => self.before_attribute = attribute,
                _ => {}
            },
            TokenTree::Group(group) => match group.delimiter() {
                Delimiter::Brace => self.after_braces = true,
                Delimiter::Bracket => {
                    let deep = self.outer + self.continued + self.opened;
                    // Attributes do not nest.
                    self.continued = attribute.unwrap_or(self.continued);
                    return deep;
                }
                _ => {}
            },
            _ => {}
        }
        self.outer + self.continued + self.opened
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_and_a_line_for_the_shell_are_blank() {
        for (text, wanted) in [
            ("\u{feff}fn f() {}", "   fn f() {}"),
            ("#!/bin/é\r\nx", "          \nx"),
            ("\u{feff}#!a\nx", "      \nx"),
            ("#!", "  "),
            ("#! [a]\nx", "#! [a]\nx"),
            ("#! // a\n/* /* */ */ [a]\nx", "#! // a\n/* /* */ */ [a]\nx"),
            ("#! /* a\nx", "       \nx"),
            ("x\n#!a", "x\n#!a"),
        ] {
            assert_eq!(blanked(text), wanted, "{text:?}");
            assert_eq!(blanked(text).len(), text.len());
        }
    }

    #[test]
    fn what_lies_side_by_side_is_not_deep() {
        let file = "#![allow(x)]\n\
                    /// One.\n/// Two.\n/// Three.\n#[a] #[b]\nfn f<A: B<C>, D>(x: A) -> D { g(x); h([1, 2, 3]) }\n"
            .repeat(2000);
        let depth = |text: &str| depth(text.parse().unwrap());
        assert!(depth(&file) < 60, "{}", depth(&file));
        let list = format!("[{}]", "f(x + 1), ".repeat(5000));
        assert!(depth(&list) < 20);
        let arms = format!("match x {{ {} }}", "A => { b() } ".repeat(5000));
        assert!(depth(&arms) < 20);
    }

    /// Returns every form in which expressions, types and patterns nest, `count` deep.
    fn nested(count: usize) -> Vec<String> {
        let around = |before: &str, inner: &str, behind: &str| {
            format!("{}{inner}{}", before.repeat(count), behind.repeat(count))
        };
        let value = |text: String| format!("fn f() {{ let _ = {text}; }}");
        let ty = |text: String| format!("fn f() {{ let _: {text}; }}");
        vec![
            value(around("(", "1", ")")),
            value(around("[", "1", "]")),
            value(around("{", "1", "}")),
            value(around("f(", "1", ")")),
            value(around("x[", "1", "]")),
            value(around("vec![", "1", "]")),
            value(around("a![x, ", "1", "]")),
            value(around("!", "x", "")),
            value(around("&", "x", "")),
            value(around("- ", "x", "")),
            value(around("|x| ", "x", "")),
            value(around("|x, y| ", "x", "")),
            value(around("return ", "x", "")),
            value(around("a = ", "x", "")),
            value(around("..", "x", "")),
            value(around("", "x", " + 1")),
            value(around("", "x", " as T")),
            value(around("", "x", ".f()")),
            value(around("", "x", "?")),
            value(around("", "x", "()")),
            value(around("", "x", "[1]")),
            value(around("if a {} else ", "{}", "")),
            value(around("match x { _ => ", "1", "}")),
            value(around("S { a: ", "1", "}")),
            value(around("'a: loop { ", "1", "}")),
            value(around("unsafe { async move { ", "1", "}}")),
            ty(around("Vec<", "u8", ">")),
            ty(around("HashMap<u8, ", "u8", ">")),
            ty(around("(u8, ", "u8", ")")),
            ty(around("&", "u8", "")),
            ty(around("*const ", "u8", "")),
            ty(around("fn() -> ", "u8", "")),
            ty(around("[", "u8", "; 1]")),
            ty(around("impl Fn(", "u8", ")")),
            ty(around("<", "u8", " as T>::X")),
            format!("fn f({}: u8) {{}}", around("&", "x", "")),
            format!("fn f({}: u8) {{}}", around("S(", "x", ")")),
            format!("fn f({}: u8) {{}}", around("[", "x", "]")),
            around("mod a { ", "", "}"),
            around("fn f() { ", "", "}"),
            around("#[a(", "", ")]") + "fn f() {}",
            format!("use {};", around("a::{", "b", "}")),
            format!("use {};", around("a::", "b", "")),
            format!("a! {{ {} }}", around("(", "", ")")),
        ]
    }

    #[test]
    fn nothing_is_deep_enough_to_end_the_process() {
        let mut deep = nested(2 * DEPTH);
        deep.extend(nested(20_000).into_iter().take(3));
        for text in deep {
            let found = crate::source::Source::new(text.clone());
            let start = &text[..text.len().min(60)];
            assert_eq!(found.unread, Some(Unread::TooDeep), "{start}");
        }
        // The maximum depth that is accepted: the form that needs the most stack must fit.
        let depths = nested(100)
            .into_iter()
            .map(|text| depth(text.parse().unwrap()));
        for (at, of_hundred) in depths.enumerate() {
            let text = &nested(DEPTH * 100 / of_hundred - 10)[at];
            let start = &text[..text.len().min(60)];
            let deep = depth(text.parse().unwrap());
            assert!(deep > DEPTH / 2 && deep <= DEPTH, "{deep}: {start}");
            let found = crate::source::Source::new(text.clone());
            assert!(
                matches!(found.unread, None | Some(Unread::NotRust)),
                "{start}"
            );
        }
        // Unclosed brackets, and unopened ones.
        for text in ["(".repeat(20_000), ")".repeat(20_000)] {
            assert_eq!(
                crate::source::Source::new(text).unread,
                Some(Unread::NotRust)
            );
        }
    }
}
