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
}

fn pages() -> Vec<Page> {
    let mut pages = Vec::new();
    for part in CATALOGUE.split("\n## ").skip(1) {
        let (rule, rest) = part.split_once('\n').unwrap_or((part, ""));
        for page in rest.split("\n### ").skip(1) {
            let (title, text) = page.split_once('\n').unwrap_or((page, ""));
            pages.push(Page { rule, title, text });
        }
    }
    pages
}

/// Normalizes a message: lower case, without the parts in backticks, which vary.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        if at % 2 == 0 {
            out.push_str(&part.to_lowercase());
        }
    }
    out
}

/// Returns the message of a page: its first line, after `error: ` or `error[E0277]: `.
fn headline(page: &Page) -> &'static str {
    let line = page.text.lines().find(|line| line.starts_with("error"));
    line.and_then(|line| line.split_once(": "))
        .map_or("", |(_, message)| message)
}

/// Finds the pages that match the words: by title, rule or message, or else those that contain all the words.
fn find(words: &str) -> Vec<Page> {
    let wanted = words.trim().to_lowercase();
    let by = |pass: &dyn Fn(&Page) -> bool| -> Vec<Page> {
        pages().into_iter().filter(|page| pass(page)).collect()
    };
    let message = wanted
        .split_once("]: ")
        .map_or(wanted.as_str(), |(_, message)| message);
    let message = plain(message.trim_start_matches("error: "));
    let found =
        by(&|page| page.title.to_lowercase() == wanted || page.rule.to_lowercase() == wanted);
    if !found.is_empty() {
        return found;
    }
    let said: Vec<&str> = message
        .split_whitespace()
        .filter(|word| !word.starts_with('('))
        .collect();
    let found = by(&|page| {
        let line = plain(headline(page));
        let mut line = line
            .split_whitespace()
            .filter(|word| !word.starts_with('('));
        said.len() > 2 && said.iter().all(|word| line.any(|other| other == *word))
    });
    if !found.is_empty() {
        return found;
    }
    by(&|page| {
        let text = format!("{} {} {}", page.rule, page.title, page.text).to_lowercase();
        !wanted.is_empty() && wanted.split_whitespace().all(|word| text.contains(word))
    })
}

/// Returns the text that the command prints.
pub fn explain(words: &str) -> Result<String, String> {
    let pages = find(words);
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

    #[test]
    fn every_page_is_found_by_its_own_message() {
        for page in pages() {
            let line = headline(&page);
            let found = find(line);
            assert!(
                found.iter().any(|other| other.text == page.text),
                "{}: {line}",
                page.title
            );
        }
        assert!(pages().len() > 400);
    }

    #[test]
    fn other_words_say_so() {
        assert!(explain("gradient descent of borrowed lifetimes").is_err());
    }
}
