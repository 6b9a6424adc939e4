//! PyTorch's recorded gradients against the derivatives of the table.

use std::collections::BTreeMap;
use std::path::Path;

use nomina_by_name::{Bound, Form, Value};
use nomina_core::op::{Op, ParamKind};

use crate::call::{run, unnamed, values};
use crate::case::{Case, Wanted};
use crate::lines::{Scope, row_of};
use crate::tape::{near, said, tensors};

/// The in-place forms of logical operators, for which PyTorch passes the gradient through
/// unchanged.
pub const PASSES: &str = "in place, where PyTorch records nothing";

/// The outcomes of the cases; skipped ones by reason and operator.
#[derive(Default)]
pub struct Tally {
    pub passed: usize,
    pub skipped: BTreeMap<String, BTreeMap<&'static str, usize>>,
    pub failed: Vec<String>,
}

pub fn all() -> Tally {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/gradients.jsonl");
    let text = std::fs::read_to_string(file).expect("recorded gradients");
    let mut tally = Tally::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (id, op, outcome) = by_lines(line);
        match outcome {
            Ok(()) => tally.passed += 1,
            Err(Outcome::Skipped(why)) => {
                *tally.skipped.entry(why).or_default().entry(op).or_default() += 1;
            }
            Err(Outcome::Failed(what)) => tally.failed.push(format!("{id}: {what}")),
        }
    }
    tally
}

pub enum Outcome {
    Skipped(String),
    Failed(String),
}

impl From<String> for Outcome {
    fn from(what: String) -> Self {
        match what.as_str() {
            "parts" | "a view" | "a rule" | "no derivative" => Self::Skipped(what),
            _ => Self::Failed(what),
        }
    }
}

/// Computes a case by the derivatives of its row.
fn by_lines(line: &str) -> (String, &'static str, Result<(), Outcome>) {
    let mut case = Case::parse(line).expect("a case");
    let wanted = std::mem::replace(
        &mut case.wanted,
        Wanted::Error {
            kind: String::new(),
        },
    );
    let Wanted::Gradients { seeds, grads } = wanted else {
        panic!("{line}");
    };
    if case.op.contains(".logical_") && case.op.ends_with('_') {
        let name = nomina_by_name::parse(&case.op)
            .expect("an operator")
            .0
            .name();
        return (case.id, name, Err(Outcome::Skipped(PASSES.into())));
    }
    let (op, form) = nomina_by_name::parse(&case.op).expect("an operator");
    let (id, name) = (case.id.clone(), op.name());
    (id, name, compare(op, form, case, &seeds, &grads))
}

fn compare(
    op: Op,
    form: Form,
    mut case: Case,
    seeds: &[Value],
    wanted: &[Value],
) -> Result<(), Outcome> {
    if matches!(op, Op::Where | Op::Polygamma) && form != Form::Function && case.args.len() > 1 {
        case.args.swap(0, 1);
    }
    case.kwargs.retain(|(name, _)| name != "out");
    let bound = said(Bound::new(op, case.args, case.kwargs))?;
    let values = values(op, &bound)?;
    let results = tensors(&run(op, &values)?);
    let mut seeds = seeds.iter().flat_map(tensors);
    let mut grads = Vec::new();
    for result in &results {
        let inexact = result.dtype().is_float() || result.dtype().is_complex();
        let seed = if inexact { seeds.next() } else { None };
        grads.push(match seed {
            Some(seed) => unnamed(&seed)?,
            None => said(result.zeros_like())?,
        });
    }
    let own = row_of(op, &values);
    let scope = Scope {
        op: own,
        values: &values,
        grads: &grads,
        results: &results,
    };
    let mut wanted = wanted.iter();
    for param in op.row().params() {
        let kind = matches!(
            param.kind,
            ParamKind::Tensor | ParamKind::Operand | ParamKind::Tensors
        );
        let value = values.iter().find(|(name, _)| *name == param.name);
        let operands = value.map_or(Vec::new(), |(_, value)| tensors(value));
        if !kind || operands.is_empty() {
            continue;
        }
        let wants: Vec<Option<&Value>> = operands.iter().map(|_| wanted.next()).collect();
        if !wants
            .iter()
            .any(|want| matches!(want, Some(Value::Tensor(_))))
        {
            continue;
        }
        let got = scope.gradients(param.name, &operands)?;
        for (got, want) in got.iter().zip(wants) {
            if let Some(Value::Tensor(want)) = want {
                near(op, got, want).map_err(|e| format!("{}: {e}", param.name))?;
            }
        }
    }
    Ok(())
}
