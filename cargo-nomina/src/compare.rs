//! The errors of a crate before and after changes: which are left, and which were added.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use crate::copy::{Change, Changes};
use crate::edit::Edit;
use crate::message::{Message, Place};
use crate::source::Source;

/// Errors of name resolution, after which rustc does not check types. Errors of macros have no code.
const EARLY: [&str; 14] = [
    "E0404", "E0405", "E0407", "E0412", "E0423", "E0424", "E0425", "E0426", "E0428", "E0432",
    "E0433", "E0531", "E0532", "E0603",
];

/// The errors after changes, compared with those before.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The errors that were there before.
    left: Vec<Message>,
    /// Errors that were not there before, except those that earlier errors had hidden.
    pub added: Vec<Message>,
}

impl Outcome {
    /// Returns whether an error is no longer there.
    pub fn removes(&self, message: &Message) -> bool {
        !self.left.iter().any(|left| is_same(left, message))
    }
}

/// Returns whether two messages are about one error.
pub fn is_same(a: &Message, b: &Message) -> bool {
    let place = |message: &Message| {
        let place = message.place()?;
        Some((place.file.clone(), place.range.clone()))
    };
    a.code == b.code && a.message == b.message && place(a) == place(b)
}

/// Compares the errors of a changed crate with those before.
pub fn compare(before: &[Message], after: Vec<Message>, changes: &Changes) -> Outcome {
    let edits = |path: &Path| changes.get(path).map_or(&[][..], |change| &change.edits);
    let mut rest: Vec<&Message> = before.iter().collect();
    let mut outcome = Outcome::default();
    for message in after {
        let known = rest.iter().position(|before| {
            before.code == message.code
                && before.message == message.message
                && is_moved(before.place(), message.place(), edits)
        });
        match known {
            Some(at) => outcome.left.push(rest.remove(at).clone()),
            None => outcome.added.push(message),
        }
    }
    let is_hidden = {
        let was_early = before.iter().all(is_early);
        move |message: &Message| is_lint(message) || (was_early && !is_early(message))
    };
    let sources: BTreeMap<&Path, Source> = changes
        .iter()
        .map(|(path, change)| (path.as_path(), Source::new(change.text.clone())))
        .collect();
    let is_caused = |message: &Message| is_caused(message, changes, &sources);
    outcome
        .added
        .retain(|message| !is_hidden(message) || is_caused(message));
    outcome
}

/// Returns whether an error is about a name that cannot be resolved, or is declared twice.
pub fn is_unresolved(message: &Message) -> bool {
    EARLY.contains(&message.code.as_str())
}

fn is_early(message: &Message) -> bool {
    message.code.is_empty() || is_unresolved(message)
}

/// Returns whether an error is a denied lint; these are looked for when a crate has no other errors.
fn is_lint(message: &Message) -> bool {
    !message.code.is_empty() && !message.code.starts_with('E')
}

/// Returns whether a place is another one after these edits.
fn is_moved<'e>(
    before: Option<&Place>,
    after: Option<&Place>,
    edits: impl Fn(&Path) -> &'e [Edit],
) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => {
            let range = moved(before.range.start, edits(&before.file));
            before.file == after.file && range.contains(&after.range.start)
        }
        (None, None) => true,
        _ => false,
    }
}

/// Returns the positions at which the text from a position may be after these edits.
fn moved(at: usize, edits: &[Edit]) -> RangeInclusive<usize> {
    let (mut low, mut high) = (at, at);
    for edit in edits {
        if edit.range.end < at || (edit.range.end == at && !edit.range.is_empty()) {
            low = low + edit.text.len() - edit.range.len();
            high = high + edit.text.len() - edit.range.len();
        } else if edit.range.start <= at {
            // The position is in the edited text, or behind an insertion.
            low -= at - edit.range.start;
            high = high - (at - edit.range.start) + edit.text.len();
        }
    }
    low..=high
}

