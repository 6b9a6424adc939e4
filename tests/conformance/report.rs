//! Counts and failures by operator.

use std::collections::BTreeMap;
use std::fmt::Write;

/// How many failures of an operator are shown; `NOMINA_SHOW` sets another number.
const SHOWN: usize = 3;

/// What became of the cases.
#[derive(Default)]
pub struct Report {
    operators: BTreeMap<String, Outcome>,
    /// The operators of the cases that differ from PyTorch as documented, by the reason.
    documented: BTreeMap<&'static str, Vec<String>>,
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

    /// A case of `op` passed, where PyTorch's own answer is known to be another.
    pub fn differ(&mut self, op: &str, why: &'static str) {
        self.pass(op);
        self.documented.entry(why).or_default().push(op.to_owned());
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

    /// The failures, by operator.
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
