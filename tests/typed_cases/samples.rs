//! Typed = dynamic: for every row and every dtype it lists, a recorded call is converted to the
//! dtype, computed by the dynamic entry, and written as a case.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use nomina::{DType, DynTensor, Scalar};
use nomina_by_name::Value;
use nomina_core::op::{Class, Op};
use serde_json::{Value as Json, json};

use crate::select::{Recorded, tensors_in};

/// Returns the file that the samples are written to.
fn file() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("typed_samples.jsonl")
}

/// Writes a sample for each row and dtype, and returns the file.
pub fn write(recorded: &[Recorded]) -> PathBuf {
    let mut out = String::new();
    let mut done: BTreeSet<(Op, u16)> = BTreeSet::new();
    for one in recorded.iter().filter(|one| one.is_result()) {
        let Some((op, _)) = nomina_by_name::parse(&one.case.op) else {
            continue;
        };
        let random = op.row().class == Class::Random;
        if random || one.case.kwargs.iter().any(|(name, _)| name == "out") {
            continue;
        }
        for dtype in op.row().dtypes.iter() {
            if matches!(dtype, DType::F32 | DType::F64) || done.contains(&(op, dtype as u16)) {
                continue;
            }
            if let Some(line) = sample(one, dtype) {
                out += &line;
                out.push('\n');
                done.insert((op, dtype as u16));
            }
        }
    }
    let path = file();
    let mut file = std::fs::File::create(&path).expect("a writable target folder");
    file.write_all(out.as_bytes())
        .expect("a writable target folder");
    path
}

/// Returns a call in another dtype, with the result of the dynamic entry; `None` if that fails.
fn sample(one: &Recorded, dtype: DType) -> Option<String> {
    let case = &one.case;
    let convert = |value: &Value| converted(value, dtype);
    let args: Option<Vec<Value>> = case.args.iter().map(convert).collect();
    let kwargs: Option<Vec<(String, Value)>> = case
        .kwargs
        .iter()
        .map(|(name, value)| Some((name.clone(), convert(value)?)))
        .collect();
    let (args, kwargs) = (args?, kwargs?);
    let mut tensors = Vec::new();
    args.iter().for_each(|arg| tensors_in(arg, &mut tensors));
    if tensors.is_empty() {
        return None;
    }
    let result = nomina_by_name::call(&case.op, args.clone(), kwargs.clone()).ok()?;
    let kwargs: serde_json::Map<String, Json> = kwargs
        .iter()
        .map(|(name, value)| Some((name.clone(), text(value)?)))
        .collect::<Option<_>>()?;
    let args = args.iter().map(text).collect::<Option<Vec<Json>>>()?;
    let line = json!({
        "op": case.op, "id": format!("{} as {dtype}", case.id),
        "args": args, "kwargs": kwargs, "result": text(&result)?,
    });
    Some(line.to_string())
}

fn converted(value: &Value, dtype: DType) -> Option<Value> {
    Some(match value {
        Value::Tensor(x) => Value::Tensor(x.to_dtype(dtype).ok()?),
        Value::List(items) => {
            let items = items.iter().map(|item| converted(item, dtype));
            Value::List(items.collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

/// Converts a value to JSON in the format of the case files.
fn text(value: &Value) -> Option<Json> {
    Some(match value {
        Value::Tensor(x) => json!({ "tensor": tensor(x) }),
        Value::Int(v) => json!({ "int": v }),
        Value::Float(v) => json!({ "float": float(*v) }),
        Value::Bool(v) => json!({ "bool": v }),
        Value::Complex(v) => json!({ "complex": [float(v.re), float(v.im)] }),
        Value::Str(v) => json!({ "str": v }),
        Value::Ellipsis => json!({ "ellipsis": true }),
        Value::None => json!({ "none": true }),
        Value::DType(v) => json!({ "dtype": v.to_string() }),
        Value::Device(v) => json!({ "device": v.to_string() }),
        Value::List(items) => {
            json!({ "list": items.iter().map(text).collect::<Option<Vec<_>>>()? })
        }
        Value::Dict(pairs) => {
            let pair = |(key, value): &(Value, Value)| Some(json!([text(key)?, text(value)?]));
            json!({ "dict": pairs.iter().map(pair).collect::<Option<Vec<_>>>()? })
        }
        #[allow(unreachable_patterns, reason = "kinds of values that no case has")]
        _ => return None,
    })
}

fn tensor(x: &DynTensor) -> Json {
    let names: Vec<Json> = x
        .names()
        .iter()
        .map(|name| {
            name.as_ref()
                .map_or(Json::Null, |name| json!(name.as_str()))
        })
        .collect();
    let data: Vec<Json> = x.raw().scalars().map(number).collect();
    json!({ "names": names, "shape": x.shape(), "dtype": x.dtype().to_string(), "data": data })
}

fn number(value: Scalar) -> Json {
    match value {
        Scalar::Bool(v) => json!(v),
        Scalar::Int(v) => json!(v),
        Scalar::Float(v) => float(v),
        Scalar::Complex(v) => json!([float(v.re), float(v.im)]),
    }
}

fn float(value: f64) -> Json {
    if value.is_nan() {
        json!("nan")
    } else if value.is_infinite() {
        json!(if value > 0.0 { "inf" } else { "-inf" })
    } else {
        json!(value)
    }
}
