//! Operators that view, move, repeat or rearrange elements.
//!
//! The typed API addresses dims by name: calls that work only by position, or create an unnamed
//! dim, have no typed form.

use nomina_by_name::Value;
use nomina_core::DType;
use nomina_core::op::Op;

use crate::translate::{Call, Own, Words, inexpressible, integer, missing};
use crate::words::{dtype, is_ident, number, tuple};

const UNNAMED: &str = "a new dim without a name";
const PLACED: &str = "dims by position";

/// Returns the typed form, if it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    let words = match call.op {
        Op::Movedim | Op::Fliplr | Op::Flipud | Op::NarrowCopy => inexpressible(PLACED),
        Op::Hsplit | Op::Vsplit | Op::Dsplit => inexpressible(PLACED),
        Op::Hstack | Op::Vstack | Op::Dstack | Op::ColumnStack => inexpressible(PLACED),
        Op::Unsqueeze | Op::Stack | Op::CartesianProd | Op::Combinations => inexpressible(UNNAMED),
        Op::Atleast1d | Op::Atleast2d | Op::Atleast3d => inexpressible(UNNAMED),
        Op::Reshape | Op::ReshapeAs | Op::View | Op::ViewAs | Op::AsStrided => {
            inexpressible("sizes without names")
        }
        Op::BartlettWindow | Op::BlackmanWindow | Op::HannWindow => inexpressible(UNNAMED),
        Op::HammingWindow | Op::KaiserWindow => inexpressible(UNNAMED),
        Op::TrilIndices | Op::TriuIndices | Op::Eye => inexpressible(UNNAMED),
        Op::Linspace | Op::Logspace => range(call),
        Op::Permute => {
            let Some(Value::List(items)) = call.bound.get("dims") else {
                return inexpressible(PLACED);
            };
            let names = items.iter().map(|item| call.dim(item));
            let names = names.collect::<Result<Vec<_>, _>>()?;
            let rank = call.own().map_or(0, nomina::DynTensor::rank);
            if names.len() != rank || repeated(&names) {
                return inexpressible("an order that does not list each dim once");
            }
            call.method("permute", &[tuple(names)])
        }
        Op::Chunk => {
            let chunks = call.bound.get("chunks").and_then(integer);
            call.method(
                "chunk",
                &[first_or(call, "dim")?, chunks.unwrap_or_default()],
            )
        }
        Op::SplitWithSizes => {
            let sizes = list(call, "split_sizes")?;
            call.method("split", &[first_or(call, "dim")?, sizes])
        }
        Op::TensorSplit => {
            let sections = match call.bound.get("indices_or_sections") {
                Some(Value::Int(count)) => count.to_string(),
                _ => list(call, "indices_or_sections")?,
            };
            call.method("tensor_split", &[first_or(call, "dim")?, sections])
        }
        Op::Diagonal => {
            let to = name(call, "outdim")?;
            let dims = [dim_or(call, "dim1", 0)?, dim_or(call, "dim2", 1)?];
            let [dim1, dim2] = dims;
            call.method("diagonal_with", &[dim1, dim2, to, offset(call, "offset")])
        }
        Op::Unfold => {
            let to = name(call, "outdim")?;
            let whole = |param| call.bound.get(param).and_then(integer).unwrap_or_default();
            let dim = dim_or(call, "dimension", 0)?;
            call.method("unfold", &[dim, whole("size"), whole("step"), to])
        }
        Op::ExpandAs => match (call.tensors.first(), call.tensors.get(1)) {
            (Some(x), Some(other)) if x.names() == other.names() => {
                call.method("expand_as", &["&x1".into()])
            }
            _ => inexpressible("an expansion to dims of other names"),
        },
        Op::Meshgrid => grid(call),
        Op::Flip => match call.bound.get("dims") {
            Some(Value::List(items)) if items.is_empty() => inexpressible("no dims"),
            dims => {
                let dims = distinct(call, dims)?;
                call.method("flip", &[tuple(dims)])
            }
        },
        Op::Rot90 => {
            let both = Value::List(vec![Value::Int(0), Value::Int(1)]);
            let dims = distinct(call, Some(call.given("dims").unwrap_or(&both)))?;
            match (call.given("k"), dims.len()) {
                (None | Some(Value::Int(1)), 2) => call.method("rot90", &dims),
                _ => inexpressible("a number of quarters"),
            }
        }
        Op::Roll => {
            let dims = match call.given("dims") {
                None => "..".to_owned(),
                dims => tuple(distinct(call, dims)?),
            };
            call.method("roll", &[list(call, "shifts")?, dims])
        }
        Op::Repeat => counts(call, "repeats"),
        Op::Tile => counts(call, "dims"),
        Op::RepeatInterleave => match (call.bound.get("repeats"), call.given("dim")) {
            (Some(repeats), Some(dim)) => {
                let dim = call.dim(dim)?;
                call.method("repeat_interleave", &[call.operand(repeats)?, dim])
            }
            _ => inexpressible(UNNAMED),
        },
        Op::Diag | Op::Diagflat => {
            let names = names(call, "names")?;
            let offset = offset(
                call,
                if call.op == Op::Diag {
                    "diagonal"
                } else {
                    "offset"
                },
            );
            let method = if names.len() == 1 {
                "diag_with"
            } else {
                "diagflat_with"
            };
            call.method(method, &[names, vec![offset]].concat())
        }
        Op::DiagEmbed => {
            let names = names(call, "names")?;
            if call.given("dim1").is_some() || call.given("dim2").is_some() {
                return inexpressible(PLACED);
            }
            let dim = vec![call.dim(&Value::Int(-1))?];
            let offset = vec![offset(call, "offset")];
            call.method("diag_embed_with", &[dim, names, offset].concat())
        }
        Op::Tril | Op::Triu => {
            // In place, the underscore follows `_with`.
            let name = format!("{}_with", call.op.name());
            call.method(&name, &[offset(call, "diagonal")])
        }
        Op::BlockDiag => {
            let Some(Value::List(items)) = call.bound.get("tensors") else {
                return missing("block_diag of no list");
            };
            if call.tensors.iter().any(|x| x.rank() != 2) {
                return inexpressible("tensors of other ranks");
            }
            let items = items.iter().map(|item| call.operand(item));
            let items = tuple(items.collect::<Result<Vec<_>, _>>()?);
            Ok(format!("give(try_block_diag({items})?)"))
        }
        Op::Vander => {
            let to = name(call, "outdim")?;
            if call.tensors.iter().any(|x| x.rank() != 1) {
                return inexpressible("a tensor of another rank");
            }
            call.method("vander", &[to])
        }
        Op::ViewAsReal => call.method("view_as_real", &[name(call, "outdim")?]),
        Op::ViewAsComplex => {
            let dim = call.dim(&Value::Int(-1))?;
            call.method("view_as_complex", &[dim])
        }
        Op::Complex | Op::Polar => match &call.tensors[..] {
            [x, y] if x.dtype() != y.dtype() => inexpressible("parts of two dtypes"),
            _ => call.method(call.op.name(), &["&x1".into()]),
        },
        Op::ConjPhysical => call.method("conj", &[]),
        _ => return Ok(None),
    };
    words.map(Some)
}

