//! Counting: elements into bins, quantiles, membership.

use nomina_core::op::Op;
use nomina_core::{Error, Result};
use nomina_runtime::DynTensor;
use nomina_runtime::tensor::{BincountOptions, HistcOptions, IsinOptions, QuantileOptions};

use super::compose::call_for_tensor;
use super::reduce::Picked;
use super::stat::only_types;
use super::{Erased, ErasedRef, Static};

/// Counts whole numbers, or sums their weights.
pub(crate) fn bincount(
    x: ErasedRef<'_>,
    weights: Option<ErasedRef<'_>>,
    options: BincountOptions,
    out: &'static Static,
) -> Result<Erased> {
    match weights {
        None => call_for_tensor(&[x], out, |x| x[0].bincount_with(options)),
        Some(weights) => call_for_tensor(&[x, weights], out, |x| {
            x[0].bincount_weighted(&x[1], options)
        }),
    }
}

/// Counts elements by bin.
pub(crate) fn histc(
    x: ErasedRef<'_>,
    bins: usize,
    options: HistcOptions,
    out: &'static Static,
) -> Result<Erased> {
    call_for_tensor(&[x], out, |x| x[0].histc_with(bins, None, options))
}

/// Tests whether elements are among others.
pub(crate) fn isin(
    x: ErasedRef<'_>,
    others: ErasedRef<'_>,
    options: IsinOptions,
    out: &'static Static,
) -> Result<Erased> {
    call_for_tensor(&[x, others], out, |x| x[0].isin_with(&x[1], options))
}

/// Computes one quantile.
pub(crate) fn quantile(
    op: Op,
    x: ErasedRef<'_>,
    q: f64,
    picked: Picked,
    options: QuantileOptions,
    out: &'static Static,
) -> Result<Erased> {
    only_types(op, options.keepdim, false)?;
    call_for_tensor(&[x], out, |x| found(op, &x[0], q.into(), picked, options))
}

/// Computes several quantiles, along a dim of their own.
pub(crate) fn quantiles(
    op: Op,
    x: ErasedRef<'_>,
    q: ErasedRef<'_>,
    picked: Picked,
    out: &'static Static,
) -> Result<Erased> {
    let options = QuantileOptions::default();
    call_for_tensor(&[x, q], out, |x| {
        found(op, &x[0], (&x[1]).into(), picked, options)
    })
}

fn found(
    op: Op,
    x: &DynTensor,
    q: nomina_runtime::tensor::Operand<'_>,
    picked: Picked,
    options: QuantileOptions,
) -> Result<DynTensor, Error> {
    match op {
        Op::Quantile => x.quantile_with(q, picked.arg(), options),
        _ => x.nanquantile_with(q, picked.arg(), options),
    }
}
