//! PyTorch's recorded calls, reduced to names, sizes and dtypes.

pub mod infer;

use nomina_core::rule::{DimArg, DimRef, NameItem};
use nomina_core::{DType, Names};
use serde_json::Value;

/// A tensor without its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Meta {
    pub names: Names,
    pub shape: Vec<usize>,
    pub dtype: DType,
}

/// A recorded call.
pub struct Case<'a> {
    pub id: &'a str,
    /// The operator without prefixes such as `torch.`.
    pub op: &'a str,
    pub args: &'a [Value],
    pub kwargs: &'a Value,
    /// The kind of the error, or the tensors of the result.
    pub want: Result<Vec<Meta>, &'a str>,
}

impl<'a> Case<'a> {
    pub fn parse(line: &'a Value) -> Self {
        let op = line["op"].as_str().expect("op");
        let want = match line.get("error") {
            Some(error) => Err(error["kind"].as_str().expect("kind")),
            None => Ok(metas(&line["result"])),
        };
        Self {
            id: line["id"].as_str().expect("id"),
            op: op.rsplit('.').next().expect("a name"),
            args: line["args"].as_array().expect("args"),
            kwargs: &line["kwargs"],
            want,
        }
    }

    /// Returns argument `i`, which must be a tensor.
    pub fn tensor(&self, i: usize) -> Meta {
        meta(&self.args[i]).expect("a tensor")
    }

    pub fn maybe_tensor(&self, i: usize) -> Option<Meta> {
        self.args.get(i).and_then(meta)
    }

    pub fn int(&self, i: usize) -> i64 {
        self.args[i]["int"].as_i64().expect("an int")
    }

    /// Returns the dims from argument `i` or the keyword `dim`; all dims if omitted.
    pub fn dims(&self, i: usize) -> DimArg<'a> {
        let keep = self
            .kwargs
            .get("keepdim")
            .is_some_and(|v| v["bool"] == true);
        let value = self.args.get(i).or_else(|| self.kwargs.get("dim"));
        value.map_or(DimArg::all(), dim_arg).with_keepdim(keep)
    }

    pub fn dim(&self, i: usize) -> DimRef<'a> {
        dim_ref(&self.args[i])
    }

    /// Returns the arguments from `i` on, as names.
    pub fn items(&self, i: usize) -> Vec<NameItem<'a>> {
        self.args[i..].iter().map(item).collect()
    }

    pub fn str(&self, name: &str) -> Option<&'a str> {
        self.kwargs.get(name)?["str"].as_str()
    }
}

pub fn meta(value: &Value) -> Option<Meta> {
    let tensor = value.get("tensor")?;
    let names = tensor["names"]
        .as_array()?
        .iter()
        .map(item)
        .collect::<Vec<_>>();
    let shape: Vec<usize> = sizes(&tensor["shape"])
        .iter()
        .map(|&n| n as usize)
        .collect();
    Some(Meta {
        names: nomina_core::rule::names_of("case", &names, shape.len()).expect("recorded names"),
        shape,
        dtype: tensor["dtype"].as_str()?.parse().ok()?,
    })
}

/// Returns the tensors of a result: one, several, or none.
fn metas(value: &Value) -> Vec<Meta> {
    match value.get("list").and_then(Value::as_array) {
        Some(list) => list.iter().filter_map(meta).collect(),
        None => meta(value).into_iter().collect(),
    }
}

/// Returns integers, bare or wrapped as values.
pub fn sizes(value: &Value) -> Vec<i64> {
    let list = value
        .get("list")
        .unwrap_or(value)
        .as_array()
        .expect("a list");
    let size = |v: &Value| v.as_i64().or_else(|| v["int"].as_i64()).expect("an int");
    list.iter().map(size).collect()
}

pub fn item(value: &Value) -> NameItem<'_> {
    if value.get("ellipsis").is_some() {
        return NameItem::Rest;
    }
    match value
        .as_str()
        .or_else(|| value.get("str").and_then(Value::as_str))
    {
        Some(name) => name.into(),
        None => NameItem::Unnamed,
    }
}

fn dim_ref(value: &Value) -> DimRef<'_> {
    match (
        value.get("str").and_then(Value::as_str),
        value.get("int").and_then(Value::as_i64),
    ) {
        (Some(name), _) => name.into(),
        (_, Some(index)) => index.into(),
        _ => DimRef::Unnamed,
    }
}

fn dim_arg(value: &Value) -> DimArg<'_> {
    match value.get("list").and_then(Value::as_array) {
        Some(list) => DimArg::list(list.iter().map(dim_ref)),
        None => dim_ref(value).into(),
    }
}
