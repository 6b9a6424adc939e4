//! The required content of errors about operands that disagree.

use nomina::{ErrorKind, Result};

/// The failures of all calls.
#[derive(Default)]
pub struct Told {
    wrong: Vec<String>,
    calls: usize,
}

impl Told {
    /// Checks a typed and a dynamic call on operands that disagree about the size of a dim.
    pub fn check(
        &mut self,
        op: &str,
        dims: [(&str, usize); 2],
        typed: Result<()>,
        dynamic: Result<()>,
    ) {
        self.calls += 1;
        let texts = [("typed", typed), ("dynamic", dynamic)].map(|(form, result)| match result {
            Ok(()) => {
                self.wrong.push(format!("{op}, {form}: gives a result"));
                String::new()
            }
            Err(error) => {
                let text = error.to_string();
                let what = without_places(&text);
                let places = text[what.len()..].trim_start();
                if error.kind() != ErrorKind::Shape || !says(what, op, dims) || !placed(places) {
                    self.wrong
                        .push(format!("{op}, {form}, {:?}: {text}", error.kind()));
                }
                text
            }
        });
        if texts[0] != texts[1] {
            let [typed, dynamic] = texts;
            self.wrong
                .push(format!("typed and dynamic differ:\n  {typed}\n  {dynamic}"));
        }
    }

    /// Fails with all failures, or if the number of calls is not `calls`.
    pub fn done(self, calls: usize) {
        let all = self.wrong.join("\n");
        assert!(
            all.is_empty(),
            "{} of {}:\n{all}",
            self.wrong.len(),
            self.calls
        );
        assert_eq!(self.calls, calls);
    }
}

/// Returns whether a text begins with the operator, names the operands and their sizes of the dim,
/// and shows both operands.
fn says(text: &str, op: &str, [(a, m), (b, n)]: [(&str, usize); 2]) -> bool {
    let Some((what, operands)) = text.split_once("; dims ") else {
        return false;
    };
    let disagree = if a == b {
        let ends = |end: &str| {
            ["second", "third"]
                .iter()
                .any(|word| end == format!(" and {n} in the {word}"))
        };
        let starts =
            ["first", "second"].map(|word| format!("dim `{a}` has size {m} in the {word} operand"));
        starts.iter().any(|start| {
            what.split_once(start.as_str())
                .is_some_and(|(_, end)| ends(end))
        })
    } else {
        what.contains(&format!("dim `{a}` of the "))
            && what.contains(&format!("operand has size {m} and dim `{b}`"))
    };
    let shown = |dim: &str, size: usize| operands.contains(&format!("{dim}={size}"));
    what.starts_with(&format!("{op}: ")) && disagree && shown(a, m) && shown(b, n)
}

/// Returns a text without the lines that say where operands were made.
pub fn without_places(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Returns whether the lines say that both operands were made in this test, as they must in a debug
/// build.
fn placed(places: &str) -> bool {
    let here = |line: &str| line.contains(") was made at tests/size_errors.rs:");
    if cfg!(debug_assertions) {
        places.lines().count() >= 2 && places.lines().all(here)
    } else {
        places.is_empty()
    }
}

/// Converts typed tensors to a tuple of dynamic ones.
macro_rules! dyns {
    ($($x:ident),+ $(,)?) => { ($($x.to_dyn(),)+) };
}
pub(crate) use dyns;
