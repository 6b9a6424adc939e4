//! Runs the cases of a file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use nomina_by_name::Value;
use nomina_runtime::Device;

use super::case::{Case, Wanted};
use super::compare;
use super::differs;
use super::part::Part;
use super::place;
use super::report::Report;
use super::tape;

/// Runs every case of a part of a file, with its tensors on a device.
pub fn file(path: &Path, device: Device, part: Part, report: &mut Report) {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            report.fail("(file)", &path.display().to_string(), error.to_string());
            return;
        }
    };
    for (number, line) in part.lines(&text) {
        // Whether a gradient of drawn numbers agrees with PyTorch's must not depend on the draw.
        nomina_runtime::manual_seed(7);
        match Case::parse_on(line, device) {
            Ok(case) => {
                let (op, id) = (case.op.clone(), case.id.clone());
                // A panic is a failure of its case, not the end of the run.
                let outcome = catch_unwind(AssertUnwindSafe(|| match device {
                    Device::Cpu => one(case),
                    _ => on_device(case, line, device),
                }))
                .unwrap_or_else(|_| Err("panicked".to_owned()));
                match outcome {
                    Ok(None) => report.pass(&op),
                    Ok(Some(why)) => report.differ(&op, why),
                    Err(what) => report.fail(&op, &id, what),
                }
            }
            Err(what) => {
                let place = format!("{}:{number}", path.display());
                report.fail("(unreadable)", &place, what);
            }
        }
    }
}

/// Runs a case. Returns the reason of a documented difference from PyTorch.
fn one(mut case: Case) -> Result<Option<&'static str>, String> {
    case.forget_unwritten();
    if let Wanted::Gradients { .. } = case.wanted {
        return gradients(case);
    }
    let operands = names_of(&case.args);
    let got = nomina_by_name::call(&case.op, case.args, case.kwargs);
    let outcome = judge(&case.op, &operands, got, case.wanted);
    differs::judged_by_limit(&case.op, outcome)
}

fn gradients(mut case: Case) -> Result<Option<&'static str>, String> {
    let id = case.id.clone();
    let rule = differs::corrected(&mut case);
    let op = case.op.clone();
    let outcome = tape::recorded(case);
    if let (false, Some(why)) = (differs::is_listed(&id), differs::limit(&op, &outcome)) {
        return Ok(Some(why));
    }
    let listed = differs::known(&id, outcome)?;
    Ok(rule.or(listed))
}

/// Like [`one`], but on a device: new tensors must be created there, results must be there, and random numbers must
/// equal the host's.
fn on_device(mut case: Case, line: &str, device: Device) -> Result<Option<&'static str>, String> {
    case.forget_unwritten();
    if let Wanted::Gradients { .. } = case.wanted {
        let why = gradients(case)?;
        return place::found(device).map_or(Ok(why), |error| Err(format!("{error:?}")));
    }
    place::factories(&mut case, device);
    place::expect(&mut case, device);
    let leaves = place::leaves(&case);
    let operands = names_of(&case.args);
    if let Wanted::Result { random: true, .. } = case.wanted {
        place::same_numbers(&case, line)?;
    }
    let got = nomina_by_name::call(&case.op, case.args, case.kwargs);
    let (got, operands) = match (got, place::found(device)) {
        // Errors that the device reports later have no operand names.
        (Ok(_), Some(error)) => (Err(error), Vec::new()),
        (got, _) => (got, operands),
    };
    if let Ok(got) = &got
        && !leaves
    {
        place::lies_on(got, device)?;
    }
    let outcome = judge(&case.op, &operands, got, case.wanted);
    differs::judged_by_limit(&case.op, outcome)
}

fn judge(
    op: &str,
    operands: &[String],
    got: nomina_core::Result<Value>,
    wanted: Wanted,
) -> Result<(), String> {
    match (got, wanted) {
        (Ok(got), Wanted::Result { value, random }) => compare::values(op, &got, &value, random),
        (Err(error), Wanted::Error { kind }) => {
            if compare::error_word(error.kind()) != Some(kind.as_str()) {
                return Err(format!("wanted an error of kind {kind}, got {error:?}"));
            }
            // The error must name the operator and the operands' dims.
            let text = error.to_string();
            if operands.is_empty() || operands.iter().any(|name| text.contains(name.as_str())) {
                Ok(())
            } else {
                Err(format!("the error names no dim of {operands:?}: {text}"))
            }
        }
        (Ok(got), Wanted::Error { kind }) => Err(format!(
            "wanted an error of kind {kind}, got {}",
            shown(&got)
        )),
        (Err(error), _) => Err(format!("{error:?}")),
        (Ok(got), Wanted::Gradients { .. }) => Err(format!("no gradients of {}", shown(&got))),
    }
}

/// Returns the dim names of all tensors among the arguments.
fn names_of(args: &[Value]) -> Vec<String> {
    let mut names = Vec::new();
    for arg in args {
        match arg {
            Value::Tensor(x) => names.extend(x.names().iter().flatten().map(ToString::to_string)),
            Value::Sparse(x) => names.extend(x.names().iter().flatten().map(ToString::to_string)),
            Value::List(items) => names.extend(names_of(items)),
            _ => {}
        }
    }
    names
}

fn shown(value: &Value) -> String {
    match value {
        Value::Tensor(x) => format!(
            "a tensor with dims {} {:?} {}",
            x.names(),
            x.shape(),
            x.dtype()
        ),
        other => other.kind().to_owned(),
    }
}
