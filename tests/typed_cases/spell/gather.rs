//! Indexing: by position, by index tensors, by masks.

use nomina_by_name::{Form, Value};
use nomina_core::op::Op;

use super::{camel, value};
use crate::translate::{Call, Not, Own, Words, inexpressible, missing};
use crate::words::tuple;

/// Returns the typed form, if it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    let dim = |param: &str| match call.bound.get(param) {
        Some(dim) => call.dim(dim),
        None => call.dim(&Value::Int(0)),
    };
    let method = |name: &str, arguments: &[String]| call.method(name, arguments).map(Some);
    match call.op {
        Op::IndexSelect | Op::Gather => {
            method(call.op.name(), &[dim("dim")?, value(call, "index")?])
        }
        Op::IndexFill => {
            let arguments = [dim("dim")?, value(call, "index")?, value(call, "value")?];
            if matches!(call.bound.get("value"), Some(Value::Tensor(_))) {
                return inexpressible("a tensor where a number stands");
            }
            method("index_fill", &arguments)
        }
        Op::Scatter => {
            let arguments = [dim("dim")?, value(call, "index")?, value(call, "src")?];
            with(call, arguments.into(), &[("reduce", "ScatterOptions")])
        }
        Op::ScatterAdd => {
            let arguments = [dim("dim")?, value(call, "index")?, value(call, "src")?];
            method("scatter_add", &arguments)
        }
        Op::ScatterReduce | Op::IndexReduce => {
            let src = if call.op == Op::ScatterReduce {
                "src"
            } else {
                "source"
            };
            let arguments = [
                dim("dim")?,
                value(call, "index")?,
                value(call, src)?,
                reduction(call)?,
            ];
            let options = [("include_self", "ScatterReduceOptions")];
            with(call, arguments.into(), &options)
        }
        Op::IndexAdd | Op::IndexCopy => {
            let arguments = [dim("dim")?, value(call, "index")?, value(call, "source")?];
            with(call, arguments.into(), &[("alpha", "IndexAddOptions")])
        }
        Op::Index => method("index", &[points(call)?]),
        Op::IndexPut => {
            let arguments = [points(call)?, value(call, "values")?];
            with(call, arguments.into(), &[("accumulate", "IndexPutOptions")])
        }
        Op::Put => {
            let arguments = [value(call, "index")?, value(call, "source")?];
            with(call, arguments.into(), &[("accumulate", "IndexPutOptions")])
        }
        Op::Take => method("take", &[value(call, "index")?]),
        Op::TakeAlongDim if call.given("dim").is_none() => inexpressible("no dim to take along"),
        Op::TakeAlongDim => method("take_along_dim", &[value(call, "indices")?, dim("dim")?]),
        Op::Nonzero if call.given("as_tuple").is_some() => inexpressible("columns of indices"),
        Op::Embedding => {
            let Some(Value::Tensor(weight)) = call.bound.get("weight") else {
                return missing("no weight");
            };
            let Some(Some(rows)) = weight.names().first() else {
                return inexpressible("a position of a dim without a name");
            };
            let (weight, ids) = (call.variable(weight), value(call, "input")?);
            Ok(Some(format!(
                "give({weight}.try_embedding({rows}, {ids})?)"
            )))
        }
        Op::OneHot => inexpressible("a new dim without a name"),
        Op::UnravelIndex => {
            let Some(shape) = call.bound.get("shape").and_then(sizes) else {
                return missing("no shape");
            };
            Ok(Some(format!("give(x0.try_unravel_index(&{shape})?)")))
        }
        Op::SelectScatter => {
            let index = match call.bound.get("index") {
                Some(Value::Int(index)) => index.to_string(),
                _ => return missing("no index"),
            };
            method("select_scatter", &[value(call, "src")?, dim("dim")?, index])
        }
        Op::SliceScatter => {
            let size = slice_size(call)?;
            let end = |param: &str, default: i64| match call.given(param) {
                Some(Value::Int(end)) => *end,
                _ => default,
            };
            let (start, stop) = (end("start", 0), end("end", size));
            if start.abs() > size || stop.abs() > size {
                return inexpressible("a range that leaves the dim");
            }
            let step = end("step", 1);
            let range = format!("{}.i({start}..{stop}).step({step})", dim("dim")?);
            method("slice_scatter", &[value(call, "src")?, range])
        }
        Op::DiagonalScatter => {
            let number = |param: &str| match call.given(param) {
                Some(Value::Int(at)) => *at,
                _ => i64::from(param == "dim2"),
            };
            let dim = |param: &str| match call.given(param) {
                Some(dim) => call.dim(dim),
                None => call.dim(&Value::Int(number(param))),
            };
            let offset = number("offset").to_string();
            let arguments = [value(call, "src")?, offset, dim("dim1")?, dim("dim2")?];
            method("diagonal_scatter", &arguments)
        }
        Op::At => match call.bound.get("indices") {
            Some(Value::List(pairs)) => {
                let pairs = pairs.iter().map(|pair| subscript(call, pair));
                method("at", &[tuple(pairs.collect::<Result<Vec<_>, _>>()?)])
            }
            _ => inexpressible("arguments that the signature does not take"),
        },
        _ => Ok(None),
    }
}