fn repeated(names: &[String]) -> bool {
    (1..names.len()).any(|at| names[..at].contains(&names[at]))
}

/// Writes dims without repetitions.
fn distinct(call: &Call<'_>, dims: Option<&Value>) -> Result<Vec<String>, crate::translate::Not> {
    let names = match dims {
        Some(Value::List(items)) => items
            .iter()
            .map(|item| call.dim(item))
            .collect::<Result<Vec<_>, _>>()?,
        Some(one) => vec![call.dim(one)?],
        None => Vec::new(),
    };
    if repeated(&names) {
        return inexpressible("a dim twice");
    }
    Ok(names)
}

fn dim_or(call: &Call<'_>, param: &str, default: i64) -> Words {
    call.dim(call.bound.get(param).unwrap_or(&Value::Int(default)))
}

fn first_or(call: &Call<'_>, param: &str) -> Words {
    dim_or(call, param, 0)
}

fn list(call: &Call<'_>, param: &str) -> Words {
    let items = match call.bound.get(param) {
        Some(Value::List(items)) => items.iter().map(integer).collect::<Option<Vec<_>>>(),
        Some(Value::Int(one)) => Some(vec![one.to_string()]),
        _ => None,
    };
    match items {
        // The type of an empty array cannot be inferred.
        Some(items) if items.is_empty() => inexpressible("an empty list"),
        Some(items) => Ok(format!("[{}]", items.join(", "))),
        None => missing(format!("{param} of {}", call.op.name())),
    }
}

