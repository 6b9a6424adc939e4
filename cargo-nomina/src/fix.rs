//! `cargo nomina fix`.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::cargo::Workspace;
use crate::compare;
use crate::copy::{Change, Changes, Copies};
use crate::edit::{self, Edit};
use crate::message::{self, Message, Place};
use crate::record;
use crate::source::{self, Source, tokens::Unread};
use crate::verify::{self, Answer, Answered, Files, Guess, Judge};

/// The maximum number of times that sources are checked and fixed: one error may hide another.
const ROUNDS: usize = 4;

/// The options of the command.
#[derive(Debug, Default)]
pub struct Options {
    /// Write the files instead of showing the changes.
    pub write: bool,
    /// Write guesses too.
    pub guesses: bool,
    /// Leave out guesses.
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
                "--guesses" => options.guesses = true,
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
        if options.guesses && options.sure {
            return Err("`--sure` leaves out what `--guesses` writes".to_owned());
        }
        Ok(options)
    }
}

/// The answers of one check.
#[derive(Default)]
struct Plan {
    files: Files,
    sure: Edits,
    answered: Vec<Answered>,
    /// The number of errors in files that cannot be changed.
    left: usize,
}

type Edits = BTreeMap<PathBuf, Vec<Edit>>;

/// Runs the command.
pub fn run(options: &Options) -> Result<(), String> {
    let workspace = Workspace::find()?;
    let rounds = if options.write && options.messages.is_none() {
        ROUNDS
    } else {
        1
    };
    for round in 1..=rounds {
        let plan = plan(options, &workspace)?;
        let (all, guessed) = plan.guesses();
        let guessed = if options.sure { Vec::new() } else { guessed };
        let is_fixed = |answered: &&Answered| matches!(answered.answer, Answer::Sure);
        let fixed: Vec<&Answered> = plan.answered.iter().filter(is_fixed).collect();
        let written = if options.guesses { &all } else { &plan.sure };
        let is_last = round == rounds || written.is_empty();
        report(&fixed);
        if options.guesses || is_last {
            report(&guessed);
        }
        if options.write {
            for path in written.keys() {
                let (old, new) = (plan.text(path, &Edits::new()), plan.text(path, written));
                edit::replace(&workspace.root.join(path), &old, &new)?;
            }
        } else {
            for path in plan.sure.keys() {
                show(
                    path,
                    &plan.text(path, &Edits::new()),
                    &plan.text(path, &plan.sure),
                );
            }
            for path in all.keys().filter(|_| !options.sure) {
                show(path, &plan.text(path, &plan.sure), &plan.text(path, &all));
            }
        }
        if is_last {
            if plan.left + plan.answered.len() == 0 && round == 1 {
                eprintln!("nothing to fix");
            }
            summarize(
                options,
                plan.left + plan.answered.len(),
                fixed.len(),
                guessed.len(),
            );
            break;
        }
    }
    Ok(())
}

/// Prints how many errors remain, and the options that change the files.
fn summarize(options: &Options, errors: usize, fixed: usize, guessed: usize) {
    let left = errors - fixed - guessed;
    if left > 0 {
        eprintln!("{left} errors remain; `cargo nomina explain WORDS` may explain them");
    }
    if fixed > 0 && !options.write {
        eprintln!("`cargo nomina fix --write` changes the files");
    }
    if guessed > 0 && !(options.guesses && options.write) {
        eprintln!("`cargo nomina fix --write --guesses` makes the guesses too: read them first");
    }
}

impl Plan {
    /// Adds the guesses that do not conflict to the sure edits, and returns these guesses.
    fn guesses(&self) -> (Edits, Vec<&Answered>) {
        let (mut all, mut done) = (self.sure.clone(), Vec::new());
        for answered in &self.answered {
            let (Answer::Guess(guess), Some(place)) = (&answered.answer, answered.error.place())
            else {
                continue;
            };
            let file = all.entry(place.file.clone()).or_default();
            if edit::add(file, &guess.edits) {
                done.push(answered);
            }
        }
        all.retain(|_, edits| !edits.is_empty());
        (all, done)
    }

