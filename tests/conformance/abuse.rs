//! Nonsensical arguments: each must give an error, never a panic.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use nomina_by_name::Value;
use nomina_runtime::{Device, DynTensor};

use super::case::Case;
use super::part::Part;
use super::place;

/// The maximum number of cases per operator.
const CASES: usize = 6;

fn nasty(device: Device) -> Vec<Value> {
    let on = DynTensor::options().device(device);
    let none = on.zeros(&[0], ()).expect("a tensor without elements");
    let square = on.ones(&[2, 2], ["N", "C"]).expect("a small tensor");
    vec![
        Value::Int(i64::MAX),
        Value::Int(i64::MIN),
        Value::Int(-1),
        Value::Float(f64::NAN),
        Value::Bool(true),
        Value::Str(String::new()),
        Value::Str("N".into()),
        Value::Ellipsis,
        Value::None,
        Value::List(Vec::new()),
        Value::List(vec![Value::Int(-1), Value::Int(i64::MAX)]),
        Value::List(vec![Value::Str("N".into()), Value::Int(0)]),
        Value::List(vec![Value::Ellipsis, Value::Ellipsis]),
        Value::Dict(vec![(Value::Int(1), Value::None)]),
        Value::Tensor(none),
        Value::Tensor(square.clone()),
        Value::List(vec![Value::Tensor(square)]),
    ]
}

/// Returns the calls that panic when each argument in turn is replaced by each invalid value;
/// tensors are on a device.
pub fn panics(path: &Path, device: Device, part: Part) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    let nasty = nasty(device);
    for case in part
        .lines(&text)
        .filter_map(|(_, line)| Case::parse_on(line, device).ok())
    {
        let count = taken.entry(case.op.clone()).or_default();
        *count += 1;
        if *count > CASES || nomina_by_name::parse(&case.op).is_none() {
            continue;
        }
        for value in &nasty {
            for at in 0..=case.args.len() + case.kwargs.len() {
                let (mut args, mut kwargs) = (case.args.clone(), case.kwargs.clone());
                match at.checked_sub(args.len()) {
                    None => args[at] = value.clone(),
                    Some(at) if at < kwargs.len() => kwargs[at].1 = value.clone(),
                    Some(_) => args.push(value.clone()),
                }
                let call = || {
                    let _ = nomina_by_name::call(&case.op, args, kwargs);
                    let _ = place::found(device);
                };
                if catch_unwind(AssertUnwindSafe(call)).is_err() {
                    found.push(format!("{} with {value:?} as argument {at}", case.id));
                }
            }
        }
    }
    found
}
