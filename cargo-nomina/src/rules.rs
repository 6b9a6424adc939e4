//! The edit that fixes each compiler message.
//!
//! A rule recognizes a message by its first line. It derives its edit from the message and from the source at the place
//! that rustc points at, never from programs that it has seen.

mod bounds;
mod broadcast;
mod dtype;
mod index;
mod join;
mod macros;
mod mismatch;
mod missing;
mod order;
mod size;
mod text;
mod twice;

use crate::edit::{self, Edit};
use crate::message::{self, Message, Place};
use crate::source::{Call, Part, Source, is_rust};

/// A rule: the message's first line, with `{}` for variable parts, and the function that makes the edits.
pub struct Rule {
    pub message: &'static str,
    make: fn(&Site<'_>, &[&str]) -> Option<Vec<Edit>>,
    /// Whether the message determines the fix without doubt.
    sure: bool,
}

const fn sure(message: &'static str, make: fn(&Site<'_>, &[&str]) -> Option<Vec<Edit>>) -> Rule {
    Rule {
        message,
        make,
        sure: true,
    }
}

const fn guess(message: &'static str, make: fn(&Site<'_>, &[&str]) -> Option<Vec<Edit>>) -> Rule {
    Rule {
        message,
        make,
        sure: false,
    }
}

/// The fix of one message.
#[derive(Clone, Debug)]
pub struct Fix {
    pub edits: Vec<Edit>,
    /// Whether the rule determines the fix without doubt.
    pub sure: bool,
}

/// Returns all rules; if several match a message, the first that makes an edit is tried first.
fn tables() -> impl Iterator<Item = &'static Rule> {
    [
        bounds::RULES,
        broadcast::RULES,
        missing::RULES,
        twice::RULES,
        order::RULES,
        size::RULES,
        dtype::RULES,
        index::RULES,
        join::RULES,
        mismatch::RULES,
        macros::dims::RULES,
        macros::tensor::RULES,
        macros::einsum::RULES,
        macros::fuse::RULES,
        macros::relations::RULES,
    ]
    .into_iter()
    .flatten()
}

/// Returns the fixes of a message, the likeliest first: one of each rule that makes an edit.
pub fn fixes(message: &Message, source: &Source) -> Vec<Fix> {
    let Some(place) = message.place() else {
        return Vec::new();
    };
    let site = Site {
        message,
        source,
        at: place.range.clone(),
    };
    let mut fixes: Vec<Fix> = Vec::new();
    for rule in tables() {
        let edits = message::matches(rule.message, &message.message)
            .and_then(|holes| (rule.make)(&site, &holes))
            .filter(|edits| !edits.is_empty() && parses(source, edits));
        let Some(edits) = edits else { continue };
        if !fixes.iter().any(|fix| fix.edits == edits) {
            let sure = rule.sure;
            fixes.push(Fix { edits, sure });
        }
    }
    fixes
}

/// Returns whether the source, if it parsed before, still parses with these edits; a fix that breaks it is discarded.
fn parses(source: &Source, edits: &[Edit]) -> bool {
    source.unread.is_some() || is_rust(&edit::apply(&source.text, edits))
}

/// A message with its source.
pub struct Site<'s> {
    pub message: &'s Message,
    pub source: &'s Source,
    /// The range that rustc points at.
    pub at: Part,
}

