//! Sorting along a dim, unique elements, binary search in sorted sequences.

use nomina_core::op::Op;
use nomina_core::rule::DimArg;
use nomina_core::{DType, Result};

use super::{pair, pure, value};
use crate::bind::Bound;
use crate::generated::Sort;
use crate::read::sizes;
use crate::value::{Value, wrong};
use crate::{Form, computed};
use nomina_runtime::tensor::{
    BincountOptions, DynTensor, HistcOptions, Interpolation, IsinOptions, Operand, Options,
    QuantileOptions, SearchOptions, SortOptions, TopkOptions,
};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Sort, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Sort::Sort => pair(op, form, args, |a| {
            a.tensor("self")?.sort_with(a.dim("dim")?, order(a)?)
        }),
        Sort::Argsort => pure(op, form, args, |a| {
            a.tensor("self")?.argsort_with(a.dim("dim")?, order(a)?)
        }),
        Sort::Msort => computed(op, form, args, |a| a.tensor("self")?.msort()),
        Sort::Topk => pair(op, form, args, |a| {
            let largest = a.flag("largest")?;
            let k = a.int("k")?;
            a.tensor("self")?
                .topk_with(k, a.dim("dim")?, TopkOptions { largest })
        }),
        Sort::Kthvalue => pair(op, form, args, |a| {
            a.tensor("self")?.kthvalue(a.int("k")?, one(a)?)
        }),
        Sort::Median | Sort::Nanmedian => {
            if args.get("dim").is_none() {
                return computed(op, form, args, |a| {
                    let x = a.tensor("self")?;
                    match which {
                        Sort::Median => x.median(..),
                        _ => x.nanmedian(..),
                    }
                });
            }
            pair(op, form, args, |a| {
                let (x, dim) = (a.tensor("self")?, one(a)?);
                match which {
                    Sort::Median => x.median(dim),
                    _ => x.nanmedian(dim),
                }
            })
        }
        Sort::Mode => pair(op, form, args, |a| a.tensor("self")?.mode(one(a)?)),
        Sort::Cummax | Sort::Cummin => pair(op, form, args, |a| {
            let (x, dim) = (a.tensor("self")?, a.dim("dim")?);
            match which {
                Sort::Cummax => x.cummax(dim),
                _ => x.cummin(dim),
            }
        }),
        Sort::Unique | Sort::UniqueConsecutive => value(op, form, args, |a| unique(op, a)),
        Sort::Searchsorted => computed(op, form, args, searchsorted),
        Sort::Bincount => pure(op, form, args, |a| {
            let x = a.tensor("self")?;
            let minlength = sizes(op.name(), &[a.int("minlength")?])?[0];
            let options = BincountOptions { minlength };
            match a.given("weights") {
                Some(_) => x.bincount_weighted(a.tensor("weights")?, options),
                None => x.bincount_with(options),
            }
        }),
        Sort::Histc => computed(op, form, args, |a| {
            let bins = a.int("bins")?;
            let bins = usize::try_from(bins)
                .map_err(|_| wrong("histc", "bins", "a size", &bins.into()))?;
            let (min, max) = (a.float("min")?, a.float("max")?);
            let (x, name) = (a.tensor("self")?, a.name("outdim")?);
            x.histc_with(bins, name, HistcOptions { min, max })
        }),
        Sort::Isin => computed(op, form, args, |a| {
            let invert = a.flag("invert")?;
            let others = a.operand("test_elements")?;
            let elements = match (a.operand("elements")?, others) {
                (Operand::Tensor(x), _) => x.clone(),
                (number, Operand::Tensor(others)) => as_values(others, number)?,
                (_, Operand::Scalar(_)) => {
                    let elements = a.get("elements").unwrap_or(&Value::None);
                    return Err(wrong("isin", "elements", "a tensor", elements));
                }
            };
            elements.isin_with(others, IsinOptions { invert })
        }),
        Sort::Quantile | Sort::Nanquantile => computed(op, form, args, |a| {
            let options = QuantileOptions {
                interpolation: interpolation(a)?,
                keepdim: a.flag("keepdim")?,
            };
            let (x, q, dim) = (a.tensor("self")?, a.operand("q")?, a.dims("dim", true)?);
            match which {
                Sort::Quantile => x.quantile_with(q, dim, options),
                _ => x.nanquantile_with(q, dim, options),
            }
        }),
        Sort::Bucketize => computed(op, form, args, |a| {
            let boundaries = a.tensor("boundaries")?;
            let values = as_values(boundaries, a.operand("self")?)?;
            let right = a.flag("right")?;
            let found = values.bucketize_with(boundaries, SearchOptions { right })?;
            in_int32(found, a)
        }),
    }
}