/// Writes the method, or its form with options if one of `options` is given.
fn with(call: &Call<'_>, mut arguments: Vec<String>, options: &[(&str, &str)]) -> Own {
    let name = call.op.name();
    for (field, options) in options {
        let given = match call.given(field) {
            None => continue,
            Some(Value::Str(_)) => format!("Some({})", reduction(call)?),
            Some(value) => format!("opt({})", call.operand(value)?),
        };
        if call.out {
            return inexpressible("options and an out tensor");
        }
        arguments.push(format!("{options} {{ {field}: {given} }}"));
        return match call.form {
            Form::InPlace => {
                let (own, arguments) = ("x0", arguments.join(", "));
                Ok(Some(format!(
                    "{own}.try_{name}_with_({arguments})?; give({own})"
                )))
            }
            _ => call.method(&format!("{name}_with"), &arguments).map(Some),
        };
    }
    call.method(name, &arguments).map(Some)
}

fn reduction(call: &Call<'_>) -> Words {
    match call.bound.get("reduce") {
        Some(Value::Str(name)) => Ok(format!(
            "ScatterReduce::{}",
            match name.as_str() {
                "add" => "Sum".to_owned(),
                "multiply" => "Prod".to_owned(),
                name => camel(name),
            }
        )),
        _ => missing("no reduction"),
    }
}

/// Writes `(N.i(&x1), C.i(&x2))`.
fn points(call: &Call<'_>) -> Words {
    let Some(Value::List(indices)) = call.bound.get("indices") else {
        return missing("no indices");
    };
    let mut given = Vec::new();
    for (dim, index) in indices.iter().enumerate() {
        match index {
            Value::Tensor(x) if x.dtype() == nomina::DType::Bool => {
                return inexpressible("a mask over several dims");
            }
            Value::Tensor(x) => {
                let name = call.dim(&Value::Int(dim as i64))?;
                given.push((dim, format!("{name}.i(&{})", call.variable(x))));
            }
            _ => {}
        }
    }
    let apart = given.windows(2).any(|two| two[0].0 + 1 != two[1].0);
    if apart {
        return inexpressible("indices of dims apart, which PyTorch puts in front");
    }
    Ok(tuple(given.into_iter().map(|(_, index)| index)))
}

fn slice_size(call: &Call<'_>) -> Result<i64, Not> {
    let Some(x) = call.own() else {
        return missing("no tensor");
    };
    let at = match call.bound.get("dim") {
        Some(Value::Str(name)) => x
            .names()
            .iter()
            .flatten()
            .position(|own| own.as_str() == name),
        Some(Value::Int(at)) => usize::try_from(*at).ok(),
        _ => Some(0),
    };
    match at.and_then(|at| x.shape().get(at)) {
        Some(&size) => Ok(size as i64),
        None => inexpressible("a position that does not exist"),
    }
}

fn sizes(value: &Value) -> Option<String> {
    let sizes = match value {
        Value::Int(size) => vec![size.to_string()],
        Value::List(items) => items
            .iter()
            .map(crate::translate::integer)
            .collect::<Option<_>>()?,
        _ => return None,
    };
    Some(format!("[{}]", sizes.join(", ")))
}

/// Writes `N.i(0)`.
fn subscript(call: &Call<'_>, pair: &Value) -> Words {
    let Value::List(pair) = pair else {
        return missing("no pair");
    };
    let name = call.dim(&pair[0])?;
    Ok(match &pair[1] {
        Value::Int(at) => format!("{name}.i({at})"),
        Value::Tensor(x) => format!("{name}.i(&{})", call.variable(x)),
        Value::Ellipsis => format!("{name}.i(..)"),
        Value::List(ends) => {
            let end = |at: usize| match ends.get(at) {
                Some(Value::Int(end)) => end.to_string(),
                _ => String::new(),
            };
            let step = match end(2) {
                step if step.is_empty() => "1".to_owned(),
                step => step,
            };
            format!("{name}.i({}..{}).step({step})", end(0), end(1))
        }
        _ => return missing("no index"),
    })
}