    /// Returns a file's text with edits.
    fn text(&self, path: &Path, edits: &Edits) -> String {
        let source = self.files.get(path).and_then(Option::as_ref);
        let edits = edits.get(path).map_or(&[][..], Vec::as_slice);
        source.map_or_else(String::new, |source| edit::apply(&source.text, edits))
    }

    /// Returns the errors in files that can be changed, and counts the others.
    fn changeable(
        &mut self,
        messages: &[Message],
        workspace: &Workspace,
    ) -> Result<Vec<Message>, String> {
        let mut found: Vec<Message> = Vec::new();
        for message in messages {
            let Some(place) = message.place() else {
                continue;
            };
            if found.iter().any(|other| compare::is_same(other, message)) {
                continue;
            }
            let file = self.files.entry(place.file.clone());
            let source = file.or_insert_with(|| {
                let own = place.own.then(|| load(&workspace.root, &place.file));
                own.flatten()
            });
            match source.as_ref() {
                None => self.left += 1,
                Some(source) if is_unchanged(&source.text, place) => found.push(message.clone()),
                Some(_) => {
                    return Err(format!(
                        "{} changed since the check and was skipped; run the command again",
                        place.file.display()
                    ));
                }
            }
        }
        Ok(found)
    }
}

/// Prints a line for each fix.
fn report(fixes: &[&Answered]) {
    for Answered { error, answer } in fixes {
        let Some(place) = error.place() else {
            continue;
        };
        let guess = match answer {
            Answer::Guess(Guess {
                leaves: Some(other),
                ..
            }) => format!(" (a guess, after which: {other})"),
            Answer::Guess(_) => " (a guess)".to_owned(),
            _ => String::new(),
        };
        println!(
            "{}:{}: {}{guess}",
            place.file.display(),
            place.line,
            error.message
        );
    }
}

/// Checks the workspace, and compiles the fixes of its errors.
fn plan(options: &Options, workspace: &Workspace) -> Result<Plan, String> {
    let mut plan = Plan::default();
    if let Some(file) = &options.messages {
        let mut messages = message::read(&read(file)?);
        workspace.localize(&mut messages, |file| workspace.root.join(file));
        let errors = plan.changeable(&messages, workspace)?;
        plan.answered = verify::guess(&plan.files, errors);
        return Ok(plan);
    }
    let mut units = Vec::new();
    for mut unit in record::check(&options.cargo, &workspace.own_target())? {
        workspace.localize(&mut unit.messages, |file| unit.folder.join(file));
        let errors = plan.changeable(&unit.messages, workspace)?;
        units.push((unit, errors));
    }
    let copies = Copies::new(workspace)?;
    let mut judge = Judge {
        copies: &copies,
        files: &plan.files,
        sure_only: options.sure,
        sure: Changes::new(),
        answered: Vec::new(),
    };
    for (unit, errors) in &units {
        if let Err(error) = judge.judge(unit, errors) {
            eprintln!("fixes cannot be compiled, and are guesses: {error}");
            let guesses = verify::guess(&plan.files, errors.clone());
            judge.answered.extend(guesses);
        }
    }
    let edits = |(path, change): (PathBuf, Change)| (path, change.edits);
    plan.sure = judge.sure.into_iter().map(edits).collect();
    plan.answered = judge.answered;
    Ok(plan)
}

/// Returns a source; `None` if it cannot be read or parsed, and is left unchanged.
fn load(root: &Path, path: &Path) -> Option<Source> {
    let source = source::load(&root.join(path)).map(Source::new);
    let unread = |source: &Source| source.unread.filter(|why| *why != Unread::NotRust);
    let why = match &source {
        Ok(source) => unread(source).map(|why| why.to_string()),
        Err(why) => Some(why.clone()),
    };
    if let Some(why) = why {
        source::skip(path, why);
        return None;
    }
    source.ok()
}

/// Returns the text of a file, or of standard input for `-`.
fn read(file: &str) -> Result<String, String> {
    if file != "-" {
        return std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"));
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("standard input: {error}"))?;
    Ok(text)
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
    if old == new {
        return;
    }
    let name = path.display().to_string();
    let diff = TextDiff::from_lines(old, new);
    print!(
        "{}",
        diff.unified_diff()
            .header(&format!("a/{name}"), &format!("b/{name}"))
    );
}
