//! The fixes of a crate's errors, each compiled before it is offered.
//!
//! A fix is sure if its rule has no doubt, its error goes away, and no other error appears. All fixes of sure rules are
//! compiled together; only if that fails, and for guesses, each one is compiled alone, with the sure ones found so far.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::compare::{self, Outcome};
use crate::copy::{Change, Changes, Copies};
use crate::edit::{self, Edit};
use crate::message::Message;
use crate::record::Unit;
use crate::rules::{self, Fix};
use crate::source::Source;

/// The maximum number of fixes tried for one error.
const CANDIDATES: usize = 4;

/// The maximum number of further errors that one fix may reveal and fix with its own.
const CHAIN: usize = 3;

/// The sources, by their paths relative to the root of the workspace; `None` for one that cannot be read.
pub type Files = BTreeMap<PathBuf, Option<Source>>;

/// A fix that is not certain.
#[derive(Clone, Debug)]
pub struct Guess {
    pub edits: Vec<Edit>,
    /// The error that appears with it.
    pub leaves: Option<String>,
}

/// The answer to an error.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The changes of [`Judge::sure`] fix it.
    Sure,
    Guess(Guess),
    None,
}

/// An error with its answer.
#[derive(Debug)]
pub struct Answered {
    pub error: Message,
    pub answer: Answer,
}

/// Compiles fixes.
pub struct Judge<'j> {
    pub copies: &'j Copies<'j>,
    pub files: &'j Files,
    /// Whether to leave out guesses.
    pub sure_only: bool,
    /// The changes that are sure.
    pub sure: Changes,
    pub answered: Vec<Answered>,
}

/// Fixes of one crate.
struct Trial<'t, 'j> {
    judge: &'t mut Judge<'j>,
    unit: &'t Unit,
    errors: &'t [Message],
    fixes: Vec<Vec<Fix>>,
    answers: Vec<Option<Answer>>,
}

impl Judge<'_> {
    /// Answers the errors of a crate, all in files that can be changed.
    pub fn judge(&mut self, unit: &Unit, errors: &[Message]) -> Result<(), String> {
        let fixes = |error| {
            let mut fixes = source(self.files, error)
                .map(|source| rules::fixes(error, source))
                .unwrap_or_default();
            fixes.retain(|fix| fix.sure || !self.sure_only);
            fixes.truncate(CANDIDATES);
            fixes
        };
        let mut trial = Trial {
            unit,
            errors,
            fixes: errors.iter().map(fixes).collect(),
            answers: vec![None; errors.len()],
            judge: self,
        };
        trial.confirm()?;
        let (early, late) = trial.order();
        trial.together(&early, &late)?;
        for at in early.into_iter().chain(late) {
            if trial.answers[at].is_none() {
                trial.alone(at)?;
            }
        }
        let answers = trial.answers;
        for (error, answer) in errors.iter().zip(answers) {
            // A library is checked a second time for its tests.
            if !self
                .answered
                .iter()
                .any(|other| compare::is_same(&other.error, error))
            {
                self.answered.push(Answered {
                    error: error.clone(),
                    answer: answer.unwrap_or(Answer::None),
                });
            }
        }
        Ok(())
    }

    /// Returns the sure changes with the edits of a fix; `None` if they conflict.
    fn with(&self, changes: &Changes, error: &Message, edits: &[Edit]) -> Option<Changes> {
        let path = &error.place()?.file;
        let source = source(self.files, error)?;
        let mut all = changes
            .get(path)
            .map_or_else(Vec::new, |change| change.edits.clone());
        edit::add(&mut all, edits).then_some(())?;
        let mut changes = changes.clone();
        let change = Change::new(&source.text, edit::apply(&source.text, &all));
        changes.insert(path.clone(), change);
        Some(changes)
    }
}

/// Returns the source in which an error is.
fn source<'f>(files: &'f Files, error: &Message) -> Option<&'f Source> {
    files.get(&error.place()?.file)?.as_ref()
}

/// Answers each error with its first fix, without compiling it.
pub fn guess(files: &Files, errors: Vec<Message>) -> Vec<Answered> {
    let mut changed: Vec<PathBuf> = Vec::new();
    let mut answer = |error: &Message| {
        let path = &error.place()?.file;
        // A type mismatch may disappear once the other errors are fixed.
        let is_late = error.code == "E0308" && changed.contains(path);
        let first = rules::fixes(error, source(files, error)?)
            .into_iter()
            .next();
        let edits = first.filter(|_| !is_late)?.edits;
        changed.push(path.clone());
        Some(Answer::Guess(Guess {
            edits,
            leaves: None,
        }))
    };
    errors
        .into_iter()
        .map(|error| Answered {
            answer: answer(&error).unwrap_or(Answer::None),
            error,
        })
        .collect()
}

impl Trial<'_, '_> {
    /// Returns the errors in the order in which they are tried: a type mismatch may disappear once the others are fixed.
    fn order(&self) -> (Vec<usize>, Vec<usize>) {
        (0..self.errors.len()).partition(|at| self.errors[*at].code != "E0308")
    }

