//! Indexing.

use nomina_core::Result;
use nomina_core::op::Op;
use nomina_core::rule::DimRef;

use super::{in_place, pure, value};
use crate::bind::Bound;
use crate::generated::Gather;
use crate::read::sizes;
use crate::value::{Value, wrong};
use crate::{Form, computed, no_form};
use nomina_runtime::tensor::{
    DynTensor, EmbeddingOptions, Index, IndexAddOptions, IndexPutOptions, ScatterOptions,
    ScatterReduce, ScatterReduceOptions,
};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Gather, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Gather::IndexFill => match form {
            Form::InPlace => in_place(args, |own, a| {
                own.index_fill_(a.dim("dim")?, a.tensor("index")?, a.operand("value")?)
                    .map(drop)
            }),
            _ => pure(op, form, args, |a| {
                let (dim, index) = (a.dim("dim")?, a.tensor("index")?);
                a.tensor("self")?
                    .index_fill(dim, index, a.operand("value")?)
            }),
        },
        Gather::IndexSelect => computed(op, form, args, |a| {
            a.tensor("self")?
                .index_select(a.dim("dim")?, a.tensor("index")?)
        }),
        Gather::Gather => computed(op, form, args, |a| {
            a.tensor("self")?.gather(a.dim("dim")?, a.tensor("index")?)
        }),
        Gather::Scatter
        | Gather::ScatterAdd
        | Gather::ScatterReduce
        | Gather::IndexAdd
        | Gather::IndexCopy
        | Gather::IndexReduce
        | Gather::IndexPut
        | Gather::Put
        | Gather::MaskedScatter => written(which, op, form, args),
        Gather::Index => pure(op, form, args, |a| a.tensor("self")?.index(&indices(a)?)),
        Gather::Take => computed(op, form, args, |a| {
            a.tensor("self")?.take(a.tensor("index")?)
        }),
        Gather::TakeAlongDim => computed(op, form, args, |a| {
            let dim: Option<DimRef<'_>> = a.given("dim").map(|_| a.dim("dim")).transpose()?;
            a.tensor("self")?.take_along_dim(a.tensor("indices")?, dim)
        }),
        Gather::Nonzero if args.flag("as_tuple")? => value(op, form, args, |a| {
            let rows = a.tensor("self")?.nonzero()?;
            Ok(rows.unbind(1)?.into())
        }),
        Gather::Nonzero => computed(op, form, args, |a| a.tensor("self")?.nonzero()),
        Gather::Argwhere => pure(op, form, args, |a| a.tensor("self")?.argwhere()),
        Gather::Embedding => pure(op, form, args, |a| {
            let padding_idx = a.given("padding_idx").map(|_| a.int("padding_idx"));
            let padding_idx = padding_idx.transpose()?;
            a.tensor("weight")?.embedding_with(
                0,
                a.tensor("input")?,
                EmbeddingOptions { padding_idx },
            )
        }),
        Gather::OneHot => pure(op, form, args, |a| {
            let given = match a.int("num_classes")? {
                -1 => None,
                given => Some(sizes(op.name(), &[given])?[0]),
            };
            a.tensor("self")?.one_hot(given, None)
        }),
        Gather::UnravelIndex => value(op, form, args, |a| {
            let shape = sizes(op.name(), &a.sizes("shape")?)?;
            Ok(a.tensor("indices")?.unravel_index(&shape)?.into())
        }),
        Gather::SelectScatter => pure(op, form, args, |a| {
            let (dim, index) = (a.dim("dim")?, a.int("index")?);
            a.tensor("self")?
                .select_scatter(a.tensor("src")?, dim, index)
        }),
        Gather::SliceScatter => pure(op, form, args, |a| {
            let end = |param| a.given(param).map(|_| a.int(param)).transpose();
            let (start, end, step) = (end("start")?, end("end")?, a.int("step")?);
            a.tensor("self")?
                .slice_scatter(a.tensor("src")?, a.dim("dim")?, start, end, step)
        }),
        Gather::DiagonalScatter => pure(op, form, args, |a| {
            let (dim1, dim2) = (a.dim("dim1")?, a.dim("dim2")?);
            a.tensor("self")?
                .diagonal_scatter(a.tensor("src")?, a.int("offset")?, dim1, dim2)
        }),
        Gather::At => pure(op, form, args, |a| a.tensor("self")?.at(by_name(a)?)),
    }
}

/// Calls an operator that writes into `self`: in place, or into a copy.
fn written(which: Gather, op: Op, form: Form, args: &mut Bound) -> Result<Value> {
    match form {
        Form::InPlace => in_place(args, |x, a| write(which, x, a)),
        Form::Out if !op.row().forms.contains(nomina_core::op::Forms::OUT) => {
            Err(no_form(op, form))
        }
        _ => computed(op, form, args, |a| copy(which, a)),
    }
}

fn copy(which: Gather, a: &Bound) -> Result<DynTensor> {
    let x = a.tensor("self")?;
    match which {
        Gather::Scatter => {
            let options = scatter(a)?;
            x.scatter_with(
                a.dim("dim")?,
                a.tensor("index")?,
                a.operand("src")?,
                options,
            )
        }
        Gather::ScatterAdd => x.scatter_add(a.dim("dim")?, a.tensor("index")?, a.tensor("src")?),
        Gather::ScatterReduce => {
            let (dim, index, src) = (a.dim("dim")?, a.tensor("index")?, a.tensor("src")?);
            x.scatter_reduce_with(dim, index, src, reduce(a)?, with_self(a)?)
        }
        Gather::IndexAdd => {
            let (dim, index, source) = (a.dim("dim")?, a.tensor("index")?, a.tensor("source")?);
            x.index_add_with(dim, index, source, alpha(a)?)
        }
        Gather::IndexReduce => {
            let (dim, index, source) = (a.dim("dim")?, a.tensor("index")?, a.tensor("source")?);
            x.index_reduce_with(dim, index, source, reduce(a)?, with_self(a)?)
        }
        Gather::IndexPut => x.index_put_with(&indices(a)?, a.tensor("values")?, put(a)?),
        Gather::Put => x.put_with(a.tensor("index")?, a.tensor("source")?, put(a)?),
        Gather::MaskedScatter => x.masked_scatter(a.tensor("mask")?, a.tensor("source")?),
        _ => x.index_copy(a.dim("dim")?, a.tensor("index")?, a.tensor("source")?),
    }
}

