//! `cargo nomina check`: finds likely mistakes in code that compiles.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use proc_macro2::{TokenStream, TokenTree};

use crate::cargo::Workspace;
use crate::message::{self, Message};
use crate::source::{self, tokens, tokens::Unread};
use crate::wrapper::{self, LINTED, Use};

/// With this cfg, `nomina` has stricter bounds, and rustc reports where they are not met.
const LINT: &str = "nomina_lint";

/// The start of the message about a product that contracts two names; see `core/src/dims/matmul.rs`.
const CONTRACTED: &str = "matmul contracts dim ";

/// Runs the command: fails if anything was found.
pub fn run(args: &[String]) -> Result<(), String> {
    let workspace = Workspace::find()?;
    let mut found = 0;
    for package in &workspace.packages {
        for unused in unused(package, &workspace) {
            println!("{unused}");
            found += 1;
        }
    }
    let messages = message::read(&lint(args)?);
    let (ours, others): (Vec<Message>, Vec<Message>) = messages
        .into_iter()
        .partition(|message| message.message.starts_with(CONTRACTED));
    let mut shown: Vec<String> = ours.iter().filter_map(text).collect();
    shown.sort();
    // A library is checked a second time for its tests.
    shown.dedup();
    for text in &shown {
        println!("{text}");
    }
    found += shown.len();
    if !others.is_empty() {
        return Err(format!(
            "{} other errors, the first: {}; see `cargo check`",
            others.len(),
            others[0].message
        ));
    }
    match found {
        0 => Ok(()),
        1 => Err("1 place to look at".to_owned()),
        n => Err(format!("{n} places to look at")),
    }
}

/// Checks the workspace with the lint's bounds. The crate that has them gets an unusual number of codegen units, which do
/// not matter to a check: cargo then gives its files and those of its dependents other names, and builds nothing else
/// again.
fn lint(args: &[String]) -> Result<String, String> {
    let mut command = wrapper::check(Use::Lint(LINT))?;
    for profile in ["dev", "release"] {
        let unusual = format!("profile.{profile}.package.{LINTED}.codegen-units=251");
        command.args(["--config", &unusual]);
    }
    let output = command.args(args).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cargo could not start: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn text(message: &Message) -> Option<String> {
    let place = message.place()?;
    let advice = message.note("by name: ").map_or("", |note| &note.message);
    let source = place.text.first().map_or("", |line| line.trim());
    Some(format!(
        "{}:{}: {}\n    {source}\n    {advice}",
        place.file.display(),
        place.line,
        message.message
    ))
}

/// Returns a message for each dim that a package declares privately and does not use.
fn unused(package: &Path, workspace: &Workspace) -> Vec<String> {
    let mut files = Vec::new();
    if let Err(error) = sources(package, workspace, &mut files) {
        source::skip(package, error);
    }
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    let mut declared = Vec::new();
    for file in &files {
        let name = file.strip_prefix(&workspace.root).unwrap_or(file);
        let text = match source::load(file) {
            Ok(text) => text,
            Err(why) => {
                source::skip(name, why);
                continue;
            }
        };
        let done = tokens::read(&text, |tokens| {
            read(tokens, &mut words, &mut |dim, line| {
                let text = format!("{}:{line}: dim `{dim}` is never used", name.display());
                declared.push((dim, text));
            });
        });
        match done {
            // A file that is not Rust, such as test data, declares nothing.
            Ok(()) | Err(Unread::NotRust) => {}
            Err(why) => source::skip(name, why),
        }
    }
    declared.retain(|(dim, _)| words.get(dim) == Some(&1));
    declared.into_iter().map(|(_, text)| text).collect()
}

/// Collects the sources of a package, without those of packages within its folder. Links are not followed, since they
/// may lead outside or back.
fn sources(folder: &Path, workspace: &Workspace, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_symlink() || path == workspace.target {
            continue;
        }
        if path.is_dir() {
            let is_package = path.join("Cargo.toml").exists();
            if !is_package && let Err(error) = sources(&path, workspace, files) {
                source::skip(&path, error);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

/// Counts the identifiers, and reports the private declarations in `dims!`, with their lines.
fn read(
    tokens: TokenStream,
    words: &mut BTreeMap<String, usize>,
    declares: &mut dyn FnMut(String, usize),
) {
    let mut before: [Option<String>; 2] = [None, None];
    for token in tokens {
        let mut word = None;
        match &token {
            TokenTree::Ident(ident) => {
                *words.entry(ident.to_string()).or_default() += 1;
                word = Some(ident.to_string());
            }
            TokenTree::Punct(punct) => word = Some(punct.to_string()),
            TokenTree::Group(group) => {
                if before.each_ref().map(Option::as_deref) == [Some("dims"), Some("!")] {
                    private(group.stream(), declares);
                }
                read(group.stream(), words, declares);
            }
            TokenTree::Literal(_) => {}
        }
        before = [before[1].take(), word];
    }
}

/// Reports the names of the items that begin with a name: without `pub` or an attribute.
fn private(tokens: TokenStream, declares: &mut dyn FnMut(String, usize)) {
    let mut begins = true;
    for token in tokens {
        if let (true, TokenTree::Ident(ident)) = (begins, &token)
            && ident != "pub"
        {
            declares(ident.to_string(), ident.span().start().line);
        }
        begins = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut words = BTreeMap::new();
        let mut dims = Vec::new();
        let tokens: TokenStream = text.parse().unwrap();
        read(tokens, &mut words, &mut |dim, line| dims.push((dim, line)));
        dims.retain(|(dim, _)| words[dim] == 1);
        dims.into_iter()
            .map(|(dim, line)| format!("{dim} {line}"))
            .collect()
    }

    #[test]
    fn a_private_dim_that_nothing_names_is_unused() {
        let text = "dims! { N, C = 3, pub K, #[allow(dead_code)] L }\nfn f() { x.sum(N); }";
        assert_eq!(found(text), ["C 1"]);
    }

    #[test]
    fn a_dim_within_a_macro_is_used() {
        assert!(found("nomina::dims! { N }\nfn f() { einsum!(x[N] -> []) }").is_empty());
    }

    #[test]
    fn text_names_no_dim() {
        assert_eq!(
            found("// N\nnomina::dims! { N }\nconst A: &str = \"N\";"),
            ["N 2"]
        );
    }
}