    fn compile(&self, changes: &Changes) -> Result<Outcome, String> {
        let messages = self.judge.copies.compile(self.unit, changes)?;
        Ok(compare::compare(&self.unit.messages, messages, changes))
    }

    /// Keeps changes that were compiled, and marks the errors that they fix.
    fn keep(&mut self, changes: Changes, outcome: &Outcome) {
        for (error, answer) in self.errors.iter().zip(&mut self.answers) {
            if outcome.removes(error) {
                *answer = Some(Answer::Sure);
            }
        }
        self.judge.sure = changes;
    }

    /// Compiles the changes that are sure in another crate, if they are in files of this one. They are withdrawn if they
    /// do not hold here.
    fn confirm(&mut self) -> Result<(), String> {
        let changes = self.judge.sure.clone();
        if !self
            .errors
            .iter()
            .filter_map(Message::place)
            .any(|place| changes.contains_key(&place.file))
        {
            return Ok(());
        }
        let outcome = self.compile(&changes)?;
        if outcome.added.is_empty() {
            self.keep(changes, &outcome);
            return Ok(());
        }
        self.judge.sure.clear();
        for answered in &mut self.judge.answered {
            if matches!(answered.answer, Answer::Sure) {
                answered.answer = Answer::None;
            }
        }
        Ok(())
    }

    /// Tries the first fixes of sure rules at once.
    fn together(&mut self, early: &[usize], late: &[usize]) -> Result<(), String> {
        let is_sure = |at: &usize| self.fixes[*at].first().is_some_and(|fix| fix.sure);
        let mut chosen: Vec<usize> = early.iter().copied().filter(is_sure).collect();
        if chosen.is_empty() {
            chosen = late.iter().copied().filter(is_sure).collect();
        }
        // One is compiled alone anyway.
        while chosen.len() > 1 {
            let mut changes = self.judge.sure.clone();
            chosen.retain(|at| {
                let fix = &self.fixes[*at][0];
                let more = self.judge.with(&changes, &self.errors[*at], &fix.edits);
                more.map(|more| changes = more).is_some()
            });
            let outcome = self.compile(&changes)?;
            let before = chosen.len();
            chosen.retain(|at| outcome.removes(&self.errors[*at]));
            if chosen.len() == before {
                if outcome.added.is_empty() {
                    self.keep(changes, &outcome);
                }
                break;
            }
        }
        Ok(())
    }

    /// Tries the fixes of an error: the first that leaves no other error, else the first.
    fn alone(&mut self, at: usize) -> Result<(), String> {
        for fix in self.fixes[at].clone() {
            let leaves =
                |answer: &Answer| matches!(answer, Answer::Guess(guess) if guess.leaves.is_some());
            match self.attempt(&self.errors[at], &fix)? {
                Some(answer) if leaves(&answer) => {
                    self.answers[at].get_or_insert(answer);
                }
                Some(answer) => {
                    self.answers[at] = Some(answer);
                    break;
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Compiles a fix, and with it those of errors that it reveals; `None` if its error stays, or its own text is wrong:
    /// an error is in it, or a name cannot be resolved.
    fn attempt(&mut self, error: &Message, fix: &Fix) -> Result<Option<Answer>, String> {
        let judge = &self.judge;
        let Some(source) = source(judge.files, error) else {
            return Ok(None);
        };
        let (Some(place), Some(mut changes)) =
            (error.place(), judge.with(&judge.sure, error, &fix.edits))
        else {
            return Ok(None);
        };
        let (mut edits, mut sure) = (fix.edits.clone(), fix.sure);
        let mut first = None;
        for _ in 0..=CHAIN {
            let outcome = self.compile(&changes)?;
            if !outcome.removes(error) {
                break;
            }
            let Some(added) = outcome.added.first() else {
                if sure {
                    self.keep(changes, &outcome);
                    return Ok(Some(Answer::Sure));
                }
                return Ok(Some(Answer::Guess(Guess {
                    edits,
                    leaves: None,
                })));
            };
            let change = &changes[&place.file];
            let is_broken = |added: &Message| {
                compare::is_unresolved(added)
                    || compare::is_within(added, &place.file, &edits, change)
            };
            if outcome.added.iter().any(is_broken) {
                break;
            }
            first.get_or_insert_with(|| Guess {
                edits: edits.clone(),
                leaves: Some(added.message.clone()),
            });
            if added.place().is_none_or(|added| added.file != place.file) {
                break;
            }
            let changed = Source::new(change.text.clone());
            let Some(next) = rules::fixes(added, &changed).into_iter().next() else {
                break;
            };
            sure &= next.sure;
            let change = Change::new(&source.text, edit::apply(&changed.text, &next.edits));
            edits.clone_from(&change.edits);
            if let Some(kept) = self.judge.sure.get(&place.file) {
                edits.retain(|edit| !kept.edits.contains(edit));
            }
            changes.insert(place.file.clone(), change);
        }
        Ok(first.map(Answer::Guess))
    }
}
