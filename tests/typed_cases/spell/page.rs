//! Operators of PyTorch's page of named tensors.

use nomina_by_name::{Form, Value};

use super::{camel, value, with};
use crate::translate::{Call, Own, Words, inexpressible, integer, missing};
use crate::words::{dtype, is_ident, number, tuple};

/// Writes the call and the conversion of its result.
pub fn call(call: &Call<'_>) -> Own {
    let name = call.op.name();
    let words = match name {
        "zeros" | "ones" | "empty" | "rand" | "randn" | "full" => factory(call),
        "tensor" => tensor(call),
        "zeros_like" | "ones_like" | "empty_like" | "rand_like" | "randn_like" | "full_like" => {
            like(call)
        }
        "to" => to(call),
        "type_as" => match call.tensors.get(1) {
            Some(x) => Ok(format!("give(x0.try_to::<{}>()?)", dtype(x.dtype()))),
            None => missing("type_as without a tensor"),
        },
        "stack" if matches!(call.given("dim"), Some(Value::Int(_))) => {
            inexpressible("a new dim without a name")
        }
        "cat" => cat(call),
        "rename" => rename(call),
        "align_to" | "refine_names" => {
            let order = order(call, call.bound.get("names"))?;
            call.method(name, &[order])
        }
        "flatten" => flatten(call),
        "unflatten" => unflatten(call),
        "expand" => expand(call),
        "squeeze" => squeeze(call),
        "select" => {
            let dim = call.dim(call.bound.get("dim").unwrap_or(&Value::None))?;
            let index = call.bound.get("index").and_then(integer);
            call.method("select", &[dim, index.unwrap_or_default()])
        }
        "narrow" => narrow(call),
        "split" => split(call),
        "clamp" => clamp(call),
        "chunk" => {
            let dim = call.dim(call.given("dim").unwrap_or(&Value::Int(0)))?;
            let chunks = call.bound.get("chunks").and_then(integer);
            call.method("chunk", &[dim, chunks.unwrap_or_default()])
        }
        "diagonal" => match call.given("outdim") {
            Some(Value::Str(to)) if is_ident(to) => {
                let dim = |name| call.dim(call.given(name).unwrap_or(&Value::None));
                let given = [dim("dim1")?, dim("dim2")?, to.clone()];
                with(call, &given, "DiagonalOptions", &["offset"])
            }
            _ => inexpressible("a diagonal without a name for its dim"),
        },
        "div" => return super::parametric::div(call).transpose(),
        "gelu" => return super::parametric::gelu(call).transpose(),
        "size" | "stride" => match call.given("dim") {
            None if name == "size" => Ok("give(x0.shape())".into()),
            None => Ok("give(x0.strides())".into()),
            Some(dim) => Ok(format!("give(x0.{}({}))", name, call.dim(dim)?)),
        },
        "is_contiguous" if call.given("memory_format").is_some() => {
            Ok(format!("give(x0.is_contiguous_with({}))", format_of(call)?))
        }
        "shape" | "names" | "has_names" | "dim" | "numel" | "dtype" | "device"
        | "is_contiguous" | "storage_offset" | "ndimension" => Ok(format!("give(x0.{}())", name)),
        "item" => Ok("give(x0.try_item()?)".into()),
        "equal" => Ok("give(x0.try_equal(&x1)?)".into()),
        "fill_" | "fill" => call.method("fill", &[value(call, "value")?]),
        "copy_" | "copy" => call.method("copy", &["&x1".into()]),
        "masked_fill" => call.method("masked_fill", &["&x1".into(), value(call, "value")?]),
        "contiguous" if call.given("memory_format").is_some() => Ok(format!(
            "give(x0.try_contiguous_with({})?)",
            format_of(call)?
        )),
        "t" | "contiguous" => Ok(format!("give(x0.try_{}()?)", name)),
        // A clone shares the layout of its source, including gaps; a dense one must be requested.
        "clone" if call.given("memory_format").is_some() || !is_plain(call) => {
            Ok(format!("give(x0.try_clone_with({})?)", format_of(call)?))
        }
        "clone" => Ok("give(x0.clone())".into()),
        "addmm" | "addmv" => {
            let names = ["beta", "alpha"];
            with(call, &["&x1".into(), "&x2".into()], "AddmmOptions", &names)
        }
        "add" | "sub" => with(call, &[value(call, "other")?], "AddOptions", &["alpha"]),
        "addcmul" | "addcdiv" => {
            let options = format!("{}Options", camel(name));
            with(
                call,
                &["&x1".into(), value(call, "tensor2")?],
                &options,
                &["value"],
            )
        }
        _ => return Ok(None),
    };
    words.map(Some)
}

