//! Rewrites PyTorch's overloads that a row does not have to the row's form.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result};

use super::value::Value;

type Keyword = Vec<(String, Value)>;

/// Rewrites arguments in place; arguments without a parameter are moved to `extra`.
pub(super) fn arguments(
    op: Op,
    positional: &mut Vec<Value>,
    keyword: &mut Keyword,
    extra: &mut Keyword,
) -> Result<()> {
    for (name, _) in keyword.iter_mut() {
        match (op, name.as_str()) {
            (Op::Split, "split_size_or_sections" | "split_sizes") => *name = "split_size".into(),
            (Op::Unflatten, "namedshape") => *name = "sizes".into(),
            (Op::Expand, "sizes") => *name = "size".into(),
            (Op::Dot, "other") => *name = "tensor".into(),
            (Op::Trapezoid | Op::CumulativeTrapezoid, "y") => *name = "self".into(),
            (Op::Norm, "ord") => *name = "p".into(),
            (Op::Scatter, "value") => *name = "src".into(),
            (Op::OneHot, "tensor") => *name = "self".into(),
            (Op::TakeAlongDim, "index") => *name = "indices".into(),
            (Op::Transpose, "axis0") => *name = "dim0".into(),
            (Op::Transpose, "axis1") => *name = "dim1".into(),
            (
                Op::TensorSplit | Op::Hsplit | Op::Vsplit | Op::Dsplit,
                "sections" | "indices" | "tensor_indices_or_sections",
            ) => *name = "indices_or_sections".into(),
            _ => {}
        }
    }
    match op {
        Op::Rename => rename(positional, keyword),
        Op::Flatten => flatten(positional, keyword, extra),
        Op::Var | Op::Std | Op::VarMean | Op::StdMean => unbiased(positional, keyword),
        Op::Arange => arange(positional, keyword),
        Op::BlockDiag | Op::CartesianProd | Op::Meshgrid => listed(positional),
        Op::To => to(positional, keyword),
        Op::Random => upper_alone(positional, keyword, "to", 1),
        Op::Randint => upper_alone(positional, keyword, "high", 0),
        Op::RandintLike => upper_alone(positional, keyword, "high", 1),
        Op::Max | Op::Min => return no_maximum(op, positional),
        Op::MultiDot => chain(positional, 0),
        Op::Einsum => chain(positional, 1),
        _ => {}
    }
    Ok(())
}

/// `x.rename(N="A")` passes a map, `x.rename("A", "B")` a list; `x.rename(None)` and `x.names =
/// None` drop all names.
fn rename(positional: &mut Vec<Value>, keyword: &mut Keyword) {
    let map: Vec<(Value, Value)> = keyword
        .extract_if(.., |(name, _)| name != "self" && name != "names")
        .map(|(old, new)| (Value::Str(old), new))
        .collect();
    if !map.is_empty() {
        positional.push(Value::Dict(map));
    } else if positional.len() == 1 && keyword.is_empty() {
        // A tensor without dims gets an empty list of names.
        positional.push(Value::List(Vec::new()));
    }
}

/// `x.flatten(start, end, out)` as well as `x.flatten(dims, out)`.
fn flatten(positional: &mut Vec<Value>, keyword: &mut Keyword, extra: &mut Keyword) {
    extra.extend(keyword.extract_if(.., |(name, _)| name == "start_dim" || name == "end_dim"));
    let ranged = positional
        .get(1)
        .is_some_and(|value| !matches!(value, Value::List(_)));
    if !ranged {
        return;
    }
    let mut rest = positional.split_off(1).into_iter();
    extra.extend(rest.next().map(|start| ("start_dim".to_owned(), start)));
    extra.extend(rest.next().map(|end| ("end_dim".to_owned(), end)));
    keyword.extend(rest.next().map(|out| ("out_dim".to_owned(), out)));
}

/// `x.var(True)`, `x.var(dim, False, keepdim)` and `unbiased=` pass the correction as a bool.
fn unbiased(positional: &mut Vec<Value>, keyword: &mut Keyword) {
    let as_correction = |value: &Value| match value {
        Value::Bool(unbiased) => Some(Value::Int(i64::from(*unbiased))),
        _ => None,
    };
    if let Some(correction) = positional.get(1).and_then(as_correction) {
        positional.remove(1);
        keyword.push(("correction".into(), correction));
    }
    if let Some(value) = positional.get_mut(2)
        && let Some(correction) = as_correction(value)
    {
        *value = correction;
    }
    for (name, value) in keyword {
        if name == "unbiased" {
            *name = "correction".into();
            if let Some(correction) = as_correction(value) {
                *value = correction;
            }
        }
    }
}

/// `arange(end)` starts at 0.
fn arange(positional: &mut Vec<Value>, keyword: &Keyword) {
    let has = |name: &str| keyword.iter().any(|(key, _)| key == name);
    if (positional.len() == 1 && !has("end")) || (positional.is_empty() && !has("start")) {
        positional.insert(0, Value::Int(0));
    }
}

/// `x.random_(to)`, `randint(high, size)` and `randint_like(x, high)` omit the lower bound, which
/// otherwise is at position `at`.
fn upper_alone(positional: &mut Vec<Value>, keyword: &Keyword, upper: &str, at: usize) {
    let has = |name: &str| keyword.iter().any(|(key, _)| key == name);
    let next = !matches!(positional.get(at + 1), None | Some(Value::List(_)));
    if positional.len() > at && !next && !has(upper) && !has("from") && !has("low") {
        positional.insert(at, Value::Int(0));
    }
}

/// `x.to(dtype)`, `x.to(device)`, `x.to(device, dtype)` and `x.to(other)`.
fn to(positional: &mut Vec<Value>, keyword: &mut Keyword) {
    for value in positional.split_off(positional.len().min(1)) {
        match value {
            Value::Tensor(x) => {
                keyword.push(("dtype".into(), Value::DType(x.dtype())));
                keyword.push(("device".into(), Value::Device(x.device())));
            }
            Value::DType(_) => keyword.push(("dtype".into(), value)),
            // Ignores `non_blocking` and `copy`.
            Value::Bool(_) => {}
            _ => keyword.push(("device".into(), value)),
        }
    }
}

/// `chain_matmul(a, b, c)` and `einsum(equation, a, b)` pass their tensors as separate arguments.
fn chain(positional: &mut Vec<Value>, from: usize) {
    if matches!(positional.get(from), Some(Value::Tensor(_))) {
        let tensors = positional.split_off(from);
        positional.push(Value::List(tensors));
    }
}

/// `max(a, b)` is a different operator.
fn no_maximum(op: Op, positional: &[Value]) -> Result<()> {
    if !matches!(positional.get(1), Some(Value::Tensor(_))) {
        return Ok(());
    }
    let what = "the second argument is a tensor, not a dim";
    Err(Error::new(ErrorKind::Argument, op.name(), what)
        .hint(format!("`{}imum` compares two tensors", op.name())))
}

/// `meshgrid(x, y)` as well as `meshgrid([x, y])`.
fn listed(positional: &mut Vec<Value>) {
    if matches!(positional.first(), Some(Value::Tensor(_))) {
        *positional = vec![Value::List(std::mem::take(positional))];
    }
}
