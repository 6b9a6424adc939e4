//! `cargo nomina explain`.

/// The catalogue of rustc's messages.
const CATALOGUE: &str = include_str!("../errors.md");

/// The maximum number of pages shown in full; for more, only the titles are shown.
const WHOLE: usize = 5;

/// A page of the catalogue: `### title`, below `## rule`.
struct Page {
    rule: &'static str,
    title: &'static str,
    text: &'static str,
    /// The skeletons of its errors' first lines.
    messages: Vec<Vec<String>>,
}

fn pages() -> Vec<Page> {
    let mut pages = Vec::new();
    for part in CATALOGUE.split("\n## ").skip(1) {
        let (rule, rest) = part.split_once('\n').unwrap_or((part, ""));
        for page in rest.split("\n### ").skip(1) {
            let (title, text) = page.split_once('\n').unwrap_or((page, ""));
            let messages = headlines(text).map(skeleton).collect();
            pages.push(Page {
                rule,
                title,
                text,
                messages,
            });
        }
    }
    pages
}

/// Returns the words of a message that do not vary: without names, types, lists, numbers and code, whether in backticks
/// or not, and without the endings of plurals.
fn skeleton(message: &str) -> Vec<String> {
    let mut plain = String::new();
    let (mut depth, mut is_code) = (0_u32, false);
    for c in message.chars() {
        match c {
            '`' => is_code = !is_code,
            '(' | '[' | '<' if !is_code => depth += 1,
            ')' | ']' | '>' if !is_code => depth = depth.saturating_sub(1),
            _ if depth == 0 && !is_code => plain.push(c),
            _ => {}
        }
        if is_code || depth > 0 {
            plain.push(' ');
        }
    }
    // Quotes contain a spelling.
    let outside: String = plain.split('"').step_by(2).collect();
    let is_name = |word: &str| {
        word.contains("::") || !word.chars().next().is_some_and(|c| c.is_ascii_lowercase())
    };
    outside
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !is_name(word) && !DTYPES.contains(word))
        .map(|word| match word {
            "are" => "is".to_owned(),
            "have" => "has".to_owned(),
            word => word.trim_end_matches('s').to_owned(),
        })
        .collect()
}

/// Types whose names look like words.
const DTYPES: [&str; 16] = [
    "f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "isize",
    "usize", "bool", "str",
];

/// Returns the first lines of the errors in a text, after `error: ` or `error[E0277]: `.
fn headlines(text: &'static str) -> impl Iterator<Item = &'static str> {
    let errors = text.lines().filter(|line| line.starts_with("error"));
    errors.filter_map(|line| Some(line.split_once(": ")?.1))
}

/// Finds the pages that match the words: by title, rule or message, or else those that contain all the words.
fn find<'p>(pages: &'p [Page], words: &str) -> Vec<&'p Page> {
    let line = words.trim().lines().next().unwrap_or_default();
    let wanted = line.to_lowercase();
    let by = |pass: &dyn Fn(&Page) -> bool| -> Vec<&'p Page> {
        pages.iter().filter(|page| pass(page)).collect()
    };
    let prefixed = |line: &&str| line.starts_with("error");
    let message = Some(line)
        .filter(prefixed)
        .and_then(|line| line.split_once(": "));
    let message = skeleton(message.map_or(line, |(_, message)| message));
    let says = |passes: &dyn Fn(&[String]) -> bool| {
        by(&|page| page.messages.iter().any(|message| passes(message)))
    };
    // The words of the message in their order, with others between them.
    let contains = |said: &[String]| {
        let mut said = said.iter();
        message.len() > 2 && message.iter().all(|word| said.any(|other| other == word))
    };
    let passes: [&dyn Fn() -> Vec<&'p Page>; 4] = [
        &|| by(&|page| page.title.to_lowercase() == wanted || page.rule.to_lowercase() == wanted),
        &|| says(&|said| message.len() > 1 && *said == message[..]),
        &|| says(&contains),
        &|| {
            by(&|page| {
                let text = format!("{} {} {}", page.rule, page.title, page.text).to_lowercase();
                !wanted.is_empty() && wanted.split_whitespace().all(|word| text.contains(word))
            })
        },
    ];
    let mut found = passes.iter().map(|pass| pass());
    found.find(|pages| !pages.is_empty()).unwrap_or_default()
}