/// Returns whether an error is in the new text of these edits, which belong to a change of a file.
pub fn is_within(message: &Message, file: &Path, edits: &[Edit], change: &Change) -> bool {
    message.place().is_some_and(|place| {
        let is_in = |edit: &Edit| {
            let start = *moved(edit.range.start, &change.edits).start();
            let end = *moved(edit.range.end, &change.edits).end();
            start <= place.range.start && place.range.end <= end
        };
        place.file == file && edits.iter().any(is_in)
    })
}

/// Returns whether changes may have caused an error that rustc had not looked for before: an edit is in its function, in
/// a signature, or outside of all functions.
fn is_caused(message: &Message, changes: &Changes, sources: &BTreeMap<&Path, Source>) -> bool {
    let Some(place) = message.place() else {
        return true;
    };
    changes.iter().any(|(path, change)| {
        let source = &sources[path.as_path()];
        change.edits.iter().any(|edit| {
            let start = *moved(edit.range.start, &change.edits).start();
            let Some(function) = source.function(&(start..start)) else {
                return true;
            };
            let body = source.at(&function.whole).find('{');
            let is_own = *path == place.file
                && function.whole.start <= place.range.start
                && place.range.end <= function.whole.end;
            is_own || body.is_some_and(|body| start < function.whole.start + body)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn error(text: &str, at: &str, code: &str) -> Message {
        let start = text.rfind(at).unwrap();
        let place = Place {
            file: PathBuf::from("a.rs"),
            range: start..start + at.len(),
            primary: true,
            own: true,
            ..Place::default()
        };
        Message {
            code: code.to_owned(),
            message: format!("about {at}"),
            places: vec![place],
            children: Vec::new(),
        }
    }

    fn outcome(old: &str, new: &str, before: &[(&str, &str)], after: &[(&str, &str)]) -> Outcome {
        let errors = |text: &str, list: &[(&str, &str)]| -> Vec<Message> {
            list.iter()
                .map(|(at, code)| error(text, at, code))
                .collect()
        };
        let change = Change::new(old, new.to_owned());
        let changes = Changes::from([(PathBuf::from("a.rs"), change)]);
        compare(&errors(old, before), errors(new, after), &changes)
    }

    const OLD: &str = "fn f() {\n    one(1); two(2);\n}\nfn g() {\n    three(3);\n}\n";

    #[test]
    fn an_error_is_the_same_where_its_text_moved() {
        let new = OLD.replace("one(1)", "a_longer_name(1)\n");
        let types = [("one", "E0277"), ("two", "E0277"), ("three", "E0308")];
        let found = outcome(OLD, &new, &types, &types[1..]);
        assert!(found.added.is_empty(), "{found:?}");
        assert!(found.removes(&error(OLD, "one", "E0277")));
        assert!(!found.removes(&error(OLD, "two", "E0277")));
        assert!(!found.removes(&error(OLD, "three", "E0308")));
    }

    #[test]
    fn another_message_or_place_is_another_error() {
        let new = OLD.replace("one(1)", "one(0)");
        let found = outcome(OLD, &new, &[("one", "E0277")], &[("two", "E0277")]);
        assert_eq!(found.added.len(), 1);
        let found = outcome(OLD, &new, &[("one", "E0277")], &[("one", "E0308")]);
        assert_eq!(found.added.len(), 1);
        assert!(found.removes(&error(OLD, "one", "E0277")));
    }

    #[test]
    fn an_error_that_was_hidden_counts_where_the_edit_is() {
        let new = OLD.replace("one(1)", "one(0)");
        let early = [("one", "E0425")];
        assert!(
            outcome(OLD, &new, &early, &[("three", "E0277")])
                .added
                .is_empty()
        );
        assert_eq!(
            outcome(OLD, &new, &early, &[("two", "E0277")]).added.len(),
            1
        );
        // A type error does not hide others.
        let late = [("one", "E0277")];
        assert_eq!(
            outcome(OLD, &new, &late, &[("three", "E0277")]).added.len(),
            1
        );
        assert!(
            outcome(OLD, &new, &late, &[("three", "unused_variables")])
                .added
                .is_empty()
        );
        // A signature concerns all functions.
        let new = OLD.replace("fn f()", "fn f(_: u8)");
        assert_eq!(
            outcome(OLD, &new, &early, &[("three", "E0061")])
                .added
                .len(),
            1
        );
    }
}
