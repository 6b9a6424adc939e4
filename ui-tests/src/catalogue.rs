//! The mistakes as data: program, text, fix.
//!
//! A program ends with its fix. `// fix: code` replaces the line that rustc points at, `// fix 5:
//! code` replaces line 5; several fixes of one line follow each other, and an empty one removes the
//! line. A comment above them explains what code cannot express.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A program that does not compile, with its expected text and its fix.
#[derive(Debug)]
pub struct Mistake {
    /// The folder, named for the broken rule.
    pub rule: String,
    /// The file's stem.
    pub name: String,
    /// The program without its fix.
    pub program: Vec<String>,
    /// The compiler's output; empty if it is not recorded yet.
    pub text: String,
    /// The new lines, by the number of the line that they replace, from 1.
    pub fixes: BTreeMap<usize, Vec<String>>,
    /// The reason that a line of the fix cannot be used, if there is one.
    pub problem: Option<String>,
}

/// Returns all mistakes, sorted by rule and name, with the files that they were read from.
///
/// # Errors
/// If the folder cannot be read.
pub fn read(root: &Path) -> std::io::Result<Vec<(PathBuf, Mistake)>> {
    let mut mistakes = Vec::new();
    for rule in sorted(root)? {
        if !rule.is_dir() || ["src", "tests"].iter().any(|own| rule.ends_with(own)) {
            continue;
        }
        for file in sorted(&rule)? {
            if file.extension().is_some_and(|ending| ending == "rs") {
                let program = fs::read_to_string(&file)?;
                let text = fs::read_to_string(file.with_extension("stderr")).unwrap_or_default();
                mistakes.push((
                    file.clone(),
                    parse(&stem(&rule), &stem(&file), &program, &text),
                ));
            }
        }
    }
    Ok(mistakes)
}

fn sorted(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries: std::io::Result<Vec<PathBuf>> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect();
    let mut entries = entries?;
    entries.sort();
    Ok(entries)
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Reads a mistake from its two files.
#[must_use]
pub fn parse(rule: &str, name: &str, program: &str, text: &str) -> Mistake {
    let mut mistake = Mistake {
        rule: rule.into(),
        name: name.into(),
        program: Vec::new(),
        text: text.trim_end().into(),
        fixes: BTreeMap::new(),
        problem: None,
    };
    let pointed_at = pointed_at(text);
    for line in program.lines() {
        let Some((number, code)) = line.strip_prefix("// fix").and_then(|f| f.split_once(':'))
        else {
            mistake.program.push(line.into());
            continue;
        };
        let number = match number.trim() {
            "" => pointed_at,
            number => number.parse().ok(),
        };
        match number {
            Some(number) => mistake
                .fixes
                .entry(number)
                .or_default()
                .push(code.trim().into()),
            None => mistake.problem = Some(format!("no line for `{line}`")),
        }
    }
    while mistake.program.last().is_some_and(String::is_empty) {
        mistake.program.pop();
    }
    let lines = mistake.program.len();
    if let Some(outside) = mistake.fixes.keys().find(|&&n| n == 0 || n > lines) {
        mistake.problem = Some(format!("there is no line {outside} to fix"));
    }
    mistake
}

/// Returns the line of the first `--> file:line:column`.
fn pointed_at(text: &str) -> Option<usize> {
    let place = text
        .lines()
        .find_map(|l| l.trim_start().strip_prefix("--> "))?;
    place.rsplit(':').nth(1)?.parse().ok()
}

impl Mistake {
    /// Returns `rule/name`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}", self.rule, self.name)
    }

    /// Returns the program with its fix, if it has one that can be applied.
    #[must_use]
    pub fn fixed(&self) -> Option<String> {
        (!self.fixes.is_empty() && self.problem.is_none()).then(|| self.with(&self.fixes))
    }

    /// Returns the program with the bound that rustc's own help suggests, if it suggests one.
    #[must_use]
    pub fn advised(&self) -> Option<String> {
        let advice = advice(&self.text);
        (!advice.is_empty()).then(|| self.with(&advice))
    }

    fn with(&self, new: &BTreeMap<usize, Vec<String>>) -> String {
        let mut out = String::new();
        for (at, line) in self.program.iter().enumerate() {
            let indent = &line[..line.len() - line.trim_start().len()];
            match new.get(&(at + 1)) {
                None => out.push_str(&format!("{line}\n")),
                Some(lines) => lines
                    .iter()
                    .filter(|line| !line.is_empty())
                    .for_each(|line| out.push_str(&format!("{indent}{line}\n"))),
            }
        }
        out
    }
}

/// Returns the lines that `help: consider … restricting …` shows: whole lines of the program, with a bound added.
fn advice(text: &str) -> BTreeMap<usize, Vec<String>> {
    let mut lines = BTreeMap::new();
    let mut in_help = false;
    for line in text.lines() {
        if line.starts_with("help: ") {
            in_help = line.contains("restricting") || line.contains("`where` clause");
        } else if line.starts_with("note: ") || line.starts_with("error") {
            in_help = false;
        } else if in_help {
            let digits = line.trim_start();
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
            let (number, rest) = digits.split_at(end);
            // `5 |` keeps a line, `5 +` and `5 ~` are new or changed ones.
            let code = ["| ", "~ ", "+ "]
                .iter()
                .find_map(|mark| rest.trim_start().strip_prefix(mark));
            if let (Ok(number), Some(code)) = (number.parse::<usize>(), code) {
                lines
                    .entry(number)
                    .or_insert_with(Vec::new)
                    .push(code.trim().to_owned());
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
error[E0277]: wrong
 --> rule/name.rs:2:5

help: consider further restricting type parameter `D` with trait `Has`
  |
1 | fn f<D: Dims + Has<C>>() {
  |              ++++++++
";

    #[test]
    fn a_fix_replaces_the_line_that_rustc_points_at() {
        let program = "fn f<D: Dims>() {\n    wrong;\n}\n\n// fix: right;\n// fix: too;\n";
        let mistake = parse("rule", "name", program, TEXT);
        assert_eq!(mistake.problem, None);
        assert_eq!(
            mistake.fixed().as_deref(),
            Some("fn f<D: Dims>() {\n    right;\n    too;\n}\n")
        );
        assert_eq!(
            mistake.advised().as_deref(),
            Some("fn f<D: Dims + Has<C>>() {\n    wrong;\n}\n")
        );
    }

    #[test]
    fn a_fix_names_its_line_or_removes_it() {
        let program = "fn f() {\n    wrong;\n}\n// fix 2:\n// fix 1: fn g() {\n";
        let mistake = parse("rule", "name", program, "");
        assert_eq!(mistake.fixed().as_deref(), Some("fn g() {\n}\n"));
        assert_eq!(mistake.advised(), None);
    }

    #[test]
    fn a_fix_without_a_line_is_a_problem() {
        assert!(
            parse("rule", "name", "f\n// fix: g\n", "")
                .problem
                .is_some()
        );
        assert!(
            parse("rule", "name", "f\n// fix 3: g\n", TEXT)
                .problem
                .is_some()
        );
        assert_eq!(parse("rule", "name", "f\n", TEXT).fixed(), None);
    }
}