impl Site<'_> {
    fn text(&self) -> &str {
        self.source.at(&self.at)
    }

    fn part(&self, part: &Part) -> &str {
        self.source.at(part)
    }

    /// Returns a part's text without its leading `&`, in parentheses if a method call needs them.
    fn operand(&self, part: &Part) -> String {
        let text = self.part(&self.source.bare(part));
        let simple =
            !text.starts_with(['-', '!', '*', '|'])
                && !self.source.found.binaries.iter().any(|b| {
                    b.left.start == self.source.bare(part).start && b.right.end == part.end
                });
        if simple {
            text.to_owned()
        } else {
            format!("({text})")
        }
    }

    fn call(&self) -> Option<&Call> {
        self.source.call(&self.at)
    }

    /// Returns the call whose range is exactly the one that rustc points at.
    fn whole_call(&self) -> Option<&Call> {
        let mut calls = self.source.found.calls.iter();
        calls.find(|call| call.whole == self.at)
    }

    /// Returns the call that rustc points at, with its receiver.
    fn method(&self) -> Option<(&Call, &Part)> {
        let call = self.call()?;
        Some((call, call.receiver.as_ref()?))
    }

    fn name(&self, call: &Call) -> &str {
        self.part(&call.name)
    }

    #[allow(clippy::unnecessary_wraps)]
    fn write(&self, text: impl Into<String>) -> Option<Vec<Edit>> {
        Some(vec![Edit::new(self.at.clone(), text)])
    }

    /// Calls a method on an expression before other operations on it: `&x` becomes `&x.to::<f32>()`.
    fn then(&self, part: &Part, method: &str) -> Vec<Edit> {
        let bare = self.source.bare(part);
        vec![Edit::new(
            bare.clone(),
            format!("{}.{method}", self.operand(&bare)),
        )]
    }

    /// Returns the user's function with the bound that is not met, if it is on one.
    fn helper(&self) -> Option<&str> {
        let note = self.message.note("required by a bound in")?;
        let name = message::code(&note.message)?;
        let place = note.places.iter().find(|place| place.primary)?;
        (place.own && !name.contains("nomina::")).then_some(name)
    }

    /// Returns whether the function that rustc quotes belongs to nomina.
    fn calls_ours(&self) -> bool {
        let ours = |place: &Place| !place.own && place.file.iter().any(|part| part == "tensor");
        let note = self.message.note("defined here");
        note.is_some_and(|note| note.places.iter().any(ours))
    }

    /// Returns the argument or receiver of a call that has these dims.
    fn with_dims(&self, call: &Call, dims: &[String]) -> Option<Part> {
        let parts = call.args.iter().chain(&call.receiver);
        parts
            .flat_map(|part| self.elements(part))
            .find(|part| self.source.dims_of(part).as_deref() == Some(dims))
    }

    /// Returns the elements of a tuple or an array, or else the part itself.
    fn elements(&self, part: &Part) -> Vec<Part> {
        let bare = self.source.bare(part);
        match self.source.found.lists.iter().find(|l| l.whole == bare) {
            Some(list) => list.items.clone(),
            None => vec![part.clone()],
        }
    }

    /// Returns the range of a dim in a part: the last identifier of its name, with the path before it.
    fn named(&self, part: &Part, dim: &str) -> Option<Part> {
        let text = self.part(part);
        let word = text::words_of(text)
            .into_iter()
            .rfind(|word| text[word.clone()] == *dim)?;
        let head = text[..word.start].len()
            - text[..word.start]
                .trim_end_matches(|c: char| c == ':' || c == '_' || c.is_alphanumeric())
                .len();
        Some(part.start + word.start - head..part.start + word.end)
    }

    /// Returns an unused dim: a declared one that is not in `taken`, or a new one named after `like`.
    fn fresh(&self, taken: &[String], like: &str) -> Option<(String, Vec<Edit>)> {
        let declared = self.source.declared();
        if let Some(free) = declared.iter().find(|dim| !taken.contains(dim)) {
            return Some((free.clone(), Vec::new()));
        }
        let new = format!("{like}Part");
        Some((new.clone(), self.declare(&new)?))
    }

    /// Declares a dim in the first `dims!` of the source; makes no edit if it is declared.
    fn declare(&self, dim: &str) -> Option<Vec<Edit>> {
        if self.source.declared().iter().any(|known| known == dim) {
            return Some(Vec::new());
        }
        let found = self.source.found.macros.iter().find(|m| m.name == "dims")?;
        let inner = self.part(&found.inner).trim_end();
        let comma = if inner.ends_with(',') || inner.is_empty() {
            ""
        } else {
            ","
        };
        Some(vec![Edit::insert(
            found.inner.start + inner.len(),
            format!("{comma} {dim}"),
        )])
    }

    /// Removes an item of a list, with the comma before it or else the one after it.
    fn remove_item(&self, item: &Part) -> Vec<Edit> {
        let (before, after) = (
            &self.source.text[..item.start],
            &self.source.text[item.end..],
        );
        if let Some(rest) = before.trim_end().strip_suffix(',') {
            return vec![Edit::remove(rest.len()..item.end)];
        }
        let rest = after.trim_start();
        let gone = match rest.strip_prefix(',') {
            Some(rest) => after.len() - rest.trim_start().len(),
            None => 0,
        };
        vec![Edit::remove(item.start..item.end + gone)]
    }
}

#[cfg(test)]
mod tests;
