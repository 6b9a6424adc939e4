//! Reads the bound arguments of individual operators.

use nomina_core::op::Op;
use nomina_core::rule::NameItem;
use nomina_core::{Error, ErrorKind, Result};

use super::bind::Bound;
use super::value::{Value, wrong};
use nomina_runtime::tensor::Options;
use nomina_runtime::tensor::{DynTensor, Operand, Rename};

pub(super) fn optional<'a>(args: &'a Bound, param: &str) -> Result<Option<Operand<'a>>> {
    args.given(param).map(|_| args.operand(param)).transpose()
}

pub(super) fn flatten(args: &Bound) -> Result<DynTensor> {
    let x = args.tensor("self")?;
    let out = args.name("out_dim")?;
    if args.get("dims").is_some() {
        return x.flatten(args.dims("dims", false)?, out);
    }
    let dim = |name: &str, default: i64| match args.extra(name) {
        None => Ok(default.into()),
        Some(value) => value
            .as_dim()
            .ok_or_else(|| wrong("flatten", name, "a dim", value)),
    };
    x.flatten_range(dim("start_dim", 0)?, dim("end_dim", -1)?, out)
}

/// Reads sizes as pairs of name and size, as a map, or as plain numbers.
pub(super) fn unflatten(args: &Bound) -> Result<DynTensor> {
    let bad = |value: &Value| wrong("unflatten", "sizes", "pairs of name and size", value);
    let sizes = match args.get("sizes") {
        Some(Value::List(items)) => items
            .iter()
            .map(|item| match item {
                Value::List(pair) => match &pair[..] {
                    [name, Value::Int(size)] => {
                        Ok((name.as_item().ok_or_else(|| bad(item))?, *size))
                    }
                    _ => Err(bad(item)),
                },
                Value::Int(size) => Ok((NameItem::Unnamed, *size)),
                other => Err(bad(other)),
            })
            .collect::<Result<Vec<_>>>()?,
        Some(Value::Dict(pairs)) => pairs
            .iter()
            .map(|(name, size)| {
                Ok((
                    name.as_item().ok_or_else(|| bad(name))?,
                    size.as_int().ok_or_else(|| bad(size))?,
                ))
            })
            .collect::<Result<Vec<_>>>()?,
        Some(other) => return Err(bad(other)),
        None => Vec::new(),
    };
    args.tensor("self")?.unflatten(args.dim("dim")?, sizes)
}

pub(super) fn rename(args: &Bound) -> Result<Rename<'_>> {
    match args.get("names") {
        Some(Value::None) | None => Ok(Rename::Drop),
        Some(Value::Dict(pairs)) => {
            let pair = |(old, new): &'_ (Value, Value)| match (old, new.as_item()) {
                (Value::Str(_), Some(_)) => Ok(()),
                (other, _) => Err(wrong("rename", "names", "pairs of names", other)),
            };
            pairs.iter().try_for_each(pair)?;
            let map = pairs.iter().filter_map(|(old, new)| match old {
                Value::Str(old) => new.as_item().map(|new| (old.as_str(), new)),
                _ => None,
            });
            Ok(Rename::new(map))
        }
        Some(_) => Ok(Rename::new(args.order("names")?)),
    }
}

pub(super) fn options(args: &Bound) -> Result<Options> {
    let mut options = Options::default();
    if let Some(dtype) = args.dtype()? {
        options = options.dtype(dtype);
    }
    if let Some(device) = args.device("device")? {
        options = options.device(device);
    } else if let Some(Value::Tensor(out)) = &args.out {
        options = options.device(out.device());
    }
    if let Some(format) = args.format()? {
        options = options.memory_format(format);
    }
    Ok(options)
}

pub(super) fn names(args: &Bound) -> Result<Option<Vec<NameItem<'_>>>> {
    args.given("names").map(|_| args.order("names")).transpose()
}

/// Returns the given names, or `rank` unnamed dims.
pub(super) fn given_names(args: &Bound, rank: usize) -> Result<Vec<NameItem<'_>>> {
    Ok(names(args)?.unwrap_or_else(|| vec![NameItem::Unnamed; rank]))
}

pub(super) fn factory(op: Op, args: &Bound) -> Result<DynTensor> {
    let size = sizes(op.name(), &args.sizes("size")?)?;
    let unnamed = vec![NameItem::Unnamed; size.len()];
    let names = names(args)?.unwrap_or(unnamed);
    let (size, names) = (&size[..], &names[..]);
    let options = options(args)?;
    match op {
        Op::Zeros => options.zeros(size, names),
        Op::Ones => options.ones(size, names),
        Op::Full => options.full(size, args.scalar("fill_value")?, names),
        Op::Rand => options.rand(size, names),
        Op::Randn => options.randn(size, names),
        _ => options.empty(size, names),
    }
}

/// Checks that a count is not negative.
pub(super) fn count(op: Op, param: &str, value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| {
        let what = format!("`{param}` is {value}");
        Error::new(ErrorKind::Argument, op.name(), what).hint("give 0 or more")
    })
}

pub(super) fn ints(sizes: &[usize]) -> Value {
    Value::List(sizes.iter().map(|&size| Value::Int(size as i64)).collect())
}

/// Checks that no size is negative.
pub(super) fn sizes(op: &'static str, sizes: &[i64]) -> Result<Vec<usize>> {
    sizes
        .iter()
        .map(|&size| {
            usize::try_from(size).map_err(|_| {
                Error::new(ErrorKind::Shape, op, format!("size {size} in {sizes:?}"))
                    .hint("sizes are zero or greater")
            })
        })
        .collect()
}
