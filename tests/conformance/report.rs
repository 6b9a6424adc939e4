//! Counts and failures by operator.

use std::collections::BTreeMap;
use std::fmt::Write;

/// The number of failures shown per operator; overridden by `NOMINA_SHOW`.
const SHOWN: usize = 3;

/// The outcomes of the cases.
#[derive(Default)]
pub struct Report {
    operators: BTreeMap<String, Outcome>,
    /// The operators of cases with a documented difference from PyTorch, by reason.
    documented: BTreeMap<&'static str, Vec<String>>,
}

#[derive(Default)]
struct Outcome {
    passed: usize,
    failures: Vec<(String, String)>,
}

impl Report {
    /// Counts a passed case of `op`.
    pub fn pass(&mut self, op: &str) {
        self.operators.entry(op.to_owned()).or_default().passed += 1;
    }

    /// Counts a passed case of `op` where PyTorch's result is known to differ.
    pub fn differ(&mut self, op: &str, why: &'static str) {
        self.pass(op);
        self.documented.entry(why).or_default().push(op.to_owned());
    }

    /// Counts a failed case of `op`.
    pub fn fail(&mut self, op: &str, id: &str, what: String) {
        let outcome = self.operators.entry(op.to_owned()).or_default();
        outcome.failures.push((id.to_owned(), what));
    }

    /// Returns the number of passed cases.
    pub fn passed(&self) -> usize {
        self.operators.values().map(|outcome| outcome.passed).sum()
    }

    /// Returns the number of failed cases.
    pub fn failed(&self) -> usize {
        self.operators
            .values()
            .map(|outcome| outcome.failures.len())
            .sum()
    }

    /// Formats the failures, grouped by operator.
    pub fn by_operator(&self) -> String {
        let show = std::env::var("NOMINA_SHOW")
            .ok()
            .and_then(|n| n.parse().ok())
            .unwrap_or(SHOWN);
        let mut out = String::new();
        for (why, operators) in &self.documented {
            let count = operators.len();
            let mut operators = operators.clone();
            operators.sort();
            operators.dedup();
            let _ = writeln!(
                out,
                "{count} other than PyTorch, as documented ({}): {why}",
                operators.join(", ")
            );
        }
        let failing = |outcome: &Outcome| !outcome.failures.is_empty();
        for (op, outcome) in self.operators.iter().filter(|(_, o)| failing(o)) {
            let (passed, failed) = (outcome.passed, outcome.failures.len());
            let _ = writeln!(out, "{op}: {passed} passed, {failed} failed");
            for (id, what) in outcome.failures.iter().take(show) {
                let _ = writeln!(out, "    {id}: {what}");
            }
        }
        out
    }
}
