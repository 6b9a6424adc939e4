//! Counts and failures by operator.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// How many failures of an operator are shown; `NOMINA_SHOW` sets another number.
const SHOWN: usize = 3;

/// What became of the cases.
#[derive(Default)]
pub struct Report {
    operators: BTreeMap<String, Outcome>,
}

#[derive(Default)]
struct Outcome {
    passed: usize,
    failures: Vec<(String, String)>,
}

impl Report {
    /// A case of `op` passed.
    pub fn pass(&mut self, op: &str) {
        self.operators.entry(op.to_owned()).or_default().passed += 1;
    }

    /// A case of `op` failed.
    pub fn fail(&mut self, op: &str, id: &str, what: String) {
        let outcome = self.operators.entry(op.to_owned()).or_default();
        outcome.failures.push((id.to_owned(), what));
    }

    /// How many cases passed.
    pub fn passed(&self) -> usize {
        self.operators.values().map(|outcome| outcome.passed).sum()
    }

    /// How many cases failed.
    pub fn failed(&self) -> usize {
        self.operators
            .values()
            .map(|outcome| outcome.failures.len())
            .sum()
    }

    /// The failures: in full for built operators, in one line for pending ones.
    pub fn by_operator(&self, pending: &BTreeSet<String>) -> String {
        let show = std::env::var("NOMINA_SHOW")
            .ok()
            .and_then(|n| n.parse().ok())
            .unwrap_or(SHOWN);
        let mut out = String::new();
        let mut waiting = Vec::new();
        for (op, outcome) in self
            .operators
            .iter()
            .filter(|(_, o)| !o.failures.is_empty())
        {
            if pending.contains(op) {
                waiting.push(format!("{op} {}", outcome.failures.len()));
                continue;
            }
            let (passed, failed) = (outcome.passed, outcome.failures.len());
            let _ = writeln!(out, "{op}: {passed} passed, {failed} failed");
            for (id, what) in outcome.failures.iter().take(show) {
                let _ = writeln!(out, "    {id}: {what}");
            }
        }
        if !waiting.is_empty() {
            let _ = writeln!(out, "pending, with failures: {}", waiting.join(", "));
        }
        out
    }

    /// Why the run is not as it should be; empty when it is.
    pub fn verdict(&self, pending: &BTreeSet<String>) -> Vec<String> {
        let mut lines = Vec::new();
        for (op, outcome) in &self.operators {
            match (pending.contains(op), outcome.failures.len()) {
                (false, failed @ 1..) => {
                    lines.push(format!("{op} is not pending, but fails {failed}"))
                }
                (true, 0) => lines.push(format!("{op} is pending, but passes: strike it off")),
                _ => {}
            }
        }
        let unknown = pending
            .iter()
            .filter(|op| !self.operators.contains_key(*op));
        lines.extend(unknown.map(|op| format!("{op} is pending, but no case is of it")));
        lines
    }
}