/// Returns the text that the command prints.
pub fn explain(words: &str) -> Result<String, String> {
    let all = pages();
    let pages = find(&all, words);
    if pages.is_empty() {
        return Err(format!(
            "no page about `{words}`; give words of an error's first line, or a heading such as `operators`"
        ));
    }
    let mut out = String::new();
    for page in pages.iter().take(WHOLE) {
        out += &format!(
            "# {}: {}\n{}\n\n",
            page.rule,
            page.title,
            page.text.trim_end()
        );
    }
    if pages.len() > WHOLE {
        out += &format!("And {} more:\n", pages.len() - WHOLE);
        for page in &pages[WHOLE..] {
            out += &format!("- {}: {}\n", page.rule, page.title);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{self, Edit};
    use crate::source;

    #[test]
    fn an_error_is_found_by_its_words_whatever_its_dims() {
        let text = explain(
            "error[E0277]: dim `Time` and dim `Lat` are at the same position from the right but do not match",
        )
        .unwrap();
        assert!(text.contains("# Operators: Another order"), "{text}");
        assert!(text.contains("Instead:"));
    }

    #[test]
    fn a_heading_lists_its_pages() {
        let text = explain("operators").unwrap();
        assert!(text.contains("more:\n- Operators: "), "{text}");
    }

    fn is_shown(page: &Page, found: &[&Page]) -> bool {
        found.iter().any(|other| other.text == page.text)
    }

    #[test]
    fn every_page_is_found_by_its_own_message() {
        let pages = pages();
        for page in &pages {
            for line in headlines(page.text) {
                assert!(
                    is_shown(page, &find(&pages, line)),
                    "{}: {line}",
                    page.title
                );
            }
        }
        assert!(
            pages
                .iter()
                .filter(|page| !page.messages.is_empty())
                .count()
                > 400
        );
    }

    /// Replaces the words of a text for which `new` returns another.
    fn replaced(text: &str, mut new: impl FnMut(&str) -> Option<String>) -> String {
        let words = source::words(text).into_iter();
        let edits: Vec<Edit> = words
            .filter_map(|word| Some(Edit::new(word.clone(), new(&text[word])?)))
            .collect();
        edit::apply(text, &edits)
    }

    /// Replaces each name by one of these, each list of names by all of them, and each number by another.
    fn renamed(line: &str, names: &[&str]) -> String {
        let mut next = names.iter().cycle().map(|name| (*name).to_owned());
        let parts = line.split('`').enumerate().map(|(at, part)| {
            if at % 2 == 1 {
                return replaced(part, |_| next.next());
            }
            let plain = replaced(part, |word| match word.chars().next()? {
                '0'..='9' => Some("17".to_owned()),
                'A'..='Z' if !line.starts_with(word) => next.next(),
                _ => None,
            });
            let mut depth = 0;
            let list = format!("({})", names.join(", "));
            let chars = plain.chars().map(|c| match c {
                '(' => {
                    depth += 1;
                    if depth == 1 {
                        list.clone()
                    } else {
                        String::new()
                    }
                }
                ')' if depth > 0 => {
                    depth -= 1;
                    String::new()
                }
                _ if depth > 0 => String::new(),
                c => c.to_string(),
            });
            chars.collect()
        });
        parts.collect::<Vec<_>>().join("`")
    }

    /// Every message of the catalogue, with other names and numbers and lists of other lengths; also as a shell passes it
    /// on, which runs the code in backticks.
    #[test]
    fn a_page_is_found_whatever_the_names() {
        assert_eq!(
            renamed("dim `H` not found in dims (N, C)", &["Batch", "Chan"]),
            "dim `Batch` not found in dims (Batch, Chan)"
        );
        let lists: [&[&str]; 4] = [
            &["Batch", "Chan"],
            &["Time"],
            &["T", "nomina::prelude::Prime<T>", "model::Width", "_"],
            &["<D as nomina::prelude::DimList>::Row", "Größe"],
        ];
        let pages = pages();
        for page in &pages {
            for line in headlines(page.text) {
                let found = find(&pages, line).len();
                for names in lists {
                    let other = renamed(line, names);
                    let shell = other.split('`').step_by(2).collect();
                    for text in [
                        format!("error[E0277]: {other}"),
                        other.replace('`', ""),
                        other,
                        shell,
                    ] {
                        let other = find(&pages, &text);
                        assert!(is_shown(page, &other), "{}: {line}: {text}", page.title);
                        assert_eq!(other.len(), found, "{line}: {text}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_missing_dim_of_any_list_has_its_pages() {
        let text = explain("dim `H` not found in dims (Batch, Chan)").unwrap();
        assert!(text.contains("dim `H` not found in dims (N, C)"), "{text}");
        assert!(!text.contains("appears more than once"), "{text}");
    }

    #[test]
    fn other_words_say_so() {
        assert!(explain("gradient descent of borrowed lifetimes").is_err());
    }
}
