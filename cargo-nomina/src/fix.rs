//! `cargo nomina fix`.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use similar::TextDiff;

use crate::cargo::{Workspace, cargo};
use crate::edit::{self, Edit};
use crate::message::{self, Message, Place};
use crate::rules;
use crate::source::{self, Source, tokens::Unread};

/// The maximum number of times that sources are checked and fixed: one error may hide another.
const ROUNDS: usize = 4;

/// The options of the command.
#[derive(Debug, Default)]
pub struct Options {
    /// Write the files instead of showing the changes.
    pub write: bool,
    /// Leave out fixes that guess the intention.
    pub sure: bool,
    /// Read messages from this file, or from standard input for `-`, instead of running cargo.
    pub messages: Option<String>,
    /// Arguments for `cargo check`.
    pub cargo: Vec<String>,
}

impl Options {
    pub fn parse(args: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--write" => options.write = true,
                "--sure" => options.sure = true,
                "--messages" => {
                    let file = args.next().ok_or("--messages of which file?")?;
                    options.messages = Some(file.clone());
                }
                other => options.cargo.push(other.to_owned()),
            }
        }
        if options.messages.is_some() && !options.cargo.is_empty() {
            return Err(format!(
                "`--messages` runs no cargo, and takes no `{}`",
                options.cargo.join(" ")
            ));
        }
        Ok(options)
    }
}

/// A file with its edits.
struct File {
    path: PathBuf,
    source: Source,
    edits: Vec<Edit>,
    /// Whether it cannot be read or parsed, and is left unchanged.
    is_skipped: bool,
}

impl File {
    fn load(root: &Path, path: &Path) -> Self {
        let (text, unread) = match source::load(&root.join(path)) {
            Ok(text) => (text, None),
            Err(why) => (String::new(), Some(why)),
        };
        let source = Source::new(text);
        let unparsed = source.unread.filter(|why| *why != Unread::NotRust);
        let why = unread.or_else(|| unparsed.map(|why| why.to_string()));
        if let Some(why) = &why {
            source::skip(path, why);
        }
        Self {
            path: path.to_owned(),
            source,
            edits: Vec::new(),
            is_skipped: why.is_some(),
        }
    }
}

/// Runs the command.
pub fn run(options: &Options) -> Result<(), String> {
    let workspace = Workspace::find()?;
    let rounds = if options.write && options.messages.is_none() {
        ROUNDS
    } else {
        1
    };
    for round in 0..rounds {
        let mut messages = message::read(&output(options)?);
        let children = messages
            .iter_mut()
            .flat_map(|message| &mut message.children);
        for place in children.flat_map(|child| &mut child.places) {
            place.own = workspace.own(&place.file).is_some();
        }
        let (files, left) = plan(&messages, &workspace, options.sure)?;
        for file in files.values() {
            let new = edit::apply(&file.source.text, &file.edits);
            if options.write {
                edit::replace(&workspace.root.join(&file.path), &file.source.text, &new)?;
            } else {
                show(&file.path, &file.source.text, &new);
            }
        }
        if files.is_empty() || !options.write {
            tell(&messages, &files, left, round);
            break;
        }
    }
    Ok(())
}

/// Prints the closing notes.
fn tell(messages: &[Message], files: &BTreeMap<PathBuf, File>, left: usize, round: usize) {
    if messages.is_empty() && round == 0 {
        eprintln!("nothing to fix");
    }
    if left > 0 {
        eprintln!("{left} errors remain; `cargo nomina explain WORDS` may explain them");
    }
    if !files.is_empty() {
        eprintln!("`cargo nomina fix --write` changes the files");
    }
}

/// Returns cargo's messages.
fn output(options: &Options) -> Result<String, String> {
    let Some(file) = &options.messages else {
        let mut command = Command::new(cargo());
        command
            .args(["check", "--message-format=json"])
            .args(&options.cargo);
        // Cargo's exit status is ignored: it fails if there are errors, which is the usual case.
        let output = command.stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| format!("cargo could not start: {error}"))?;
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    };
    let mut text = String::new();
    if file == "-" {
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| format!("standard input: {error}"))?;
    } else {
        text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(text)
}

/// Returns the files to change, and the number of messages without a fix.
fn plan(
    messages: &[Message],
    workspace: &Workspace,
    sure: bool,
) -> Result<(BTreeMap<PathBuf, File>, usize), String> {
    let mut files: BTreeMap<PathBuf, File> = BTreeMap::new();
    let mut left = 0;
    for message in messages {
        let Some(place) = message.place() else {
            continue;
        };
        let Some(path) = workspace.own(&place.file) else {
            left += 1;
            continue;
        };
        let file = files.entry(path.clone());
        let file = file.or_insert_with(|| File::load(&workspace.root, &path));
        if file.is_skipped {
            left += 1;
            continue;
        }
        if !is_unchanged(&file.source.text, place) {
            return Err(format!(
                "{} changed since the check and was skipped; run the command again",
                path.display()
            ));
        }
        // A type mismatch may disappear once the other errors are fixed.
        if message.code == "E0308" && !file.edits.is_empty() {
            left += 1;
            continue;
        }
        let fix = rules::fix(message, &file.source).filter(|fix| fix.sure || !sure);
        let made = fix.is_some_and(|fix| {
            let made = edit::add(&mut file.edits, &fix.edits);
            if made {
                let guess = if fix.sure { "" } else { " (a guess)" };
                println!(
                    "{}:{}: {}{guess}",
                    path.display(),
                    place.line,
                    message.message
                );
            }
            made
        });
        left += usize::from(!made);
    }
    files.retain(|_, file| !file.edits.is_empty());
    Ok((files, left))
}

/// Returns whether the text at a place, and its byte range, are still those that rustc saw.
fn is_unchanged(text: &str, place: &Place) -> bool {
    // rustc's lines exclude the byte order mark at the start of a file, but its byte offsets
    // include it.
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let above = place.line.saturating_sub(1);
    let lengths = body.split_inclusive('\n').take(above).map(str::len);
    let start = text.len() - body.len() + lengths.sum::<usize>();
    let mut lines = body.lines().skip(above);
    let before = lines.clone().next().unwrap_or_default().chars();
    let before = before
        .take(place.column.saturating_sub(1))
        .map(char::len_utf8);
    let same_lines = place
        .text
        .iter()
        .all(|line| lines.next() == Some(line.trim_end_matches('\r')));
    same_lines
        && place.range.start == start + before.sum::<usize>()
        && text.get(place.range.clone()).is_some()
}

fn show(path: &Path, old: &str, new: &str) {
    let name = path.display().to_string();
    let diff = TextDiff::from_lines(old, new);
    print!(
        "{}",
        diff.unified_diff()
            .header(&format!("a/{name}"), &format!("b/{name}"))
    );
}