/// Returns the items of a list, or a single item.
fn items(value: Option<&Value>) -> Vec<Value> {
    match value {
        None => Vec::new(),
        Some(Value::List(items)) => items.clone(),
        Some(one) => vec![one.clone()],
    }
}

fn order(call: &Call<'_>, value: Option<&Value>) -> Words {
    let items: Vec<String> = items(value)
        .iter()
        .map(|item| match item {
            Value::None => Ok("Wild".into()),
            item => call.dim(item),
        })
        .collect::<Result<_, _>>()?;
    Ok(tuple(items))
}

fn name_list(names: &[Value]) -> Result<Vec<String>, crate::translate::Not> {
    let name = |name: &Value| match name {
        Value::Str(name) if is_ident(name) => Ok(name.clone()),
        Value::Str(_) => inexpressible("a name that is no identifier"),
        Value::None => Ok("Wild".to_owned()),
        other => missing(format!("{} as a name", other.kind())),
    };
    names.iter().map(name).collect()
}

fn dtype_of(call: &Call<'_>) -> &'static str {
    match call.given("dtype") {
        Some(Value::DType(given)) => dtype(*given),
        _ => "f32",
    }
}

fn factory(call: &Call<'_>) -> Words {
    let sizes: Vec<String> = items(call.bound.get("size"))
        .iter()
        .filter_map(integer)
        .collect();
    let names = match call.given("names") {
        Some(names) => name_list(&items(Some(names)))?,
        None => vec!["Wild".to_owned(); sizes.len()],
    };
    let value = match call.bound.get("fill_value") {
        Some(value) => format!(", {}", number(value).unwrap_or_default()),
        None => String::new(),
    };
    let element = match (call.given("dtype"), call.bound.get("fill_value")) {
        (None, Some(Value::Int(_))) => "i64",
        (None, Some(Value::Bool(_))) => "bool",
        _ => dtype_of(call),
    };
    let order = match call.given("memory_format") {
        Some(_) => format!(".memory_format({})", format_of(call)?),
        None => String::new(),
    };
    Ok(format!(
        "give(Tensor::<{}>::options().dtype::<{element}>(){order}.try_{}([{}]{value})?)",
        tuple(names),
        call.op.name(),
        sizes.join(", ")
    ))
}

fn tensor(call: &Call<'_>) -> Words {
    fn literal(value: &Value) -> Option<String> {
        match value {
            Value::List(items) => {
                let items: Option<Vec<String>> = items.iter().map(literal).collect();
                Some(format!("[{}]", items?.join(", ")))
            }
            Value::Int(v) => Some(v.to_string()),
            Value::Float(v) if v.is_finite() => Some(format!("{v:?}")),
            Value::Bool(v) => Some(v.to_string()),
            _ => None,
        }
    }
    let Some(data) = call.bound.get("data").and_then(literal) else {
        return inexpressible("data that are no literal");
    };
    let names = match call.given("names") {
        Some(names) => name_list(&items(Some(names)))?,
        None => return inexpressible("a tensor without names from a literal"),
    };
    let element = match call.given("dtype") {
        Some(Value::DType(given)) => format!("; {}", dtype(*given)),
        _ => String::new(),
    };
    let names = names.join(", ");
    Ok(format!("give(tensor!({data}; {names}{element}))"))
}

fn like(call: &Call<'_>) -> Words {
    if call.given("dtype").is_some() {
        let element = dtype_of(call);
        return like_with(call, element);
    }
    if let (Some(_), Some(x)) = (call.given("memory_format"), call.own()) {
        return like_with(call, dtype(x.dtype()));
    }
    let value = match call.given("fill_value") {
        Some(value) => call.operand(value)?,
        None => String::new(),
    };
    Ok(format!("give(x0.{}({value}))", call.op.name()))
}

fn like_with(call: &Call<'_>, element: &str) -> Words {
    let value = match call.given("fill_value") {
        Some(value) => call.operand(value)? + ", ",
        None => String::new(),
    };
    Ok(format!(
        "give(x0.try_{}_with::<{element}>({value}LikeOptions {{ memory_format: {}, ..default() }})?)",
        call.op.name(),
        format_of(call)?
    ))
}

/// Returns the requested memory format; `preserve_format` by default.
fn format_of(call: &Call<'_>) -> Words {
    let format = match call.given("memory_format") {
        None => "Preserve",
        Some(Value::Str(name)) => match name.as_str() {
            "contiguous_format" => "Contiguous",
            "channels_last" => "ChannelsLast",
            "channels_last_3d" => "ChannelsLast3d",
            _ => "Preserve",
        },
        Some(other) => return missing(format!("{} as a memory format", other.kind())),
    };
    Ok(format!("MemoryFormat::{format}"))
}

/// Returns whether the tensor is row-major.
fn is_plain(call: &Call<'_>) -> bool {
    call.own().is_some_and(|x| x.is_contiguous())
}

fn to(call: &Call<'_>) -> Words {
    if let (Some(_), Some(x)) = (call.given("memory_format"), call.own()) {
        let element = match call.given("dtype") {
            Some(Value::DType(given)) => dtype(*given),
            _ => dtype(x.dtype()),
        };
        return Ok(format!(
            "give(x0.try_to_with::<{element}>({})?)",
            format_of(call)?
        ));
    }
    let mut x = "x0".to_owned();
    if let Some(Value::DType(given)) = call.given("dtype") {
        x = format!("{x}.try_to::<{}>()?", dtype(*given));
    }
    if let Some(Value::Device(_) | Value::Str(_)) = call.given("device") {
        x = format!("{x}.try_to_device(\"cpu\".parse()?)?");
    }
    Ok(format!("give({x})"))
}

fn cat(call: &Call<'_>) -> Words {
    let Some(Value::List(parts)) = call.bound.get("tensors") else {
        return missing("cat of no list");
    };
    let Some(Value::Tensor(first)) = parts.first() else {
        return inexpressible("cat of nothing");
    };
    let dim = match call.bound.get("dim") {
        Some(Value::Str(name)) => name.clone(),
        Some(Value::Int(at)) => {
            let rank = first.rank() as i64;
            let at = if *at < 0 { at + rank } else { *at };
            match first.names().get(at as usize) {
                Some(Some(name)) => name.to_string(),
                _ => return inexpressible("a position that does not exist"),
            }
        }
        None if first.rank() > 0 => match &first.names()[0] {
            Some(name) => name.to_string(),
            None => return inexpressible("a position of a dim without a name"),
        },
        _ => return inexpressible("a position that does not exist"),
    };
    let parts: Vec<String> = parts
        .iter()
        .map(|x| call.operand(x))
        .collect::<Result<_, _>>()?;
    if call.out {
        let parts = parts.join(", ");
        return Ok(format!(
            "try_cat_out(({parts},), {dim}, &mut out)?; give(out)"
        ));
    }
    Ok(format!("give(try_cat(({},), {dim})?)", parts.join(", ")))
}

fn rename(call: &Call<'_>) -> Words {
    let (from, to) = match call.bound.get("names") {
        None | Some(Value::None) => {
            return match call.form {
                Form::InPlace => inexpressible("names dropped in place: the type changes"),
                _ => Ok("give(x0.drop_names())".into()),
            };
        }
        Some(Value::Dict(pairs)) => {
            let olds: Vec<Value> = pairs.iter().map(|(old, _)| old.clone()).collect();
            let news: Vec<Value> = pairs.iter().map(|(_, new)| new.clone()).collect();
            (tuple(name_list(&olds)?), tuple(name_list(&news)?))
        }
        Some(list) => {
            let items = items(Some(list));
            let ellipses = items
                .iter()
                .filter(|item| matches!(item, Value::Ellipsis))
                .count();
            // `..` replaces the dims that keep their names.
            let mut names = items.clone();
            if let (1, Some(x)) = (ellipses, call.own()) {
                let at = items
                    .iter()
                    .position(|item| matches!(item, Value::Ellipsis));
                let rest = (x.rank() + 1).saturating_sub(items.len());
                let kept = x.names().iter().skip(at.unwrap_or(0)).take(rest);
                let kept = kept.map(|name| match name {
                    Some(name) => Value::from(name.as_str()),
                    None => Value::None,
                });
                let at = at.unwrap_or(0);
                names.splice(at..=at, kept.collect::<Vec<_>>());
            } else if ellipses > 1 {
                return Ok("give(x0.try_rename(.., (.., ..))?)".into());
            }
            ("..".to_owned(), tuple(name_list(&names)?))
        }
    };
    // A renamed tensor has another type, so renaming in place becomes `rename`.
    Ok(format!("give(x0.try_rename({from}, {to})?)"))
}

fn flatten(call: &Call<'_>) -> Words {
    let Some(Value::List(dims)) = call.bound.get("dims") else {
        return inexpressible("flatten by positions: the result has no name");
    };
    let to = match call.given("out_dim") {
        Some(Value::Str(name)) if is_ident(name) => name.clone(),
        _ => return inexpressible("flatten without a name for the result"),
    };
    let dims: Vec<String> = dims
        .iter()
        .map(|dim| call.dim(dim))
        .collect::<Result<_, _>>()?;
    Ok(format!("give(x0.try_flatten({}, {to})?)", tuple(dims)))
}

fn sized(name: &Value, size: &Value) -> Words {
    let size = match size {
        Value::Int(size) => *size,
        _ => return missing("a size that is no integer"),
    };
    if size < 0 {
        return inexpressible("a size to be inferred");
    }
    match name {
        Value::Str(name) if is_ident(name) => Ok(format!("{name}.of({size})")),
        _ => inexpressible("a new dim without a name"),
    }
}

fn unflatten(call: &Call<'_>) -> Words {
    let dim = call.dim(call.bound.get("dim").unwrap_or(&Value::None))?;
    let pairs: Vec<(Value, Value)> = match call.bound.get("sizes") {
        Some(Value::Dict(pairs)) => pairs.clone(),
        Some(Value::List(items)) => items
            .iter()
            .filter_map(|item| match item {
                Value::List(pair) if pair.len() == 2 => Some((pair[0].clone(), pair[1].clone())),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let mut total = 1;
    let own = call.own().and_then(|x| x.size(dim.as_str()).ok());
    for (_, size) in &pairs {
        if let Value::Int(size) = size
            && *size > 0
        {
            total *= size;
        }
    }
    // The typed form does not infer a size: write it out.
    let written = |size: &Value| match (size, own) {
        (Value::Int(-1), Some(own)) if total > 0 => Value::Int(own as i64 / total),
        (size, _) => size.clone(),
    };
    let sizes: Vec<String> = pairs
        .iter()
        .map(|(name, size)| sized(name, &written(size)))
        .collect::<Result<_, _>>()?;
    Ok(format!("give(x0.try_unflatten({dim}, {})?)", tuple(sizes)))
}

fn expand(call: &Call<'_>) -> Words {
    let Some(x) = call.own() else {
        return missing("expand of nothing");
    };
    let sizes = items(call.bound.get("size"));
    if sizes.len() != x.rank() {
        return inexpressible("new dims without names");
    }
    let mut words = Vec::new();
    for (at, (name, size)) in x.names().iter().zip(&sizes).enumerate() {
        let size = match size {
            Value::Int(-1) => Value::Int(x.shape()[at] as i64),
            size => size.clone(),
        };
        let name = name
            .as_ref()
            .map_or(Value::None, |name| Value::from(name.as_str()));
        words.push(sized(&name, &size)?);
    }
    Ok(format!("give(x0.try_expand({})?)", tuple(words)))
}

fn squeeze(call: &Call<'_>) -> Words {
    let Some(x) = call.own() else {
        return missing("squeeze of nothing");
    };
    match call.given("dim") {
        None => inexpressible("squeeze of whatever has size 1"),
        Some(dim) => {
            let dim = call.dim(dim)?;
            match x.size(dim.as_str()) {
                Ok(1) => Ok(format!("give(x0.try_squeeze({dim})?)")),
                _ => inexpressible("squeeze of a dim that is not of size 1"),
            }
        }
    }
}

fn narrow(call: &Call<'_>) -> Words {
    let dim = call.dim(call.bound.get("dim").unwrap_or(&Value::None))?;
    match (call.bound.get("start"), call.bound.get("length")) {
        (Some(Value::Int(start)), Some(Value::Int(length))) if *start >= 0 => {
            let end = start + length;
            Ok(format!("give(x0.try_narrow({dim}, {start}..{end})?)"))
        }
        _ => inexpressible("a start counted from the end"),
    }
}

fn split(call: &Call<'_>) -> Words {
    let dim = match call.bound.get("dim") {
        Some(dim) => call.dim(dim)?,
        None => call.dim(&Value::Int(0))?,
    };
    let sizes = match call.bound.get("split_size") {
        Some(Value::Int(each)) => each.to_string(),
        Some(Value::List(sizes)) => {
            let sizes: Vec<String> = sizes.iter().filter_map(integer).collect();
            format!("[{}]", sizes.join(", "))
        }
        _ => return missing("split without sizes"),
    };
    Ok(format!("give(x0.try_split({dim}, {sizes})?)"))
}

fn clamp(call: &Call<'_>) -> Words {
    let bounds: Vec<Option<String>> = ["min", "max"]
        .into_iter()
        .map(|side| call.given(side).map(|v| call.operand(v)).transpose())
        .collect::<Result<_, _>>()?;
    match &bounds[..] {
        [Some(min), Some(max)] => call.method("clamp", &[min.clone(), max.clone()]),
        [Some(min), None] => call.method("clamp_min", std::slice::from_ref(min)),
        [None, Some(max)] => call.method("clamp_max", std::slice::from_ref(max)),
        _ => inexpressible("clamp without bounds"),
    }
}