/// Writes the name of a new dim.
fn name(call: &Call<'_>, param: &str) -> Words {
    match call.given(param) {
        Some(Value::Str(name)) if is_ident(name) => Ok(name.clone()),
        _ => inexpressible(UNNAMED),
    }
}

fn names(call: &Call<'_>, param: &str) -> Result<Vec<String>, crate::translate::Not> {
    let Some(Value::List(items)) = call.given(param) else {
        return inexpressible(UNNAMED);
    };
    let each = |item: &Value| match item {
        Value::Str(name) if is_ident(name) => Ok(name.clone()),
        _ => inexpressible(UNNAMED),
    };
    items.iter().map(each).collect()
}

fn offset(call: &Call<'_>, param: &str) -> String {
    let offset = call.given(param).and_then(integer);
    format!(
        "DiagonalOptions {{ offset: {} }}",
        offset.unwrap_or_else(|| "0".to_owned())
    )
}

/// Writes one count per dim.
fn counts(call: &Call<'_>, param: &str) -> Words {
    let rank = call.own().map_or(0, nomina::DynTensor::rank);
    let given = match call.bound.get(param) {
        Some(Value::List(items)) => items.clone(),
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    };
    if given.len() > rank || call.op == Op::Repeat && given.len() < rank {
        return inexpressible("another number of counts than dims");
    }
    let mut counts = vec!["1".to_owned(); rank - given.len()];
    for count in &given {
        match count {
            Value::Int(count) if *count >= 0 => counts.push(count.to_string()),
            _ => return inexpressible("a negative count"),
        }
    }
    call.method(call.op.name(), &[format!("[{}]", counts.join(", "))])
}

fn grid(call: &Call<'_>) -> Words {
    let first = call.tensors.first().map(|x| x.dtype());
    if call
        .tensors
        .iter()
        .any(|x| x.rank() != 1 || Some(x.dtype()) != first)
    {
        return inexpressible("a grid of other than vectors of one dtype");
    }
    if matches!(call.given("indexing"), Some(Value::Str(way)) if way == "xy") {
        return inexpressible("a grid whose first two dims change places");
    }
    let vectors = (0..call.tensors.len()).map(|at| format!("&x{at}"));
    let vectors = tuple(vectors);
    Ok(format!("give(Vec::from(try_meshgrid({vectors})?))"))
}

fn range(call: &Call<'_>) -> Words {
    let of = match call.given("dtype") {
        Some(Value::DType(given)) => *given,
        _ => DType::F32,
    };
    let names = names(call, "names")?;
    if names.len() != 1 {
        return inexpressible("a number of names that is not one");
    }
    let bound = |param| {
        let number = call.bound.get(param).and_then(number).unwrap_or_default();
        format!("({number}) as _")
    };
    let steps = call.bound.get("steps").and_then(integer);
    Ok(format!(
        "give(Tensor::<{}, {}>::try_{}({}, {}, {})?)",
        tuple(names),
        dtype(of),
        call.op.name(),
        bound("start"),
        bound("end"),
        steps.unwrap_or_default()
    ))
}
