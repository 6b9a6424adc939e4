//! The derivatives of the table, computed by operator name, against PyTorch's recorded gradients
//! and against central differences.

#[path = "gradients/call.rs"]
mod call;
#[allow(
    dead_code,
    reason = "what is expected of a case is not read from it here"
)]
#[path = "conformance/case.rs"]
mod case;
#[path = "gradients/chains.rs"]
mod chains;
#[path = "gradients/differences.rs"]
mod differences;
#[path = "gradients/differences_of_tape.rs"]
mod differences_of_tape;
#[path = "gradients/edges.rs"]
mod edges;
#[allow(dead_code, reason = "layouts and odd values are of another test")]
#[path = "rows/inputs.rs"]
mod inputs;
#[path = "gradients/lines.rs"]
mod lines;
#[path = "gradients/lost.rs"]
mod lost;
#[cfg(all(feature = "linalg", feature = "fft"))]
#[path = "gradients/matrices.rs"]
mod matrices;
#[path = "gradients/pytorch.rs"]
mod pytorch;
#[path = "rows/recorded.rs"]
mod recorded;
#[allow(dead_code, reason = "recorded gradients are cases of `conformance`")]
#[path = "gradients/tape.rs"]
mod tape;

use nomina::DType;
use nomina_core::op::{Grad, Op};

#[test]
fn recorded_gradients() {
    let tally = pytorch::all();
    let skipped: usize = tally.skipped.values().flat_map(|rows| rows.values()).sum();
    let all = tally.passed + skipped + tally.failed.len();
    println!(
        "{} of {all} cases pass, {skipped} are of {:#?}",
        tally.passed, tally.skipped
    );
    let told = tally.failed.join("\n");
    let by: Vec<(&str, usize)> = tally
        .skipped
        .iter()
        .map(|(why, rows)| (&why[..], rows.values().sum()))
        .collect();
    let known = [
        ("a rule", 60),
        ("a view", 51),
        (pytorch::PASSES, 15),
        ("parts", 10),
    ];
    assert_eq!(by, known, "another number of cases is left out");
    assert!(
        tally.failed.is_empty(),
        "{} cases fail\n{told}",
        tally.failed.len()
    );
}

#[test]
fn central_differences_of_elementwise_rows() {
    let (mut rows, mut slopes, mut failed) = (0, 0, Vec::new());
    let lines = |op: &&Op| op.row().grad == Grad::Lines && op.row().expression().is_some();
    let all: Vec<&Op> = Op::ALL.iter().filter(lines).collect();
    for &&op in &all {
        let mut compared = 0;
        for dtype in [DType::F64, DType::C128] {
            if !op.row().dtypes.contains(dtype) {
                continue;
            }
            match differences::made(op, dtype) {
                Ok(count) => compared += count,
                Err(what) => failed.push(format!("{} of {dtype}: {what}", op.name())),
            }
        }
        rows += usize::from(compared > 0);
        slopes += compared;
    }
    println!(
        "{rows} of {} elementwise rows with lines, {slopes} slopes",
        all.len()
    );
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(rows, all.len(), "a row was not compared");
}

#[test]
fn central_differences_of_other_rows() {
    let calls = recorded::by_row();
    let (mut rows, mut slopes, mut failed, mut without) = (0, 0, Vec::new(), Vec::new());
    let all = Op::ALL.iter().copied().filter(|op| match op.row().grad {
        Grad::Lines => {
            let lines = op.row().derivative_lines();
            let rules = lines.iter().any(|(_, line)| line.contains("rule::"));
            let zero = lines.iter().all(|(_, line)| *line == "zero");
            !rules && !zero && op.row().expression().is_none()
        }
        _ => false,
    });
    let all: Vec<Op> = all.collect();
    for &op in &all {
        let mut compared = 0;
        let own = calls.get(op.name()).map_or(&[][..], Vec::as_slice);
        for (call, dtype) in own
            .iter()
            .take(4)
            .flat_map(|call| [(call, DType::F64), (call, DType::C128)])
        {
            if !op.row().dtypes.contains(dtype) {
                continue;
            }
            match differences::called(op, call, dtype) {
                Ok(count) => compared += count,
                Err(what) => failed.push(format!("{} of {dtype}, {}: {what}", op.name(), call.id)),
            }
        }
        rows += usize::from(compared > 0);
        slopes += compared;
        if compared == 0 {
            without.push(op.name());
        }
    }
    println!(
        "{rows} of {} other rows with lines, {slopes} slopes; none of {without:?}",
        all.len()
    );
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    // They take lists, need another device, or need a feature.
    let known = ["stack", "cuda", "fftshift", "ifftshift"];
    let lost: Vec<&&str> = without
        .iter()
        .filter(|name| !known.contains(name))
        .collect();
    assert!(lost.is_empty(), "no slope of {lost:?} was compared");
}

