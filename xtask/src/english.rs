//! Counts of habits that make comments and names hard to read. CONTRIBUTING.md says how the project writes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::step::root;

/// Names of functions that do not say what the function does.
const VAGUE_FUNCTIONS: [&str; 16] = [
    "of", "on", "one", "two", "put", "made", "alike", "unlike", "others", "over", "by", "given",
    "side", "long", "left", "told",
];

/// Returns the files of the project with one of these endings.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    fn walk(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
        let entries = std::fs::read_dir(folder).unwrap();
        for path in entries.map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    walk(&path, endings, found);
                }
            } else if path
                .extension()
                .is_some_and(|end| endings.contains(&&*end.to_string_lossy()))
            {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root(), endings, &mut found);
    found.sort();
    found
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}

/// Returns the text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    let text = text.strip_prefix(['/', '!']).unwrap_or(text);
    Some(text.strip_prefix(' ').unwrap_or(text))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// Counts how often one of the first words precedes the second.
fn pairs(text: &str, firsts: &[&str], second: &str) -> usize {
    let all: Vec<&str> = words(text).collect();
    all.windows(2)
        .filter(|pair| firsts.contains(&pair[0]) && pair[1] == second)
        .count()
}

/// Returns the name after a keyword of a declaration, which may have a visibility before it.
fn declared<'a>(line: &'a str, keywords: &[&str]) -> Option<&'a str> {
    let mut line = line.trim_start();
    if let Some(rest) = line.strip_prefix("pub") {
        line = match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')')?.1.trim_start(),
            None => rest.trim_start(),
        };
    }
    let (keyword, rest) = line.split_once(' ')?;
    keywords.contains(&keyword).then(|| words(rest).next())?
}

#[derive(Default)]
struct Counts {
    /// Comments that begin with a relative clause without its noun.
    relative: usize,
    /// Comments that begin with "As" or "The same".
    same: usize,
    stand: usize,
    so_many: usize,
    riddles: usize,
    arms: usize,
    vague_functions: usize,
    /// By crate and type, the files that declare it.
    types: BTreeMap<(String, String), BTreeSet<PathBuf>>,
}

impl Counts {
    fn prose(&mut self, text: &str) {
        self.stand += words(text)
            .filter(|word| ["stand", "stands"].contains(word))
            .count();
        self.so_many += pairs(text, &["so", "as"], "many");
        self.riddles += words(text)
            .filter(|word| ["whoever", "Whoever"].contains(word))
            .count()
            + pairs(text, &["lies"], "as")
            + pairs(text, &["is"], "told");
    }

    fn source(&mut self, path: &Path, text: &str) {
        let mut prose = String::new();
        for line in text.lines() {
            let start = line.trim_start();
            self.arms += usize::from(start.starts_with("true =>") || start.starts_with("false =>"));
            let Some(text) = comment(line) else { continue };
            let mut first = words(text);
            let (first, second) = if text.starts_with(char::is_alphabetic) {
                (first.next().unwrap_or(""), first.next().unwrap_or(""))
            } else {
                ("", "")
            };
            let relative = ["What", "Who", "Whose", "Whoever", "Of", "That", "Those"];
            self.relative += usize::from(relative.contains(&first));
            self.same += usize::from(first == "As" || (first == "The" && second == "same"));
            prose.push_str(text);
            prose.push('\n');
        }
        self.prose(&prose);
        let name = path.to_string_lossy();
        let outside = ["benches", "examples", "ui-tests", "fuzz"];
        if !name.ends_with(".rs")
            || format!("/{name}").contains("/tests")
            || name.ends_with("tests.rs")
            || name.contains("generated")
            || outside.iter().any(|folder| name.starts_with(folder))
        {
            return;
        }
        let package = name.split("/src/").next().unwrap_or("").to_owned();
        for line in text.lines() {
            let kinds = ["struct", "enum", "trait", "type"];
            if let Some(name) =
                declared(line, &kinds).filter(|name| name.starts_with(char::is_uppercase))
            {
                let key = (package.clone(), name.to_owned());
                self.types.entry(key).or_default().insert(path.to_owned());
            }
            for rest in line.split("fn ").skip(1) {
                let name = words(rest).next().unwrap_or("");
                self.vague_functions +=
                    usize::from(rest.starts_with(name) && VAGUE_FUNCTIONS.contains(&name));
            }
        }
    }
}

#[test]
fn comments_and_names_are_plain() {
    let mut counts = Counts::default();
    for path in files(&["rs", "cu", "cuh"]) {
        let text = read(&path);
        counts.source(path.strip_prefix(root()).unwrap(), &text);
    }
    for path in files(&["md"]) {
        // It quotes rustc.
        if !path.ends_with("errors.md") {
            counts.prose(&read(&path));
        }
    }
    let repeated = counts
        .types
        .values()
        .filter(|files| files.len() > 1)
        .count();
    let repeated = 100 * repeated / counts.types.len().max(1);
    let found = [
        (
            "comments that begin with What, Who, Whose, Whoever, Of, That, Those",
            counts.relative,
            25,
        ),
        ("comments that begin with As, The same", counts.same, 40),
        (
            "`stand` or `stands` in comments and documents",
            counts.stand,
            40,
        ),
        ("`so many` or `as many`", counts.so_many, 20),
        ("`whoever`, `lies as`, `is told`", counts.riddles, 40),
        ("arms `true =>` and `false =>`", counts.arms, 30),
        (
            "percent of type names declared in two files of a crate",
            repeated,
            10,
        ),
        (
            "functions with a name that says nothing",
            counts.vague_functions,
            10,
        ),
    ];
    let mut above = Vec::new();
    for (what, count, most) in found {
        println!("{count:5} {what} (at most {most})");
        if count > most {
            above.push(format!("{count} {what}: at most {most}"));
        }
    }
    assert!(above.is_empty(), "{above:#?}");
}
