//! Edits of a text, and atomic replacement of files.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use similar::{DiffTag, TextDiff};

/// A replacement for a part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

impl Edit {
    pub fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self {
            range,
            text: text.into(),
        }
    }

    /// Creates an edit that inserts text.
    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::new(at..at, text)
    }

    /// Creates an edit that removes text.
    pub fn remove(range: Range<usize>) -> Self {
        Self::new(range, "")
    }

    /// Leaves out the text at both ends that the edit does not change.
    fn trimmed(mut self, old: &str) -> Self {
        let before = &old[self.range.clone()];
        let pairs = before.chars().zip(self.text.chars());
        let start: usize = pairs
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum();
        let ends = before[start..].chars().rev();
        let end: usize = ends
            .zip(self.text[start..].chars().rev())
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum();
        self.text = self.text[start..self.text.len() - end].to_owned();
        self.range = self.range.start + start..self.range.end - end;
        self
    }

    /// Returns whether the edits overlap or touch.
    fn meets(&self, other: &Self) -> bool {
        self.range.start <= other.range.end && other.range.start <= self.range.end
    }
}

/// Adds the edits of one fix if none of them conflicts with an existing one. A fix is applied completely or not at all.
pub fn add(edits: &mut Vec<Edit>, fix: &[Edit]) -> bool {
    let free = fix
        .iter()
        .all(|new| !edits.iter().any(|edit| edit.meets(new)));
    if free {
        edits.extend_from_slice(fix);
    }
    free
}

/// Returns edits that change one text into another, one for each group of changed lines.
pub fn between(old: &str, new: &str) -> Vec<Edit> {
    let diff = TextDiff::from_lines(old, new);
    let starts = |lines: &[&str]| -> Vec<usize> {
        let mut starts = vec![0];
        starts.extend(lines.iter().scan(0, |at, line| {
            *at += line.len();
            Some(*at)
        }));
        starts
    };
    let (old_starts, new_starts) = (starts(diff.old_slices()), starts(diff.new_slices()));
    let changed = diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal);
    changed
        .map(|op| {
            let (lines, new_lines) = (op.old_range(), op.new_range());
            let text = &new[new_starts[new_lines.start]..new_starts[new_lines.end]];
            Edit::new(old_starts[lines.start]..old_starts[lines.end], text).trimmed(old)
        })
        .collect()
}

/// Applies edits that do not conflict to a text.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| edit.range.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Replaces the contents of a file, which must still be equal to `old`.
pub fn replace(file: &Path, old: &str, new: &str) -> Result<(), String> {
    let says = |error: std::io::Error| format!("{}: {error}", file.display());
    if fs::read_to_string(file).map_err(says)? != old {
        return Err(format!(
            "{} changed during the check and was skipped; run the command again",
            file.display()
        ));
    }
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".nomina-{}", std::process::id()));
    let beside = Path::new(&beside);
    let written = || -> std::io::Result<()> {
        let mut out = fs::File::create_new(beside)?;
        out.write_all(new.as_bytes())?;
        out.sync_all()?;
        fs::set_permissions(beside, fs::metadata(file)?.permissions())?;
        fs::rename(beside, file)
    };
    written().map_err(|error| {
        // Removes the partially written file. The original error is the one to report, so a failure to remove it is
        // ignored.
        let _ = fs::remove_file(beside);
        says(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_made_in_order_of_their_places() {
        let edits = [
            Edit::new(5..6, "three"),
            Edit::insert(0, "> "),
            Edit::remove(1..3),
        ];
        assert_eq!(apply("1, 2 3", &edits), "> 12 three");
    }

    #[test]
    fn the_edits_between_two_texts_are_small() {
        for (old, new) in [
            ("aäbc", "aäxbc"),
            ("aa", "aaa"),
            ("ab", ""),
            ("ä", "ö"),
            ("a\nb\r\nc\n", "a\nx\r\nc\nd"),
            ("", "a\n"),
        ] {
            assert_eq!(apply(old, &between(old, new)), new);
        }
        let found = between("f(x) + 1\n\ng\n", "f(y) + 1\n\nh\n");
        assert_eq!(found, [Edit::new(2..3, "y"), Edit::new(10..11, "h")]);
        assert!(between("a\nb", "a\nb").is_empty());
    }

    #[test]
    fn of_two_fixes_that_meet_the_first_is_made() {
        let mut edits = Vec::new();
        assert!(add(&mut edits, &[Edit::new(2..4, "a")]));
        assert!(!add(
            &mut edits,
            &[Edit::insert(9, "b"), Edit::new(3..6, "c")]
        ));
        assert!(add(&mut edits, &[Edit::insert(9, "b")]));
        assert_eq!(edits.len(), 2);
    }

    #[test]
    fn a_file_that_changed_is_left_alone() {
        let file = std::env::temp_dir().join(format!("nomina-edit-{}", std::process::id()));
        fs::write(&file, "old").unwrap();
        assert!(replace(&file, "older", "new").is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        replace(&file, "old", "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        fs::remove_file(&file).unwrap();
    }
}