#[test]
fn gradients_at_edges() {
    let all = edges::EDGES.iter();
    let failed: Vec<String> = all
        .filter_map(|(name, operands, wanted)| edges::check(name, operands, wanted).err())
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Calls of rows with a derivative whose results do not depend on their operands.
const CONSTANT: &[&str] = &[
    // No elements, or only one.
    "shape/combinations-4",
    "counts/cumulative_trapezoid-12",
    "counts/trapezoid-12",
    "einsum/matrix_power-1",
    "sorts/median-12",
];

#[test]
fn no_gradient_is_lost() {
    let mut failed = Vec::new();
    for (name, calls) in recorded::by_row() {
        let Some(op) = Op::from_name(name) else {
            continue;
        };
        if matches!(op.row().grad, Grad::Constant) {
            continue;
        }
        let one = |call: &recorded::Call| {
            if CONSTANT.contains(&&call.id[..]) {
                return None;
            }
            let made = tape::Call {
                op,
                form: call.form,
                args: call.args.clone(),
                kwargs: call.kwargs.clone(),
            };
            let what = lost::loses(made).err()?;
            Some(format!("{}: {what}", call.id))
        };
        failed.extend(
            calls
                .iter()
                .filter_map(one)
                .map(|what| format!("{name}: {what}")),
        );
    }
    assert!(
        failed.is_empty(),
        "{} rows\n{}",
        failed.len(),
        failed.join("\n")
    );
}

#[test]
fn central_differences_of_the_tape() {
    let (mut rows, mut all, mut cases, mut failed) = (0, 0, 0, Vec::new());
    let (mut sum, mut without) = (differences_of_tape::Compared::default(), Vec::new());
    for (name, calls) in recorded::by_row() {
        let Some(op) = Op::from_name(name) else {
            continue;
        };
        let row = op.row();
        let numbers = row.dtypes.contains(DType::F64) || row.dtypes.contains(DType::C128);
        if matches!(row.grad, Grad::Constant | Grad::Never(_)) || !numbers {
            continue;
        }
        all += 1;
        let mut compared = 0;
        let fixed = calls.iter().filter(|call| !call.random);
        for (at, call) in fixed.take(differences_of_tape::CALLS).enumerate() {
            for dtype in [DType::F64, DType::C128] {
                if !row.dtypes.contains(dtype) {
                    continue;
                }
                match differences_of_tape::of_call(op, call, dtype, at % 2 == 1, at < 4) {
                    Ok(Some(found)) => {
                        compared += found.first;
                        cases += 1;
                        sum.first += found.first;
                        sum.second += found.second;
                        sum.kinks += found.kinks;
                    }
                    Ok(None) => {}
                    Err(what) => failed.push((name, format!("{dtype}, {}: {what}", call.id))),
                }
            }
        }
        rows += usize::from(compared > 0);
        if compared == 0 {
            without.push(name);
        }
    }
    println!("{rows} of {all} rows, {cases} cases, {sum:?}; none of {without:?}");
    let known = |name: &str| {
        differences_of_tape::KNOWN
            .iter()
            .any(|(own, _)| *own == name)
    };
    let told: Vec<String> = failed
        .iter()
        .filter(|(name, _)| !known(name))
        .map(|(name, what)| format!("{name} of {what}"))
        .collect();
    assert!(
        told.is_empty(),
        "{} cases fail\n{}",
        told.len(),
        told.join("\n")
    );
    let fails = |name: &&str| failed.iter().any(|(own, _)| own == name);
    let lost = without.iter().filter(|name| !known(name) && !fails(name));
    let lost: Vec<&&str> = lost.collect();
    assert!(lost.is_empty(), "nothing of {lost:?} was compared");
    let all = differences_of_tape::KNOWN.iter().map(|(name, _)| *name);
    let passing: Vec<&str> = all
        .filter(|name| !fails(name) && !without.contains(name))
        .collect();
    assert!(
        passing.is_empty(),
        "{passing:?} are compared: take them from the list"
    );
}

#[cfg(all(feature = "linalg", feature = "fft"))]
#[test]
fn central_differences_of_matrices_and_transforms() {
    let (sum, failed) = matrices::compared();
    println!("{sum:?}");
    assert!(
        failed.is_empty(),
        "{} cases fail\n{}",
        failed.len(),
        failed.join("\n")
    );
}