fn interpolation(args: &Bound) -> Result<Interpolation> {
    Ok(match args.given("interpolation") {
        None => Interpolation::Linear,
        Some(Value::Str(text)) if text == "linear" => Interpolation::Linear,
        Some(Value::Str(text)) if text == "lower" => Interpolation::Lower,
        Some(Value::Str(text)) if text == "higher" => Interpolation::Higher,
        Some(Value::Str(text)) if text == "midpoint" => Interpolation::Midpoint,
        Some(Value::Str(text)) if text == "nearest" => Interpolation::Nearest,
        Some(other) => {
            let kinds = "\"linear\", \"lower\", \"higher\", \"midpoint\" or \"nearest\"";
            return Err(wrong(args.op(), "interpolation", kinds, other));
        }
    })
}

fn order(args: &Bound) -> Result<SortOptions> {
    Ok(SortOptions {
        descending: args.flag("descending")?,
    })
}

/// Returns a single dim, with the `keepdim` flag.
fn one(args: &Bound) -> Result<DimArg<'_>> {
    Ok(DimArg::from_dim(args.dim("dim")?).with_keepdim(args.flag("keepdim")?))
}

/// Returns the unique values, optionally with inverse indices and counts.
fn unique(op: Op, args: &Bound) -> Result<Value> {
    let x = args.tensor("self")?;
    let dim = args.given("dim").map(|_| args.dim("dim")).transpose()?;
    let found = match (op, dim) {
        (Op::Unique, None) => x.unique_all(),
        (Op::Unique, Some(dim)) => x.unique_dim(dim),
        (_, None) => x.unique_consecutive_all(),
        (_, Some(dim)) => x.unique_consecutive_dim(dim),
    }?;
    let (inverse, counts) = (args.flag("return_inverse")?, args.flag("return_counts")?);
    if !inverse && !counts {
        return Ok(found.values.into());
    }
    let mut all = vec![found.values];
    all.extend(inverse.then_some(found.inverse));
    all.extend(counts.then_some(found.counts));
    Ok(all.into())
}

fn searchsorted(args: &Bound) -> Result<DynTensor> {
    let sequence = args.tensor("sorted_sequence")?;
    let values = as_values(sequence, args.operand("self")?)?;
    let right = match args.given("side") {
        Some(Value::Str(side)) if side == "right" => true,
        Some(Value::Str(side)) if side == "left" => false,
        Some(other) => {
            return Err(wrong(
                "searchsorted",
                "side",
                "\"left\" or \"right\"",
                other,
            ));
        }
        None => args.flag("right")?,
    };
    let options = SearchOptions { right };
    let sorter = args.given("sorter").map(|_| args.tensor("sorter"));
    let found = match sorter.transpose()? {
        Some(sorter) => sequence.searchsorted_by(sorter, &values, options)?,
        None => sequence.searchsorted_with(&values, options)?,
    };
    in_int32(found, args)
}

/// Converts a number to a tensor with the dtype and device of `like`.
fn as_values(like: &DynTensor, values: Operand<'_>) -> Result<DynTensor> {
    match values {
        Operand::Tensor(values) => Ok(values.clone()),
        Operand::Scalar(value) => Options::default()
            .dtype(like.dtype())
            .device(like.device())
            .full(&[], value, ()),
    }
}

fn in_int32(places: DynTensor, args: &Bound) -> Result<DynTensor> {
    if args.flag("out_int32")? {
        places.to_dtype(DType::I32)
    } else {
        Ok(places)
    }
}
