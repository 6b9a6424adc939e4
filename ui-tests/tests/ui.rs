//! What rustc says to each mistake, compared with the text beside it, and what every text obeys.
//!
//! One folder per rule, one file per mistake. `TRYBUILD=overwrite cargo test -p nomina-ui-tests`
//! writes the texts anew; read them before committing.

use std::fs;
use std::path::{Path, PathBuf};

/// The most lines of a text: what an operator may need, and a method, where rustc adds lines of
/// its own ("required by a bound in …").
const OPERATOR: usize = 12;
const METHOD: usize = 18;

/// Texts over these limits, with their length: rustc says more than one thing about a tensor type
/// that cannot be.
const LONGER: [(&str, usize); 3] = [
    ("factory/not_a_tuple", 52),
    ("factory/not_a_dim", 25),
    ("join/cat_of_other_dims", 19),
];

/// What no text may hold: private paths, codes of names, std's sources, texts of helper traits.
const INTERNAL: [&str; 12] = [
    "__private",
    "nomina_core::dims::id",
    "End>",
    "/rustc/",
    "rustlib",
    "the trait bound",
    "the following other types implement",
    "originates in the macro",
    "Kind as",
    "as DimList>",
    "Outcome",
    "ErrorGuaranteed",
];

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(root).expect("the folder of the tests");
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.is_dir())
        .filter(|path| !["src", "tests"].iter().any(|own| path.ends_with(own)))
        .collect();
    folders.sort();
    folders
}

fn files(ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = folders()
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("a folder of mistakes"))
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect();
    files.sort();
    files
}

/// Whether a text is about `+` or its kin: rustc then names the trait of std.
fn operator(text: &str) -> bool {
    let traits = ["Add", "Sub", "Mul", "Div", "Neg", "Not"];
    let named = |name: &&str| {
        text.contains(&format!("to implement `{name}<"))
            || text.contains(&format!("to implement `{name}Assign<"))
            || text.contains(&format!("to implement `std::ops::{name}<"))
    };
    traits.iter().any(named) && !text.contains("help: consider further restricting")
}

#[test]
fn mistakes() {
    let cases = trybuild::TestCases::new();
    for folder in folders() {
        let name = folder
            .file_name()
            .expect("a folder has a name")
            .to_string_lossy()
            .into_owned();
        cases.compile_fail(format!("{name}/*.rs"));
    }
}

#[test]
fn every_text_has_its_mistake() {
    let orphan = |path: &PathBuf| !path.with_extension("rs").exists();
    let orphans: Vec<PathBuf> = files("stderr").into_iter().filter(orphan).collect();
    assert!(orphans.is_empty(), "texts without a mistake: {orphans:?}");
    let untold = |path: &PathBuf| !path.with_extension("stderr").exists();
    let untold: Vec<PathBuf> = files("rs").into_iter().filter(untold).collect();
    assert!(untold.is_empty(), "mistakes without a text: {untold:?}");
    assert!(files("rs").len() >= 60, "mistakes are missing");
}

#[test]
fn texts_are_short_and_speak_of_dims() {
    let mut complaints = Vec::new();
    let mut longest = (0, PathBuf::new());
    for path in files("stderr") {
        let text = fs::read_to_string(&path).expect("a readable text");
        let lines = text.trim_end().lines().count();
        let longer = LONGER
            .iter()
            .find(|(name, _)| path.with_extension("").ends_with(name));
        let limit = match longer {
            Some((_, limit)) => *limit,
            None if operator(&text) => OPERATOR,
            None => METHOD,
        };
        if lines > limit {
            complaints.push(format!(
                "{}: {lines} lines, {limit} at most",
                path.display()
            ));
        }
        if lines > longest.0 {
            longest = (lines, path.clone());
        }
        if longer.is_some() {
            continue;
        }
        let found = INTERNAL.iter().filter(|word| text.contains(**word));
        complaints.extend(found.map(|word| format!("{}: says `{word}`", path.display())));
        let errors = text.matches("error[").count() + text.matches("error: ").count();
        if errors != 1 {
            complaints.push(format!("{}: more than one error", path.display()));
        }
    }
    println!(
        "the longest text has {} lines: {}",
        longest.0,
        longest.1.display()
    );
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
