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

    /// `python3 scripts/compare.py --svg docs/speed.svg` draws it.
    #[test]
    fn the_picture_of_speed_shows_the_tables() {
        let page = read(&root().join("docs/performance.md")).unwrap();
        let picture = read(&root().join("docs/speed.svg")).unwrap();
        let mut cases = 0;
        for section in page.split("\n### ").skip(1) {
            // Later tables of a section were measured with AVX2 only.
            let Some((_, table)) = section.split_once("\n|---|") else {
                continue;
            };
            let rows = table.lines().skip(1);
            for row in rows.take_while(|line| line.starts_with('|')) {
                let cells: Vec<&str> = row.split('|').map(str::trim).collect();
                let bar = format!("<title>{}: {}</title>", cells[1], cells[4]);
                assert!(picture.contains(&bar), "docs/speed.svg lacks {bar}");
                cases += 1;
            }
        }
        assert!(cases > 0);
        assert_eq!(picture.matches("</title></rect>").count(), cases);
    }
}