fn write(which: Gather, x: &mut DynTensor, a: &Bound) -> Result<()> {
    match which {
        Gather::Scatter => {
            let options = scatter(a)?;
            x.scatter_with_(
                a.dim("dim")?,
                a.tensor("index")?,
                a.operand("src")?,
                options,
            )
        }
        Gather::ScatterAdd => x.scatter_add_(a.dim("dim")?, a.tensor("index")?, a.tensor("src")?),
        Gather::ScatterReduce => {
            let (dim, index, src) = (a.dim("dim")?, a.tensor("index")?, a.tensor("src")?);
            x.scatter_reduce_with_(dim, index, src, reduce(a)?, with_self(a)?)
        }
        Gather::IndexAdd => {
            let (dim, index, source) = (a.dim("dim")?, a.tensor("index")?, a.tensor("source")?);
            x.index_add_with_(dim, index, source, alpha(a)?)
        }
        Gather::IndexReduce => {
            let (dim, index, source) = (a.dim("dim")?, a.tensor("index")?, a.tensor("source")?);
            x.index_reduce_with_(dim, index, source, reduce(a)?, with_self(a)?)
        }
        Gather::IndexPut => x.index_put_with_(&indices(a)?, a.tensor("values")?, put(a)?),
        Gather::Put => x.put_with_(a.tensor("index")?, a.tensor("source")?, put(a)?),
        Gather::MaskedScatter => x.masked_scatter_(a.tensor("mask")?, a.tensor("source")?),
        _ => x.index_copy_(a.dim("dim")?, a.tensor("index")?, a.tensor("source")?),
    }
    .map(drop)
}

fn reduce(a: &Bound) -> Result<ScatterReduce> {
    match a.get("reduce") {
        Some(Value::Str(text)) => text.parse(),
        Some(other) => Err(wrong("scatter_reduce", "reduce", "a reduction", other)),
        None => Ok(ScatterReduce::Sum),
    }
}

fn scatter(a: &Bound) -> Result<ScatterOptions> {
    let reduce = a.given("reduce").map(|_| reduce(a)).transpose()?;
    Ok(ScatterOptions { reduce })
}

fn with_self(a: &Bound) -> Result<ScatterReduceOptions> {
    let given = a.given("include_self").is_some();
    Ok(ScatterReduceOptions {
        include_self: !given || a.flag("include_self")?,
    })
}

fn alpha(a: &Bound) -> Result<IndexAddOptions> {
    let alpha = a.scalar("alpha")?;
    Ok(IndexAddOptions { alpha })
}

fn put(a: &Bound) -> Result<IndexPutOptions> {
    let accumulate = a.flag("accumulate")?;
    Ok(IndexPutOptions { accumulate })
}

/// Returns a list of index tensors, with `None` for dims without one.
fn indices(a: &Bound) -> Result<Vec<Option<&DynTensor>>> {
    let bad = |value: &Value| wrong("index", "indices", "a list of tensors", value);
    match a.get("indices") {
        Some(Value::List(items)) => items
            .iter()
            .map(|item| match item {
                Value::Tensor(x) => Ok(Some(x)),
                Value::None => Ok(None),
                other => Err(bad(other)),
            })
            .collect(),
        Some(other) => Err(bad(other)),
        None => Ok(Vec::new()),
    }
}

#[cold]
fn no_pairs(value: &Value) -> nomina_core::Error {
    wrong("at", "indices", "pairs of dim and index", value)
}

/// Returns a dim and its index: a number, a list of start, end and step, or a tensor.
fn pair<'a>(dim: &'a Value, index: &'a Value) -> Result<(DimRef<'a>, Index<'a>)> {
    let index = match index {
        Value::Int(at) => Index::At(*at),
        Value::Tensor(x) => Index::Tensor(x),
        Value::Ellipsis => (..).into(),
        Value::List(ends) => {
            let end = |at: usize| match ends.get(at) {
                None | Some(Value::None) => Ok(None),
                Some(end) => end.as_int().map(Some).ok_or_else(|| no_pairs(end)),
            };
            let (start, stop, step) = (end(0)?, end(1)?, end(2)?);
            Index::Range {
                start,
                end: stop,
                step: step.unwrap_or(1),
            }
        }
        other => return Err(no_pairs(other)),
    };
    Ok((dim.as_dim().ok_or_else(|| no_pairs(dim))?, index))
}

fn by_name(a: &Bound) -> Result<Vec<(DimRef<'_>, Index<'_>)>> {
    match a.get("indices") {
        Some(Value::Dict(pairs)) => pairs.iter().map(|(dim, index)| pair(dim, index)).collect(),
        Some(Value::List(items)) => items
            .iter()
            .map(|item| match item {
                Value::List(two) if two.len() == 2 => pair(&two[0], &two[1]),
                other => Err(no_pairs(other)),
            })
            .collect(),
        Some(other) => Err(no_pairs(other)),
        None => Ok(Vec::new()),
    }
}
