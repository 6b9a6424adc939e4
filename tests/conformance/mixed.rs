//! Operands on two devices give an error that names both devices, wherever PyTorch refuses them.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use nomina_by_name::Value;
use nomina_core::ErrorKind;
use nomina_runtime::Device;

use super::case::{Case, Wanted};
use super::part::Part;
use super::place;

/// The maximum number of cases per operator.
const CASES: usize = 6;

/// Operators that use only the sizes or dtype of an operand, or that copy from any device.
const FREE: &[&str] = &[
    "align_as",
    "copy_",
    "expand_as",
    "is_same_size",
    "refine_names",
    "reshape_as",
    "resize_as_",
    "sparse_coo_tensor",
    "type_as",
    "view_as",
];

/// Leaves one operand of each call on the host. Returns the calls without the expected error, and
/// the number of calls.
pub fn failures(path: &Path, device: Device, part: Part) -> (Vec<String>, usize) {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let (mut found, mut calls) = (Vec::new(), 0);
    for (_, line) in part.lines(&text) {
        let (Ok(case), Ok(host)) = (Case::parse_on(line, device), Case::parse(line)) else {
            continue;
        };
        let count = taken.entry(case.op.clone()).or_default();
        let tensors = tensors(&case);
        if tensors < 2 || *count == CASES || matches!(case.wanted, Wanted::Error { .. }) {
            continue;
        }
        *count += 1;
        let name = case.op.rsplit('.').next().unwrap_or_default();
        if FREE.contains(&name) {
            continue;
        }
        for left in 0..tensors {
            let (mut args, mut kwargs) = (case.args.clone(), case.kwargs.clone());
            let mut at = 0;
            let mut number = false;
            let both = args.iter_mut().chain(kwargs.iter_mut().map(|(_, v)| v));
            let from = host.args.iter().chain(host.kwargs.iter().map(|(_, v)| v));
            for (to, from) in both.zip(from) {
                leave(to, from, left, &mut at, &mut number);
            }
            calls += 1;
            let call = || {
                let got = nomina_by_name::call(&case.op, args, kwargs);
                place::found(device).map_or(got, Err)
            };
            let told = match catch_unwind(AssertUnwindSafe(call)) {
                Err(_) => "panicked".to_owned(),
                Ok(Ok(_)) if number => continue,
                Ok(Ok(_)) => "took both".to_owned(),
                Ok(Err(error)) => {
                    let text = error.to_string();
                    let says = |word: &str| text.contains(word);
                    let ours = says("`cpu`") && says(&format!("`{device}`")) && says("to_device");
                    if error.kind() == ErrorKind::Device && ours {
                        continue;
                    }
                    text
                }
            };
            found.push(format!(
                "{} with tensor {left} on the host: {told}",
                case.id
            ));
        }
    }
    (found, calls)
}

fn tensors(case: &Case) -> usize {
    let kwargs = case.kwargs.iter().map(|(_, value)| value);
    case.args.iter().chain(kwargs).map(count).sum()
}

fn count(value: &Value) -> usize {
    match value {
        Value::Tensor(_) | Value::Sparse(_) => 1,
        Value::List(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

/// Replaces the device tensor of index `left` by the host's, and sets `number` to whether it has no
/// dims.
fn leave(to: &mut Value, from: &Value, left: usize, at: &mut usize, number: &mut bool) {
    match (to, from) {
        (Value::List(to), Value::List(from)) => {
            for (to, from) in to.iter_mut().zip(from) {
                leave(to, from, left, at, number);
            }
        }
        (to @ (Value::Tensor(_) | Value::Sparse(_)), from) => {
            if *at == left {
                to.clone_from(from);
                *number = matches!(from, Value::Tensor(x) if x.rank() == 0);
            }
            *at += 1;
        }
        _ => {}
    }
}
