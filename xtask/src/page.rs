//! Pages of `docs/` with a section for measured figures.

use std::fs;
use std::path::Path;

use crate::step::{Outcome, root};

const BEGIN: &str = "<!-- figures -->\n";
const END: &str = "<!-- /figures -->";

/// Replaces the figures in a page.
pub fn record(page: &str, figures: &str) -> Outcome {
    let page = root().join(page);
    let text = replaced(&read(&page)?, figures.trim_end())
        .ok_or_else(|| format!("{} has no place for figures", page.display()))?;
    fs::write(&page, text).map_err(|error| format!("{}: {error}", page.display()))
}

/// Returns a file's text, or the reason why it cannot be read.
pub fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn replaced(page: &str, figures: &str) -> Option<String> {
    let (head, rest) = page.split_once(BEGIN)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{BEGIN}{figures}\n{END}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_a_place() {
        for page in ["docs/cuda.md", "docs/reliability.md"] {
            let page = read(&root().join(page)).unwrap();
            let written = replaced(&page, "42").unwrap();
            assert!(
                written.contains("<!-- figures -->\n42\n<!-- /figures -->"),
                "{written}"
            );
        }
        assert_eq!(replaced("no place", "42"), None);
    }
}
