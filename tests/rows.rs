//! One test body for every row of the table and every dtype it lists.
//!
//! The inputs are those of recorded calls of PyTorch, converted to the dtype. The test checks the
//! names of the result, its values against those in `f64`, the same call in place and with an out
//! tensor, on strided inputs, on empty inputs, on NaN and infinities; and that unsupported
//! arguments give an error that names the operator.

#[allow(
    dead_code,
    reason = "what is expected of a case is not read from it here"
)]
#[path = "conformance/case.rs"]
mod case;
#[path = "rows/inputs.rs"]
mod inputs;
#[path = "rows/near.rs"]
mod near;
#[path = "rows/one.rs"]
mod one;
#[path = "rows/recorded.rs"]
mod recorded;
#[path = "rows/reference.rs"]
mod reference;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use nomina::DType;
use nomina_core::op::{self, Class, Op, Row, Status};

/// Rows without a recorded call, with the reason.
const UNRECORDED: &[(&str, &str)] = &[("cuda", "an error without a GPU")];

/// The number of recorded calls of a row used for each dtype.
const CALLS: usize = 3;

fn is_covered(row: &Row) -> bool {
    // Operands of the sparse family are not `DynTensor`s.
    let sparse = op::families().any(|(family, rows)| {
        family == "sparse" && rows.iter().any(|other| other.name == row.name)
    });
    row.status == Status::Built && row.is_recorded() && row.class != Class::Query && !sparse
}

/// Returns all failures of a row, grouped by check.
fn row(op: Op, calls: &[recorded::Call]) -> Vec<String> {
    let mut failures = Vec::new();
    for dtype in DType::ALL {
        let takes = op.row().dtypes.contains(dtype);
        for call in calls.iter().take(CALLS) {
            let checked = catch_unwind(AssertUnwindSafe(|| {
                if takes {
                    one::taken(op, call, dtype)
                } else {
                    one::refused(op, call, dtype)
                }
            }));
            let failed = checked.unwrap_or_else(|_| Err("panicked".into()));
            failures.extend(
                failed
                    .err()
                    .map(|what| format!("{dtype}, {}: {what}", call.id)),
            );
        }
    }
    failures
}

#[test]
fn every_row_in_every_dtype() {
    let only = std::env::var("NOMINA_ROW").ok();
    let calls = recorded::by_row();
    let mut failures: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut checked = 0;
    for &op in Op::ALL {
        let name = op.name();
        if !is_covered(op.row()) || only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let failed = match calls.get(name) {
            Some(calls) => row(op, calls),
            None if UNRECORDED.iter().any(|(row, _)| *row == name) => continue,
            None => vec!["no recorded call".to_owned()],
        };
        checked += 1;
        if !failed.is_empty() {
            failures.insert(name, failed);
        }
    }
    println!("{checked} rows");
    let show = std::env::var("NOMINA_SHOW")
        .ok()
        .and_then(|n| n.parse().ok());
    let told: String = failures
        .iter()
        .map(|(row, failed)| {
            let shown = failed.iter().take(show.unwrap_or(2));
            let lines: String = shown.map(|line| format!("\n    {line}")).collect();
            format!("{row}: {} failures{lines}\n", failed.len())
        })
        .collect();
    assert!(failures.is_empty(), "{} rows fail\n{told}", failures.len());
}
