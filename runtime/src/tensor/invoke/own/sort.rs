//! Order along a dim, equal elements, places in sorted sequences.

use nomina_core::op::Op;
use nomina_core::rule::DimArg;
use nomina_core::{Result, Scalar};

use super::{pair, pure, value};
use crate::tensor::factory::sizes;
use crate::tensor::generated::own::Sort;
use crate::tensor::invoke::bind::Bound;
use crate::tensor::invoke::value::{Value, wrong};
use crate::tensor::invoke::{Form, computed};
use crate::tensor::{
    BincountOptions, DynTensor, HistcOptions, Interpolation, IsinOptions, Operand, QuantileOptions,
    SearchOptions, SortOptions, TopkOptions,
};

/// Calls `own`, which is `op` by another name.
pub(in crate::tensor) fn call(own: Sort, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match own {
        Sort::Sort => pair(op, form, args, |a| {
            a.tensor("self")?.sort_with(a.dim("dim")?, order(a)?)
        }),
        Sort::Argsort => pure(op, form, args, |a| {
            a.tensor("self")?.argsort_with(a.dim("dim")?, order(a)?)
        }),
        Sort::Msort => computed(op, form, args, |a| a.tensor("self")?.msort()),
        Sort::Topk => pair(op, form, args, |a| {
            let largest = a.given("largest").is_none() || a.flag("largest")?;
            let k = a.int("k", 0)?;
            a.tensor("self")?
                .topk_with(k, a.dim("dim")?, TopkOptions { largest })
        }),
        Sort::Kthvalue => pair(op, form, args, |a| {
            a.tensor("self")?.kthvalue(a.int("k", 0)?, one(a)?)
        }),
        Sort::Median | Sort::Nanmedian => {
            if args.get("dim").is_none() {
                return computed(op, form, args, |a| a.tensor("self")?.typical_of_all(op));
            }
            pair(op, form, args, |a| a.tensor("self")?.typical(op, &one(a)?))
        }
        Sort::Mode => pair(op, form, args, |a| a.tensor("self")?.typical(op, &one(a)?)),
        Sort::Cummax | Sort::Cummin => pair(op, form, args, |a| {
            a.tensor("self")?.running(op, a.dim("dim")?)
        }),
        Sort::Unique | Sort::UniqueConsecutive => value(op, form, args, |a| unique(op, a)),
        Sort::Searchsorted => computed(op, form, args, searchsorted),
        Sort::Bincount => pure(op, form, args, |a| {
            let x = a.tensor("self")?;
            let minlength = sizes(op.name(), &[a.int("minlength", 0)?])?[0];
            let options = BincountOptions { minlength };
            match a.given("weights") {
                Some(_) => x.bincount_weighted(a.tensor("weights")?, options),
                None => x.bincount_with(options),
            }
        }),
        Sort::Histc => computed(op, form, args, |a| {
            let end = |param| Ok(a.scalar(param, Scalar::Int(0))?.to_f64());
            a.tensor("self")?.histc_with(HistcOptions {
                bins: a.int("bins", 100)?,
                min: end("min")?,
                max: end("max")?,
            })
        }),
        Sort::Isin => computed(op, form, args, |a| {
            let invert = a.flag("invert")?;
            let others = a.operand("test_elements")?;
            let elements = match (a.operand("elements")?, others) {
                (Operand::Tensor(x), _) => x.clone(),
                (number, Operand::Tensor(others)) => others.as_values(number)?,
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
            a.tensor("self")?
                .quantiles(op, a.operand("q")?, &a.dims("dim", true)?, options)
        }),
        Sort::Bucketize => computed(op, form, args, |a| {
            let boundaries = a.tensor("boundaries")?;
            let values = boundaries.as_values(a.operand("self")?)?;
            let right = a.flag("right")?;
            values
                .bucketize_with(boundaries, SearchOptions { right })?
                .in_int32(a.flag("out_int32")?)
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

/// One dim, which may be kept.
fn one(args: &Bound) -> Result<DimArg<'_>> {
    Ok(DimArg::one(args.dim("dim")?).with_keepdim(args.flag("keepdim")?))
}

/// The values alone, or with what else is asked for.
fn unique(op: Op, args: &Bound) -> Result<Value> {
    let dim = args.given("dim").map(|_| args.dim("dim")).transpose()?;
    let found = args.tensor("self")?.different(op, dim)?;
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
    let values = sequence.as_values(args.operand("self")?)?;
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
    found.in_int32(args.flag("out_int32")?)
}
