//! Sorting along a dim, equal elements, positions in sorted sequences.

use nomina_core::Result;
use nomina_core::op::Op;
use nomina_core::rule::DimRef;
use nomina_runtime::DynTensor;
use nomina_runtime::tensor::{SearchOptions, SortOptions, TopkOptions, Unique};

use super::compose::{call_dynamic, call_for_pair, call_for_tensor, erase};
use super::reduce::Picked;
use super::{Erased, ErasedRef, Static};

fn place(dim: usize) -> DimRef<'static> {
    dim.into()
}

/// Converts a count; one beyond `i64` becomes a number that is refused, since no dim has that many
/// elements.
fn whole(k: usize) -> i64 {
    i64::try_from(k).unwrap_or(i64::MAX)
}

/// Sorts elements and returns their indices.
pub(crate) fn sort(
    op: Op,
    x: ErasedRef<'_>,
    dim: usize,
    options: SortOptions,
) -> Result<(Erased, Erased)> {
    call_for_pair(&[x], x.of, |x| {
        let sorted = x[0].sort_with(place(dim), options);
        sorted.map_err(|error| error.in_op(op.name()))
    })
}

/// Sorts elements along the first dim.
pub(crate) fn msort(x: ErasedRef<'_>) -> Result<Erased> {
    call_for_tensor(&[x], x.of, |x| x[0].msort())
}

/// Returns the greatest or smallest elements and their indices.
pub(crate) fn topk(
    x: ErasedRef<'_>,
    k: usize,
    dim: usize,
    options: TopkOptions,
) -> Result<(Erased, Erased)> {
    call_for_pair(&[x], x.of, |x| {
        x[0].topk_with(whole(k), place(dim), options)
    })
}

/// Returns the element at a position of the sorted line, and its index.
pub(crate) fn kthvalue(
    x: ErasedRef<'_>,
    k: usize,
    picked: Picked,
    out: &'static Static,
) -> Result<(Erased, Erased)> {
    call_for_pair(&[x], out, |x| x[0].kthvalue(whole(k), picked.arg()))
}

/// Returns the median or the mode and its index; over all dims, the median twice.
pub(crate) fn typical(
    op: Op,
    x: ErasedRef<'_>,
    picked: Picked,
    out: &'static Static,
) -> Result<(Erased, Erased)> {
    if picked.all {
        let value = call_for_tensor(&[x], out, |x| match op {
            Op::Median => x[0].median(..),
            _ => x[0].nanmedian(..),
        })?;
        // A kept dim has size 1. There are no indices, and the caller does not use them.
        let value = if picked.keepdim {
            kept(x, value)?
        } else {
            value
        };
        return Ok((value.clone(), value));
    }
    call_for_pair(&[x], out, |x| match op {
        Op::Median => x[0].median(picked.arg()),
        Op::Nanmedian => x[0].nanmedian(picked.arg()),
        _ => x[0].mode(picked.arg()),
    })
}

/// Returns a number with the dims of `x`, all of size 1.
fn kept(x: ErasedRef<'_>, value: Erased) -> Result<Erased> {
    Ok(Erased {
        raw: value.raw.expand(&vec![1; x.raw.rank()])?,
        wild: x.wild(),
    })
}

/// Returns running extremes and their indices.
pub(crate) fn running(op: Op, x: ErasedRef<'_>, dim: usize) -> Result<(Erased, Erased)> {
    call_for_pair(&[x], x.of, |x| match op {
        Op::Cummax => x[0].cummax(place(dim)),
        _ => x[0].cummin(place(dim)),
    })
}

/// Returns distinct elements, or slices along a dim.
pub(crate) fn different(op: Op, x: ErasedRef<'_>, dim: Option<usize>) -> Result<Unique> {
    call_dynamic(&[x], |x| match (op, dim) {
        (Op::Unique, None) => x[0].unique_all(),
        (Op::Unique, Some(dim)) => x[0].unique_dim(dim),
        (_, None) => x[0].unique_consecutive_all(),
        (_, Some(dim)) => x[0].unique_consecutive_dim(dim),
    })
}

/// Wraps a dynamic result whose names types know.
pub(crate) fn named(result: DynTensor, out: &'static Static) -> Erased {
    erase(result, out)
}

/// Returns positions in sorted sequences.
pub(crate) fn searchsorted(
    sequence: ErasedRef<'_>,
    values: ErasedRef<'_>,
    sorter: Option<ErasedRef<'_>>,
    options: SearchOptions,
    out: &'static Static,
) -> Result<Erased> {
    match sorter {
        None => call_for_tensor(&[sequence, values], out, |x| {
            x[0].searchsorted_with(&x[1], options)
        }),
        Some(sorter) => call_for_tensor(&[sequence, values, sorter], out, |x| {
            x[0].searchsorted_by(&x[2], &x[1], options)
        }),
    }
}

/// Returns the buckets of elements.
pub(crate) fn bucketize(
    x: ErasedRef<'_>,
    boundaries: ErasedRef<'_>,
    options: SearchOptions,
    out: &'static Static,
) -> Result<Erased> {
    call_for_tensor(&[x, boundaries], out, |x| {
        x[0].bucketize_with(&x[1], options)
    })
}
